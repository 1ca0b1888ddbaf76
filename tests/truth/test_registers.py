"""People with several rows, in registers and samples: the definition on every tiny table of them."""

from collections.abc import Hashable
from fractions import Fraction
from itertools import combinations_with_replacement, product

import pytest

from crowdblend.trusted.calculus import RULES
from tests.cases import for_each

from .distributions import Distribution, both, divergence, epsilon_above, growth_below, mix, surely
from .noise_below_k import blurred
from .test_threshold import table

CELLS, MOST = (0, 1), 3
People = tuple[tuple[int, ...], ...]


def contributions(rows: int) -> list[tuple[int, ...]]:
    """All that one person can add to the table: up to so many rows."""
    return [kept for n in range(rows + 1) for kept in combinations_with_replacement(CELLS, n)]


def published(people: People, rows: int, ratio: Fraction) -> Distribution:
    """Every cell with noise, the empty ones too."""
    law: Distribution = surely(())
    for cell in CELLS:
        count = sum(kept.count(cell) for kept in people)
        law = both(law, blurred(count, ratio, 0, rows * MOST))
    return law


def pairs(rows: int) -> list[tuple[People, People]]:
    everybody = contributions(rows)
    found: list[tuple[People, People]] = []
    for size in range(MOST):
        for others in combinations_with_replacement(everybody, size):
            found += [((*others, person), others) for person in everybody]
    return found


@for_each(("rows", "ratio"), [(1, Fraction(1, 3)), (2, Fraction(1, 2)), (2, Fraction(4, 5))], daily=2)
def test_rows_with_noise(rows: int, ratio: Fraction) -> None:
    claimed = RULES["register.rows"].conclude(noise_epsilon=epsilon_above(1 / ratio), rows_per_person=rows)
    laws = [(published(one, rows, ratio), published(other, rows, ratio)) for one, other in pairs(rows)]
    assert max(divergence(*pair, growth_below(claimed.epsilon)) for pair in laws) == claimed.delta == 0
    # One row less in the claim, or a thousandth less noise, would be false.
    assert max(divergence(*pair, ratio**-rows * Fraction(999, 1000)) for pair in laws) > 0


@pytest.mark.parametrize("rows", [1, 3])
def test_a_total_with_noise(rows: int) -> None:
    ratio = Fraction(1, 2)
    claimed = RULES["register.total"].conclude(noise_epsilon=epsilon_above(1 / ratio), rows_per_person=rows)
    laws: list[dict[Hashable, Fraction]] = [blurred(total, ratio, 0, 8) for total in range(9)]
    steps = [(one, other) for one, other in product(range(9), repeat=2) if abs(one - other) <= rows]
    assert max(divergence(laws[one], laws[other], growth_below(claimed.epsilon)) for one, other in steps) == 0
    assert max(divergence(laws[one], laws[other], Fraction(2) ** rows * Fraction(99, 100)) for one, other in steps) > 0


@for_each(
    ("rows", "ratio", "show_from", "rate"),
    list(
        product((2, 3), (Fraction(1, 3), Fraction(2, 3)), (1, 2, 4, 6), (Fraction(1, 5), Fraction(3, 4), Fraction(1)))
    ),
    daily=4,
)
def test_rows_of_sampled_people_are_hidden_together(rows: int, ratio: Fraction, show_from: int, rate: Fraction) -> None:
    """A threshold table of rows, of which a coin keeps a person's all or none: every person, beside every other."""
    single = RULES["histogram.threshold"](noise_epsilon=epsilon_above(1 / ratio), show_from=show_from)
    person = RULES["rows.per-person"](single, rows_per_person=rows)
    if rate < 1:
        person = RULES["dps.differential"](RULES["sampling.amplification"](person, rate=float(rate)))
    claimed, chance = person.conclusion, Fraction(float(rate))

    def law(people: People) -> Distribution:
        kept = product((True, False), repeat=len(people)) if rate < 1 else [(True,) * len(people)]
        counts = [
            (
                chance ** sum(who) * (1 - chance) ** (len(who) - sum(who)),
                tuple(sum(one.count(cell) for one, here in zip(people, who, strict=True) if here) for cell in CELLS),
            )
            for who in kept
        ]
        return mix((weight, table(count, ratio, show_from)) for weight, count in counts)

    growth, whole = growth_below(claimed.epsilon), [one for one in contributions(rows) if len(one) == rows]
    others: list[People] = [(), *((other,) for other in contributions(rows))]
    worst = max(divergence(law((*rest, one)), law(rest), growth) for rest in others for one in whole)
    assert worst <= Fraction(claimed.delta)
    # Claimed for one row, it would be false.
    alone = growth_below(single.conclusion.epsilon)
    assert rate < 1 or max(divergence(law((one,)), law(()), alone) for one in whole) > Fraction(single.conclusion.delta)
