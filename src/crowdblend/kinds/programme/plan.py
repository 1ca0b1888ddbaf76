"""Splits of one budget: parts of one sample, fresh samples, or parts of epsilon.

What is left open is planned: shares so that cells of all publications have about the same relative error, and the split
whose publications show the smallest classes.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction

from crowdblend.errors import CrowdblendError, Infeasible, NotProved
from crowdblend.kinds.programme.members import (
    Budget,
    cells_of,
    keeps,
    method_among_others,
    refuse_several_rows,
    refuse_shares,
    require_ids,
    sample_of_all,
)
from crowdblend.kinds.programme.programme import PlannedPublication, ProgrammePlan
from crowdblend.kinds.programme.shared_budget import by_budget
from crowdblend.kinds.shared.crowd_classes import check_choice_loss
from crowdblend.kinds.shared.delta_limit import check_delta
from crowdblend.kinds.shared.facts import derive
from crowdblend.methods.designs.design import differential_of
from crowdblend.methods.designs.draw import shares_within
from crowdblend.methods.planning.parts import PartBudget
from crowdblend.policies.policy import SPLITS, Policy, Split
from crowdblend.policies.refusals import refusal
from crowdblend.trusted.guarantees.parameters import MOST_PARTS, SHARES_ROUNDING
from crowdblend.trusted.guarantees.wording import at_most

# A publication gets at least this share of the sample, and shares are planned to this many decimals.
_LEAST, _DECIMALS = 0.02, 3


def plan(policy: Policy) -> ProgrammePlan:
    """Plan every publication, and how they share the budget; or check that what is stated can be guaranteed."""
    if policy.split is not None:
        return _plan_as(policy, policy.split, _budget(policy))
    usual: tuple[Split, ...] = ("people", "fresh")
    if policy.sampling.everybody or policy.unit.several:
        usual = ("budget",)
    elif policy.recoding is not None:
        usual = ("people",)
    elif all(one.asks_for_noise for one in policy.publish):
        usual = ("people", "budget") if policy.sampling.already_drawn else ("people", "fresh", "budget")
    elif policy.sampling.already_drawn or any(one.share is not None for one in policy.publish):
        usual = ("people",)
    tried = plan_splits(policy, usual)
    found = {split: one for split, one in tried.items() if isinstance(one, ProgrammePlan)}
    if not found:
        raise next(one for one in tried.values() if isinstance(one, CrowdblendError))
    taken = min(found, key=lambda split: _cost(found[split]))
    others = {split: compare_splits(other) for split, other in found.items() if split != taken}
    return replace(found[taken], others=others)


def plan_splits(
    policy: Policy, splits: Iterable[Split] = tuple(SPLITS)
) -> dict[Split, ProgrammePlan | CrowdblendError]:
    """Plan a programme with each of these ways to share its budget; where there is no plan, the reason."""
    budget = _budget(policy)
    found: dict[Split, ProgrammePlan | CrowdblendError] = {}
    for split in splits:
        try:
            found[split] = _plan_as(policy, split, budget)
        except CrowdblendError as error:
            found[split] = error
    return found


def _plan_as(policy: Policy, split: Split, budget: Budget) -> ProgrammePlan:
    planned = _SPLITS[split](policy, budget)
    if keeps(planned):
        return planned
    differential = differential_of(derive(replace(planned, delta=1.0).facts())).conclusion
    if differential.delta > budget.delta:
        raise Infeasible(
            f"`delta = {budget.delta:g}` cannot be guaranteed: with these k, rate, shares and epsilon it is "
            f"{at_most(differential.delta)}.",
            remedy="Raise k, epsilon or delta, or leave k out to be planned.",
            where="`privacy.delta`",
            code="plan.delta-out-of-reach",
        )
    message = (
        f"`epsilon = {budget.epsilon:g}` cannot be guaranteed for {budget.releases} releases with these parameters."
    )
    remedy = "Raise k or epsilon, or leave k out to be planned."
    raise Infeasible(message, remedy=remedy, where="`privacy.epsilon`", code="plan.epsilon-out-of-reach")


def _budget(policy: Policy) -> Budget:
    terms = policy.own_terms
    assert terms.epsilon is not None, "a programme has an epsilon"
    delta = terms.delta or 0.0
    check_delta(terms, delta)
    return Budget(terms.epsilon, delta, terms.releases)


def _by_people(policy: Policy, budget: Budget) -> ProgrammePlan:
    """Return every publication from a part of one sample."""
    sample = sample_of_all(policy, "people")
    refuse_several_rows(policy, shared=False)
    sample.require_parts()
    require_ids(policy, "nobody can be sent to one part of the sample and to no other")
    if policy.sampling.designed and policy.data.unit.one_row:
        # Which row counts depends on the columns of the publication, and so would the stratum and the part.
        message = "Whoever has rows in two strata would be in two parts of the sample."
        raise refusal(
            "split",
            message,
            'Remove `data.duplicates = "one"`, or write `privacy.split = "fresh"`.',
            "`data.duplicates`",
        )
    shares, rate = shares_of(policy), sample.largest_rate
    chosen_by = [None if part.recoding is None else part.recoding.share for part in policy.parts]
    within = [shares_within(share, choosing) for share, choosing in zip(shares, chosen_by, strict=True)]
    every = tuple(share for each in within for share in each)
    check_choice_loss(policy.recoding, every, rate, budget.epsilon)

    def plan_each(each: Each) -> ProgrammePlan:
        made = []
        for one, part, share, (*_, released) in zip(policy.publish, policy.parts, shares, within, strict=True):
            losses = (each.epsilon, each.delta, each.noise_loss)
            own = PartBudget(released, every, rate, *losses, drawn=share, ends=sample.ends)
            made.append(PlannedPublication(str(one.name), method_among_others(part).plan_part(own), share))
        return ProgrammePlan(policy, "people", sample, budget.epsilon, budget.delta, tuple(made), {})

    losses = [Each(*one) for one in sample.losses_before_asking(budget.epsilon, budget.delta)]
    return _within(plan_each, policy, budget, losses)


def _by_fresh_samples(policy: Policy, budget: Budget) -> ProgrammePlan:
    """Return every publication from a sample of its own."""
    sample = sample_of_all(policy, "fresh")
    refuse_several_rows(policy, shared=False)
    if not sample.draws_here:
        message = '`privacy.split = "fresh"` draws a sample for every publication, from people who are all in the data.'
        remedy = (
            'Write `sampling.design = "poisson"`, which thins a sample as well, or of a survey `sampling.thin = 0.8`.'
        )
        raise refusal("split", message, remedy, "`sampling.design`")
    refuse_shares(policy, "fresh")

    def plan_each(each: Each) -> ProgrammePlan:
        made = []
        for one, part in zip(policy.publish, policy.parts, strict=True):
            own = part.with_budget(each.epsilon, each.noise_loss, each.delta)
            made.append(PlannedPublication(str(one.name), method_among_others(own).plan()))
        return ProgrammePlan(policy, "fresh", sample, budget.epsilon, budget.delta, tuple(made), {})

    samples = Budget(budget.epsilon, budget.delta, budget.releases * len(policy.publish))
    return _within(plan_each, policy, samples, [Each(budget.epsilon, budget.delta, budget.epsilon)])


_SPLITS: Mapping[Split, Callable[[Policy, Budget], ProgrammePlan]] = {
    "people": _by_people,
    "fresh": _by_fresh_samples,
    "budget": by_budget,
}


@dataclass(frozen=True)
class Each:
    """The budget of each release or sample: epsilon and delta for crowds, a loss for noise."""

    epsilon: float
    delta: float
    noise_loss: float


def _within(
    plan: Callable[[Each], ProgrammePlan], policy: Policy, budget: Budget, wholes: Sequence[Each]
) -> ProgrammePlan:
    """The first of some plans that keep the budget in all releases, or samples, together; better ones come first."""
    if budget.releases == 1 and len(wholes) == 1:
        return plan(wholes[0])
    for whole in wholes:
        for crowds, smaller, noise in _tries(policy, budget.releases):
            delta = whole.delta / budget.releases / smaller
            with suppress(Infeasible, NotProved):
                tried = plan(Each(whole.epsilon / crowds, delta, whole.noise_loss / noise))
                if keeps(tried):
                    return tried
    message = f"No plan was found that {budget.releases} releases or samples keep together."
    remedy = "Raise epsilon or delta, lower the rate, or plan fewer."
    raise Infeasible(message, remedy=remedy, where="`privacy`", code="plan.no-k")


def _tries(policy: Policy, releases: int) -> Iterator[tuple[float, float, float]]:
    """Yield divisors, for a number of releases: of epsilon and delta for crowds, epsilon for noise.

    Crowds hardly lose more in several releases; noise loses in each, about as the square root of their number.
    """
    if releases == 1:
        yield 1.0, 1.0, 1.0
        return
    suppressing = [part.suppresses for part in policy.parts]
    if all(suppressing):
        yield from ((1.0, smaller, 1.0) for smaller in (1.0, 10.0, 1000.0))
        yield from ((divided, 1.0, 1.0) for divided in (2.0, 4.0, float(releases)) if divided <= releases)
        return
    root = math.sqrt(releases)
    for noise in (root, 2 * root, float(max(releases, 4))):
        yield from ((crowds, 10.0, noise) for crowds in ((1.0, 2.0, noise) if any(suppressing) else (1.0,)))


def shares_of(policy: Policy) -> list[float]:
    """The share of the sample for every publication; those left open have cells of about the same relative error."""
    given = [one.share for one in policy.publish]
    taken = sum((Fraction(share) for share in given if share is not None), Fraction(0))
    open_places = [place for place, share in enumerate(given) if share is None]
    parts = len(given) + sum(part.recoding is not None for part in policy.parts)
    if (
        parts > MOST_PARTS
        or taken > 1 + Fraction(SHARES_ROUNDING)
        or (open_places and taken > 1 - Fraction(len(open_places), 100))
    ):
        message = f"The shares in `publish` add up to {float(taken):g}: nobody is in two parts."
        if taken <= 1:
            message = f"The shares in `publish` add up to {float(taken):g}, and leave too little to the others."
        if parts > MOST_PARTS:
            message = f"A sample is divided into at most {MOST_PARTS} parts."
        raise refusal("shares", message, "Lower them so that they add up to at most 1.", "`publish.share`")
    found = [0.0 if share is None else share for share in given]
    cells = cells_of(policy.parts)
    sizes = {place: policy.publish[place].weight * cells[place] for place in open_places}
    left, whole = float(1 - taken), math.fsum(sizes.values())
    for place, size in sizes.items():
        least = min(_LEAST, 1 / (2 * len(given)))
        found[place] = max(least, left * size / whole)
    if open_places:
        over = math.fsum(found[place] for place in open_places) / left
        for place in open_places:
            found[place] = math.floor(found[place] / over * 10**_DECIMALS) / 10**_DECIMALS
    return found


def _cost(plan: ProgrammePlan) -> float:
    """Return the error of a cell of 100 people, averaged; a small one may be missing instead."""
    found = []
    for one in plan.planned:
        expected = plan.expected_errors[one.name]
        found.append(math.log(math.hypot(expected.mean[0][1] if expected.mean else 1.0, expected.missing)))
    return math.fsum(found) / len(found)


def with_other_splits(chosen_plan: ProgrammePlan) -> ProgrammePlan:
    """Return the plan with what the other splits would give, where the policy says which one is taken.

    Series are left out, since their plans take long.
    """
    policy = chosen_plan.policy
    if policy.releases > 1 or policy.recoding is not None:
        return chosen_plan
    publish = [one.replace(share=None) for one in policy.publish]
    others = [split for split in SPLITS if split not in (chosen_plan.split, *chosen_plan.others)]
    tried = plan_splits(policy.replace(publish=publish, split=None), others)
    found = dict(chosen_plan.others)
    found |= {split: compare_splits(one) for split, one in tried.items() if isinstance(one, ProgrammePlan)}
    if "budget" in others and "budget" not in found and all(part.suppresses for part in policy.parts):
        noisy = [one.with_noise() for one in publish]
        if all(noisy):
            said = " and ".join(dict.fromkeys(one.says_noise for one in publish))
            with suppress(CrowdblendError):
                budget = policy.replace(publish=noisy, split="budget")
                found["budget"] = f"with {said} it {compare_splits(_plan_as(budget, 'budget', _budget(budget)))}"
    return replace(chosen_plan, others=found)


def compare_splits(other: ProgrammePlan) -> str:
    """Return a sentence about what another split would give, of the publication whose cells have the largest errors."""
    each = [one for one in other.expected_errors.values() if one.mean]
    if not each:
        return "has no cells to compare"
    worst = max(each, key=lambda one: (not one.groups, one.missing, one.mean[0][1]))
    if not worst.groups:
        return "would show hardly any cell of some publication"
    size = worst.groups[0].people
    return f"would publish a cell of {size:,} in some publication as {size:,} {worst.groups[0].error}, 95 times in 100"
