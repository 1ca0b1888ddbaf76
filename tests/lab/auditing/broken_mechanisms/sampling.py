"""Mistakes around the sample: how it is drawn, what is said about it, which numbers are claimed for it."""

from collections import Counter
from fractions import Fraction
from functools import partial
from math import comb

from crowdblend.errors import InvalidInput
from crowdblend.lab.auditing.exact.definitions import ExactClaim, random_samples
from crowdblend.lab.auditing.exact.distributions import (
    Database,
    Distribution,
    Mechanism,
    World,
    epsilon_above,
    mix,
    poisson_sampled,
    samples,
    surely,
)
from crowdblend.trusted.guarantees.aggregates import RandomSamples
from crowdblend.trusted.guarantees.privacy import Relation, ZeroKnowledge
from tests.lab.auditing.broken_mechanisms.parts import (
    HALF,
    add,
    close,
    mistaken,
    push_forward,
    sampled_delta,
    shown,
    suppressed,
)

LETTERS = World(("A", "B"), 5)
ONE_CLASS = World(("A",), 8)
# People with the number that a coin without a key depends on.
NUMBERED = World((("A", 1), ("A", 2)), 5)
QUARTER = Fraction(1, 4)
K = 3
POISSON = poisson_sampled(suppressed(K), HALF)
AT_HALF, AT_QUARTER = (close(1.0, sampled_delta(K, rate, 1.0)) for rate in (HALF, QUARTER))
TRUE_DELTA = sampled_delta(K, HALF, 0.2)
# What is certified as a sample at rate 1/2 would be, beside that sample.
_as_poisson = partial(mistaken, guarantee=AT_HALF, honest=POISSON)

add(
    "rate-understated",
    "a sample at rate 1/2 is certified as one at rate 1/4",
    ExactClaim(AT_QUARTER, POISSON, LETTERS),
    ExactClaim(AT_HALF, POISSON, LETTERS),
)


