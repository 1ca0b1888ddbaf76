"""Several tables of people with several rows: of each person every table keeps rows of its own, one coin decides."""

from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations_with_replacement, product
from math import expm1, log1p

from crowdblend.methods.designs import Claims, Everybody, Poisson
from crowdblend.methods.designs.design import differential_of
from crowdblend.methods.mechanisms.everywhere import ThresholdHistogram
from crowdblend.policies.unit import Unit
from tests.cases import for_each

from .distributions import Distribution, both, divergence, epsilon_above, growth_below, mix, surely
from .test_threshold import table

CELLS, ROWS = (0, 1), 2
# What a person adds to two tables: up to two rows to each, others to the second than to the first.
Person = tuple[tuple[int, ...], tuple[int, ...]]
ADDED = [kept for n in range(ROWS + 1) for kept in combinations_with_replacement(CELLS, n)]
WHOLE: list[Person] = [*product([kept for kept in ADDED if len(kept) == ROWS], repeat=2)]
OTHERS: list[Person] = [((), ()), ((0,), (1, 1)), ((0, 1), (0, 0)), ((1, 1), (1,))]
TABLES = [((Fraction(1, 3), 2), (Fraction(2, 3), 4)), ((Fraction(4, 5), 1), (Fraction(1, 2), 3))]
RATES = [Fraction(1), Fraction(1, 2), Fraction(1, 8)]


def claimed(tables: tuple[tuple[Fraction, int], ...], rate: Fraction, rows: int, share: float) -> tuple[float, float]:
    """Return the ε and δ that are stated for all tables, at this share of the sum of their losses, if curves are."""
    losses = [epsilon_above(1 / ratio) for ratio, _ in tables]
    noise: list[Claims] = [
        Unit(rows).claimed(ThresholdHistogram(loss, show_from))
        for loss, (_, show_from) in zip(losses, tables, strict=True)
    ]
    sample = Everybody() if rate == 1 else Poisson(float(rate))
    epsilon = log1p(float(rate) * expm1(share * rows * sum(losses)))
    found = differential_of(sample.together(noise, epsilon)).conclusion
    return found.epsilon, found.delta


def law(people: list[Person], tables: tuple[tuple[Fraction, int], ...], rate: Fraction) -> Distribution:
    """What is published of both tables of one sample, to which one coin adds all rows of a person or none."""

    def of(kept: list[Person]) -> Distribution:
        found: Distribution = surely(())
        for place, (ratio, show_from) in enumerate(tables):
            counts = [sum(person[place].count(cell) for person in kept) for cell in CELLS]
            found = both(found, table((counts[0], counts[1]), ratio, show_from))
        return found

    if rate == 1:
        return of(people)
    return mix(_samples(people, rate, of))


def _samples(people: list[Person], rate: Fraction, of: object) -> Iterator[tuple[Fraction, Distribution]]:
    assert callable(of)
    for kept in product((True, False), repeat=len(people)):
        yield (
            rate ** sum(kept) * (1 - rate) ** (len(kept) - sum(kept)),
            of([one for one, here in zip(people, kept, strict=True) if here]),
        )


@for_each(("tables", "rate", "share"), list(product(TABLES, RATES, (1.0, 0.8))))
def test_nobody_of_several_tables_loses_more_than_is_stated(
    tables: tuple[tuple[Fraction, int], ...], rate: Fraction, share: float
) -> None:
    epsilon, delta = claimed(tables, rate, ROWS, share)
    pairs = [(law([other, one], tables, rate), law([other], tables, rate)) for other in OTHERS for one in WHOLE]
    assert max(divergence(*pair, growth_below(epsilon)) for pair in pairs) <= Fraction(delta)
    # Claimed of one row of a person, it would be false.
    epsilon, delta = claimed(tables, rate, 1, share)
    assert max(divergence(*pair, growth_below(epsilon)) for pair in pairs) > Fraction(delta)


def test_which_rows_are_kept_may_be_drawn() -> None:
    """A choice that a person's rows and a secret decide is a mixture of choices, of which none loses more."""
    (tables, _), rate = TABLES, Fraction(1, 2)
    epsilon, delta = claimed(tables, rate, 1, 0.8)
    once: list[Person] = [((one,), (other,)) for one, other in product(CELLS, repeat=2)]
    for other in OTHERS:
        drawn = mix((Fraction(1, len(once)), law([other, kept], tables, rate)) for kept in once)
        assert divergence(drawn, law([other], tables, rate), growth_below(epsilon)) <= Fraction(delta)
