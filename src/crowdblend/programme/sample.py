"""The one sample of all publications of a programme: which it is, and what can be certified of it."""

from __future__ import annotations

from crowdblend.designs import Design
from crowdblend.policies.exactly import ExactPolicy
from crowdblend.policies.policy import Policy, Split
from crowdblend.policies.publication_policy import PublicationPolicy
from crowdblend.policies.refusals import refusal
from crowdblend.releases.class_counts import sample_of_numbers


def sample_of_all(policy: Policy, split: Split) -> Design:
    """Return the one sample of all publications, which each of them sees in the same way."""
    drawn = policy.sampling
    if drawn.everybody:
        if split != "budget":
            message = f'split = "{split}" is for samples, and design = "everybody" draws none.'
            remedy = 'Write split = "budget": noise for a half of epsilon errs less than counting a half of the people.'
            raise refusal("split", message, remedy, "[sampling] design")
        return drawn.sample()
    if drawn.rate is None and not drawn.designed and not drawn.biased:
        message = "Several publications share one sample, and [sampling] leaves it open."
        remedy = 'Write design = "poisson" with a rate; if the table is a survey of a fixed size, add thin = 0.8.'
        raise refusal("split", message, remedy, "[sampling]")
    found = [_sample_of(part) for part in policy.parts]
    for one, seen in zip(policy.publish, found, strict=True):
        if drawn.designed and not seen.strata and any(other.strata for other in found):
            name = drawn.stratum or drawn.weight
            message = f"Publication {one.name!r} is not by strata, and several are certified where all of them are."
            remedy = f"Publish {name!r} in it, as a table, microdata or points, or publish it by itself."
            raise refusal("split", message, remedy, "[sampling] column")
    return found[0]


def _sample_of(part: PublicationPolicy) -> Design:
    """Return the sample as a publication sees it; numbers are by strata also where these are not published."""
    if isinstance(part, ExactPolicy) and part.design is not None:
        return sample_of_numbers(part.design, part.sampling)
    return part.sampling.sample(getattr(part, "design", None))


def require_ids(policy: Policy, because: str) -> None:
    """Refuse rows without ids where one sample is drawn for several publications."""
    if policy.data.person is None:
        message = f"Without ids {because}."
        raise refusal("split", message, "Name the column of ids as person.", "[data] person")