@_as_poisson("fixed-size", "a sample without replacement is certified as a Poisson sample", world=ONE_CLASS)
def _fixed_size(table: Database) -> Distribution:
    some = random_samples(len(table) // 2)(table)
    return mix((chance, suppressed(K)(sample)) for sample, chance in some.items())


add(
    "public-coin",
    "who is sampled follows from a hash of the person without a secret key",
    ExactClaim(
        AT_HALF,
        lambda table: suppressed(K, lambda value: value[0])(tuple(value for value in table if value[1] == 1)),
        NUMBERED,
    ),
    ExactClaim(AT_HALF, POISSON, LETTERS),
)


@_as_poisson("size-beside", "the size of the sample is published beside the table", world=LETTERS)
def _size_beside(table: Database) -> Distribution:
    return mix((mass, surely((len(some), shown(some, K)))) for mass, some in samples(table, HALF))


@_as_poisson("redrawn", "the sample is drawn again until the table looks good", world=LETTERS)
def redrawn(table: Database) -> Distribution:
    """Up to ten times, until a class is shown."""
    once = POISSON(table)
    empty = once.get(frozenset(), Fraction(0))
    tries = sum(empty**again for again in range(10))
    return {outcome: mass * tries if outcome else empty**10 for outcome, mass in once.items()}


@_as_poisson("population-threshold", "the crowd is counted in the population instead of the sample", world=LETTERS)
def _population_threshold(table: Database) -> Distribution:
    return mix(
        (mass, surely(frozenset((c, n) for c, n in Counter(some).items() if table.count(c) >= K)))
        for mass, some in samples(table, HALF)
    )


@_as_poisson("same-sample-twice", "a second table comes from a sample that was used before", world=LETTERS)
def _same_sample_twice(table: Database) -> Distribution:
    return mix((mass, surely((shown(some, K), shown(some, 1)))) for mass, some in samples(table, HALF))


add(
    "delta-rounded-down",
    "delta is rounded to three places, downwards",
    ExactClaim(close(0.2, int(TRUE_DELTA * 1000) / 1000), POISSON, ONE_CLASS),
    ExactClaim(close(0.2, TRUE_DELTA), POISSON, ONE_CLASS),
)

# One person, and groups of two of which each is a recoding: recoding i puts the person into group i.
GROUPS = 4
CHOICE_GROWTH, RELEASE_GROWTH = Fraction(3), Fraction(8)
WITH, WITHOUT = ("person",), ()


def _choosing(looks_at_the_sample: bool) -> Mechanism:
    """Choose a recoding by how many of its group are seen, and publish the person's class if it has three sampled."""

    def release(table: Database) -> Distribution:
        sizes: dict[tuple[int, ...], Fraction] = {(): Fraction(1)}
        for _ in range(GROUPS):
            coins = [(kept, comb(2, kept) * QUARTER**kept * (1 - QUARTER) ** (2 - kept)) for kept in range(3)]
            sizes = {(*seen, kept): p * q for seen, p in sizes.items() for kept, q in coins}
        here = [(QUARTER, 1), (1 - QUARTER, 0)] if table else [(Fraction(1), 0)]
        return mix(
            (p * q, _published(kept, person, kept if looks_at_the_sample else (2,) * GROUPS))
            for kept, p in sizes.items()
            for q, person in here
        )

    return release


def _published(kept: tuple[int, ...], person: int, scores: tuple[int, ...]) -> Distribution:
    weights = [CHOICE_GROWTH**score for score in scores]
    outcomes = [(i, kept[i] + person if kept[i] + person >= K else 0) for i in range(GROUPS)]
    return mix((weight / sum(weights), surely(outcome)) for weight, outcome in zip(weights, outcomes, strict=True))


def theorem_six(k: int, rate: Fraction, growth: Fraction) -> Fraction:
    """The δ of LQS Theorem 5, which Theorem 6 carries over: max over n ≥ ⌈k/γ − 1⌉ of P[Bin(n, rate) > γn]."""
    gamma = 1 - (1 - rate) / growth
    first = -int(-(k / gamma - 1) // 1)
    # Every further n halves these tails at least, so a few of them are enough.
    return max(_tail(n, rate, gamma * n) for n in range(first, first + 20))


def _tail(n: int, rate: Fraction, above: Fraction) -> Fraction:
    return sum((comb(n, j) * rate**j * (1 - rate) ** (n - j) for j in range(n + 1) if j > above), Fraction(0))


def _chosen(mechanism: Mechanism) -> ExactClaim:
    delta = float(theorem_six(K, QUARTER, RELEASE_GROWTH))
    guarantee = close(epsilon_above(CHOICE_GROWTH * RELEASE_GROWTH), delta)
    return ExactClaim(guarantee, mechanism, LETTERS, pairs=((WITH, WITHOUT),))


add(
    "same-sample-choice",
    "the recoding is chosen on the sample it publishes, with the numbers of LQS Theorem 6",
    _chosen(_choosing(True)),
    _chosen(_choosing(False)),
)


def _four(table: Database) -> Database:
    if len(table) != 4:
        raise InvalidInput(f"There must be four people, got {len(table)}. The guarantee speaks of two out of four.")
    return table


def _two_of_four(mechanism: Mechanism) -> ExactClaim:
    guarantee = ZeroKnowledge(0.0, 0.5, RandomSamples(2, 4), Relation.CONCEAL)
    simulator = lambda some, _: surely("B" in some)  # noqa: E731
    return ExactClaim(guarantee, mechanism, World(("A", "B"), 4), aggregate=random_samples(2), simulator=simulator)


add(
    "looks-at-everybody",
    "what two random people tell is certified, and everybody is looked at",
    _two_of_four(lambda table: surely("B" in _four(table))),
    _two_of_four(lambda table: push_forward(random_samples(2)(_four(table)), lambda some: "B" in some)),
)
