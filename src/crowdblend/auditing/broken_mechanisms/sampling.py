"""Mistakes around the sample: how it is drawn, what is said about it, which numbers are claimed for it."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from math import comb

from crowdblend.auditing.broken_mechanisms.parts import (
    HALF,
    BrokenMechanism,
    broken,
    close,
    sampled_delta,
    shown,
    suppressed,
)
from crowdblend.auditing.claim import ExactClaim
from crowdblend.auditing.exact.definitions import random_samples
from crowdblend.auditing.exact.distributions import Distribution, epsilon_above, mix, pushed, surely
from crowdblend.auditing.exact.worlds import Database, Mechanism, World, sampled, samples
from crowdblend.errors import InvalidInput
from crowdblend.guarantees import Differential, Relation, ZeroKnowledge
from crowdblend.guarantees.aggregates import RandomSamples

LETTERS = World(("A", "B"), 5)
ONE_CLASS = World(("A",), 8)
# People with the number that a coin without a key depends on.
NUMBERED = World((("A", 1), ("A", 2)), 5)
QUARTER = Fraction(1, 4)
K = 3


def _guaranteed(rate: Fraction) -> Differential:
    return close(1.0, sampled_delta(K, rate, 1.0))


def fixed_size(table: Database) -> Distribution:
    """Exactly half of the people, drawn without replacement."""
    some = random_samples(len(table) // 2)(table)
    return mix((chance, suppressed(K)(sample)) for sample, chance in some.items())


def public_coin(table: Database) -> Distribution:
    """Who is drawn follows from a person's number, which everybody can compute."""
    return suppressed(K, lambda value: value[0])(tuple(value for value in table if value[1] == 1))


def size_beside(table: Database) -> Distribution:
    """The size of the sample, beside the table."""
    return mix((mass, surely((len(some), shown(some, K)))) for mass, some in samples(table, HALF))


def redrawn(table: Database) -> Distribution:
    """Drawn again until a class is shown, up to ten times."""
    once = sampled(suppressed(K), HALF)(table)
    empty = once.get(frozenset(), Fraction(0))
    tries = sum(empty**again for again in range(10))
    return {outcome: mass * tries if outcome else empty**10 for outcome, mass in once.items()}


def population_threshold(table: Database) -> Distribution:
    """Counts of the sample are shown wherever the population has a crowd."""
    return mix(
        (mass, surely(frozenset((c, n) for c, n in Counter(some).items() if table.count(c) >= K)))
        for mass, some in samples(table, HALF)
    )


def same_sample_twice(table: Database) -> Distribution:
    """Suppressed at one threshold, and then at another, from one sample."""
    return mix((mass, surely((shown(some, K), shown(some, 1)))) for mass, some in samples(table, HALF))


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


def _chosen(mechanism: Mechanism) -> ExactClaim:
    delta = float(theorem_six(K, QUARTER, RELEASE_GROWTH))
    guarantee = close(epsilon_above(CHOICE_GROWTH * RELEASE_GROWTH), delta)
    return ExactClaim(guarantee, mechanism, LETTERS, pairs=((WITH, WITHOUT),))


def theorem_six(k: int, rate: Fraction, growth: Fraction) -> Fraction:
    """The δ of LQS Theorem 5, which Theorem 6 carries over: max over n ≥ ⌈k/γ − 1⌉ of P[Bin(n, rate) > γn]."""
    gamma = 1 - (1 - rate) / growth
    first = -int(-(k / gamma - 1) // 1)
    # Every further n halves these tails at least, so a few of them are enough.
    return max(_tail(n, rate, gamma * n) for n in range(first, first + 20))


def _tail(n: int, rate: Fraction, above: Fraction) -> Fraction:
    return sum((comb(n, j) * rate**j * (1 - rate) ** (n - j) for j in range(n + 1) if j > above), Fraction(0))


def looks_at_everybody(table: Database) -> Distribution:
    """Whether there is a B among all people, where a sample of two is guaranteed to tell as much."""
    return surely("B" in _four(table))


def looks_at_two(table: Database) -> Distribution:
    """Whether there is a B among two random people."""
    return pushed(random_samples(2)(_four(table)), lambda some: "B" in some)


def _four(table: Database) -> Database:
    if len(table) != 4:
        raise InvalidInput(f"there must be four people, got {len(table)}. The guarantee speaks of two out of four.")
    return table


def _zero_knowledge(mechanism: Mechanism) -> ExactClaim:
    guarantee = ZeroKnowledge(0.0, 0.5, RandomSamples(2, 4), Relation.CONCEAL)
    simulator = lambda some, _: surely("B" in some)  # noqa: E731
    return ExactClaim(guarantee, mechanism, World(("A", "B"), 4), aggregate=random_samples(2), simulator=simulator)


_POISSON = sampled(suppressed(K), HALF)
_HONEST = ExactClaim(_guaranteed(HALF), _POISSON, LETTERS)
_TRUE_DELTA = sampled_delta(K, HALF, 0.2)


def _dishonest(name: str, mistake: str, mechanism: Mechanism, world: World = LETTERS) -> BrokenMechanism:
    """A mechanism that is certified as a sample at rate 1/2 would be, beside that sample."""
    return BrokenMechanism(name, mistake, ExactClaim(_guaranteed(HALF), mechanism, world), _HONEST)


BROKEN = (
    BrokenMechanism(
        "rate-understated",
        "a sample at rate 1/2 is certified as one at rate 1/4",
        ExactClaim(_guaranteed(QUARTER), _POISSON, LETTERS),
        _HONEST,
    ),
    broken(
        "fixed-size",
        "a sample without replacement is certified as a Poisson sample",
        _guaranteed(HALF),
        ONE_CLASS,
        fixed_size,
        _POISSON,
    ),
    _dishonest(
        "public-coin", "who is sampled follows from a hash of the person without a secret key", public_coin, NUMBERED
    ),
    _dishonest("size-beside", "the size of the sample is published beside the table", size_beside),
    _dishonest("redrawn", "the sample is drawn again until the table looks good", redrawn),
    _dishonest(
        "population-threshold", "the crowd is counted in the population instead of the sample", population_threshold
    ),
    _dishonest("same-sample-twice", "a second table comes from a sample that was used before", same_sample_twice),
    BrokenMechanism(
        "delta-rounded-down",
        "delta is rounded to three places, downwards",
        ExactClaim(close(0.2, int(_TRUE_DELTA * 1000) / 1000), _POISSON, ONE_CLASS),
        ExactClaim(close(0.2, _TRUE_DELTA), _POISSON, ONE_CLASS),
    ),
    BrokenMechanism(
        "same-sample-choice",
        "the recoding is chosen on the sample it publishes, with the numbers of LQS Theorem 6",
        _chosen(_choosing(True)),
        _chosen(_choosing(False)),
    ),
    BrokenMechanism(
        "looks-at-everybody",
        "what two random people tell is certified, and everybody is looked at",
        _zero_knowledge(looks_at_everybody),
        _zero_knowledge(looks_at_two),
    ),
)
