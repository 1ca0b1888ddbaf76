"""Quantiles by permute-and-flip on every small table: the exact law of the choice, and the rules about it.

The losses are those of the mechanism's own code. With e^{-η/2} a fraction, so is every probability.
"""

from collections.abc import Hashable, Sequence
from fractions import Fraction
from functools import cache
from itertools import combinations_with_replacement, product

import numpy as np

from crowdblend.methods.mechanisms.statistics import quantile_losses
from crowdblend.trusted.calculus import RULES
from tests.cases import for_each

from .distributions import both, divergence, epsilon_above, growth_below, mix
from .worlds import drawn

STEPS = 3
CONCEALED = (0, STEPS)
SHARES = [Fraction(1, 2), Fraction(1, 4), Fraction(2, 3)]
# Groups and people.
SIZES = [(1, 1), (1, 2), (1, 4), (2, 2), (2, 3)]
# e^{η/2}.
GROWTH = Fraction(5, 4)
Person = tuple[int, int]


def permuted_and_flipped(losses: Sequence[int], growth: Fraction) -> dict[Hashable, Fraction]:
    """The exact law: every set of heads, and one of them uniformly."""
    least = min(losses)
    heads = [growth ** (least - int(loss)) for loss in losses]
    law: dict[Hashable, Fraction] = {}
    for falls in product((False, True), repeat=len(losses)):
        chance = Fraction(1)
        for fell, probability in zip(falls, heads, strict=True):
            chance *= probability if fell else 1 - probability
        for place in range(len(losses)):
            if falls[place] and chance:
                law[place] = law.get(place, Fraction(0)) + chance / sum(falls)
    return law


@cache
def chosen(table: tuple[Person, ...], at: Fraction, groups: int, whole: bool) -> dict[Hashable, Fraction]:
    """What is chosen for every group; a person is a group and a step, and the step beyond the last is concealed."""
    law: dict[Hashable, Fraction] = {(): Fraction(1)}
    for group in range(groups):
        counts = np.zeros(STEPS, dtype=np.int64)
        for member, step in table:
            if member == group and step < STEPS:
                counts[step] += 1
        people = len(table) if whole else int(counts.sum())
        law = both(law, permuted_and_flipped(quantile_losses(counts, at, people).tolist(), GROWTH))
    return law


def people(groups: int) -> list[Person]:
    return [CONCEALED, *product(range(groups), range(STEPS))]


def claimed(at: Fraction, whole: bool, growth: Fraction = GROWTH) -> float:
    rule = RULES["quantile.everybody" if whole else "quantile.groups"]
    named = {"numerator": at.numerator, "denominator": at.denominator}
    # η is twice the rate at which heads get rarer.
    guarantee = rule.conclude(**named, noise_epsilon=epsilon_above(growth**2))
    return guarantee.epsilon  # type: ignore[attr-defined,no-any-return]


def replaced(table: tuple[Person, ...], other: Person) -> tuple[Person, ...]:
    return tuple(sorted((other, *table[1:])))


@for_each("at", SHARES, daily=2)
@for_each(("groups", "n"), SIZES)
def test_a_replaced_or_concealed_person_is_hidden(at: Fraction, groups: int, n: int) -> None:
    whole = groups == 1
    growth = growth_below(claimed(at, whole))
    for table in combinations_with_replacement(people(groups), n):
        for place in range(n):
            ordered = (table[place], *table[:place], *table[place + 1 :])
            for other in people(groups):
                one = chosen(tuple(sorted(table)), at, groups, whole)
                assert divergence(one, chosen(replaced(ordered, other), at, groups, whole), growth) == 0


def test_a_quantile_of_a_sample_can_be_simulated_from_random_rows() -> None:
    """The rule of sample-and-sanitize on top, by the definition of zero-knowledge privacy."""
    n, k, at = 3, 2, Fraction(1, 2)
    private = RULES["quantile.everybody"].conclude(numerator=1, denominator=2, noise_epsilon=epsilon_above(GROWTH**2))
    promise = RULES["sample-and-sanitize.sharp"].conclude(private, samples=k, population=n)
    growth = growth_below(promise.epsilon)  # type: ignore[attr-defined]

    def sampled(table: tuple[Person, ...]) -> dict[Hashable, Fraction]:
        return mix(
            (share, chosen(tuple(sorted(table[place] for place in places)), at, 1, True))
            for share, places in drawn(table, k)  # type: ignore[arg-type]
        )

    for table in combinations_with_replacement(people(1), n):
        for place in range(n):
            hidden = (*table[:place], CONCEALED, *table[place + 1 :])
            assert divergence(sampled(table), sampled(hidden), growth) == 0


def test_groups_cost_more_than_a_choice_of_all() -> None:
    """Quantiles of groups certified as if one person moved one choice only are not private."""
    at = Fraction(1, 4)
    growth = growth_below(claimed(at, whole=True))
    worst = max(
        divergence(chosen(table, at, 2, False), chosen(replaced(table, other), at, 2, False), growth)
        for table in combinations_with_replacement(people(2), 3)
        for other in people(2)
    )
    assert worst > 0


def test_the_least_loss_is_at_most_zero_and_the_error_follows_from_the_loss() -> None:
    """Some step has the wanted rank among its own, and a loss says how far outside the wanted rank lies."""
    for counts in product(range(4), repeat=STEPS):
        size = sum(counts)
        for at in SHARES:
            losses = quantile_losses(np.array(counts), at, size)
            assert losses.min() <= 0
            for step, loss in enumerate(losses.tolist()):
                below, upto = sum(counts[:step]), sum(counts[: step + 1])
                outside = max(below - at * size, at * size - upto)
                assert Fraction(loss, at.denominator) == outside


def test_a_bad_candidate_is_chosen_rarely() -> None:
    """The bound behind the stated error: e^{-η·excess/2}/2 for each candidate that is not the best."""
    for counts in product(range(5), repeat=STEPS):
        losses = quantile_losses(np.array(counts), Fraction(1, 2), sum(counts)).tolist()
        for place, chance in permuted_and_flipped(losses, GROWTH).items():
            excess = losses[place] - min(losses)  # type: ignore[call-overload]
            assert chance <= GROWTH**-excess / (2 if excess else 1)
