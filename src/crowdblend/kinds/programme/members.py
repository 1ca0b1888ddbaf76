"""The publications of a programme as its planning sees them: their kinds and sizes, and their one sample."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from crowdblend.errors import CrowdblendError
from crowdblend.kinds import method_of
from crowdblend.kinds.programme.programme import ProgrammePlan
from crowdblend.kinds.shared.facts import derive
from crowdblend.kinds.shared.method import Method
from crowdblend.methods.designs import Design
from crowdblend.policies.policy import Policy, Split
from crowdblend.policies.publication import Publication
from crowdblend.policies.publication_policy import PublicationPolicy
from crowdblend.policies.refusals import refusal
from crowdblend.policies.unit import WHERE_ROWS

# What a publication without cells is taken to have, where shares are planned.
_USUAL_CELLS = 100


@dataclass(frozen=True)
class Budget:
    """The budget of all publications together, and the number of releases."""

    epsilon: float
    delta: float
    releases: int


def keeps(plan: ProgrammePlan) -> bool:
    """Return whether the facts of the plan give what it states."""
    try:
        derive(plan.facts())
    except CrowdblendError:
        return False
    return True


def cells_of(parts: Sequence[PublicationPolicy]) -> list[int]:
    """Return how many cells publications have, up to a million; open labels are taken to be as many as the most."""
    known: list[int | None] = [part.cells for part in parts]
    largest = max((cells for cells in known if cells is not None), default=_USUAL_CELLS)
    return [min(largest if cells is None else cells, 10**6) for cells in known]


def refuse_shares(policy: Policy, split: Split) -> None:
    """Refuse shares of a sample where nobody is divided among publications."""
    named: Publication | None = next((one for one in policy.publish if one.share is not None), None)
    if named is not None:
        message = f'Publication {named.name!r} has a share of the sample, and `privacy.split = "{split}"` has no parts.'
        raise refusal("shares", message, 'Remove share, or write `privacy.split = "people"`.', "`publish.share`")


def method_among_others(part: PublicationPolicy) -> Method[Any]:
    """Return the method of a publication that is one of several; refuses kinds that cannot be."""
    if not part.publication.joins_others:
        message = f'`publish.kind = "{part.kind}"` is not certified as one of several publications.'
        raise refusal("split", message, "Publish it in a policy of its own.", "`publish.kind`")
    return method_of(part)


def sample_of_all(policy: Policy, split: Split) -> Design:
    """Return the one sample of all publications, which each of them sees in the same way."""
    drawn = policy.sampling
    if drawn.everybody:
        if split != "budget":
            message = f'`privacy.split = "{split}"` is for samples, and `sampling.design = "everybody"` draws none.'
            remedy = (
                'Write `privacy.split = "budget"`: noise for a half of epsilon errs less '
                "than counting a half of the people."
            )
            raise refusal("split", message, remedy, "`sampling.design`")
        return drawn.sample()
    if drawn.rate is None and not drawn.designed and not drawn.biased:
        message = "Several publications share one sample, and `sampling` leaves it open."
        remedy = (
            'Write `sampling.design = "poisson"` with a rate; if the table is a survey of a '
            "fixed size, add `sampling.thin = 0.8`."
        )
        raise refusal("split", message, remedy, "`sampling`")
    found = [part.design for part in policy.parts]
    for one, seen in zip(policy.publish, found, strict=True):
        if drawn.designed and not seen.strata and any(other.strata for other in found):
            name = drawn.stratum or drawn.weight
            message = f"Publication {one.name!r} is not by strata, and several are certified where all of them are."
            remedy = f"Publish {name!r} in it, as a table, microdata or points, or publish it by itself."
            raise refusal("split", message, remedy, "`sampling.column`")
    return found[0]


def refuse_several_rows(policy: Policy, *, shared: bool) -> None:
    """Refuse several rows of a person unless noise on all of them shares the budget, of people with one rate."""
    sampling = policy.sampling
    if not policy.unit.several or (shared and sampling.design in ("everybody", "poisson", "coins")):
        return
    message = "Several publications count several rows of a person where noise shares the budget, at one rate."
    noise = '`privacy.split = "budget"` and `sampling.design = "everybody" | "poisson" | "coins"`'
    remedy = f'Write {noise}; or `data.duplicates = "one"`.'
    raise refusal("rows-per-person", message, remedy, WHERE_ROWS)


def require_ids(policy: Policy, because: str) -> None:
    """Refuse rows without ids where one sample is drawn for several publications."""
    if policy.data.person is None:
        message = f"Without ids {because}."
        raise refusal("split", message, "Name the column of ids as person.", "`data.person`")
