"""The exact exponential mechanism: its law, its refusals, and that no precision decides."""

import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from crowdblend.errors import InvalidInput
from crowdblend.methods.selection.exponential import _bounds, choose, choose_several
from crowdblend.trusted.randomness import KeyedSource, SeededSource
from tests.cases import for_each

from .tables import SMALL, AnyScore, plainly, table_of

SCORES = [3, 0, 7, 7, 1]


class Tape:
    """A stream whose beginning is written down; zeros follow."""

    private = False

    def __init__(self, *words: int) -> None:
        self._left = list(words)

    def bytes(self, n: int) -> bytes:
        return (self._left.pop(0) if self._left else 0).to_bytes(n, "little")

    def words(self, n: int) -> np.ndarray:
        raise NotImplementedError


def cumulative(factor: float) -> list[float]:
    weights = [math.exp(factor * (score - max(SCORES))) for score in SCORES]
    return [sum(weights[: place + 1]) / sum(weights) for place in range(len(weights))]


@pytest.mark.parametrize("monotone", [True, False])
def test_every_first_word_falls_where_the_law_says(monotone: bool) -> None:
    """An even comb of uniform numbers: the place changes exactly at the cumulative probabilities."""
    ends = cumulative(0.5 / 2 if monotone else 0.5 / 4)
    for tooth in range(1000):
        u = (tooth + 0.5) / 1000
        wanted = next(place for place, end in enumerate(ends) if u < end)
        got = choose(SCORES, epsilon=0.5, sensitivity=2, monotone=monotone, source=Tape(int(u * 2**64)))
        assert got == wanted


@for_each("bits", [64, 128, 320])
def test_bounds_enclose_and_close_in(bits: int) -> None:
    lower, upper = _bounds([7 - score for score in SCORES], Fraction(1, 4), bits)
    for low, high, end in zip(lower, upper, cumulative(0.25), strict=True):
        assert 0 <= high - low <= 1
        assert low / 2**bits <= end * (1 + 1e-12)
        assert high / 2**bits >= end * (1 - 1e-12)


def test_an_undecided_word_draws_another() -> None:
    """The first word is the one that holds the boundary between two places."""
    (edge, *_), _ = _bounds([0, 1], Fraction(1), 64)
    (finer, *_), _ = _bounds([0, 1], Fraction(1), 128)
    second = finer & (1 << 64) - 1
    low, high = Tape(edge, second - 2), Tape(edge, second + 2)
    got = [choose([1, 0], epsilon=1.0, sensitivity=1, monotone=True, source=tape) for tape in (low, high)]
    assert got == [0, 1]


def test_scores_far_apart_and_huge() -> None:
    assert choose([0, 10**18], epsilon=1.0, sensitivity=1, monotone=True, source=SeededSource(3)) == 1
    assert choose([5], epsilon=1.0, sensitivity=1, monotone=False, source=SeededSource(3)) == 0


def test_several_choices_are_one_after_the_other() -> None:
    given = {"epsilon": 0.1, "sensitivity": 1, "monotone": True}
    source = SeededSource(4)
    singly = [choose(SCORES, **given, source=source) for _ in range(40)]
    assert choose_several(SCORES, 40, **given, source=SeededSource(4)) == singly
    assert set(singly) == set(range(5))


def test_the_same_key_chooses_the_same() -> None:
    again = [
        choose(SCORES, epsilon=0.1, sensitivity=1, monotone=True, source=KeyedSource(bytes(32), b"choice"))
        for _ in range(3)
    ]
    assert len(set(again)) == 1


@for_each(
    "each",
    [
        AnyScore("rises", np.array([0, 0, 2, 3]), 1),
        AnyScore("weighted", np.array([0, 0, 2, 3]), 1, weighted=True),
        AnyScore("falls", np.array([0, 1, 3, 0]), 0),
    ],
    daily=2,
)
def test_differential_privacy_over_all_tiny_tables(each: AnyScore) -> None:
    """Computed from the scores of every pair of neighbours; that the published trap is violated is shown in
    tests/truth/test_recoding.py."""
    cells, epsilon, worst = [(0, 0), (2, 0), (1, 1)], 0.7, 0.0
    factor = each.exponent(epsilon)
    for sizes in product(range(4), repeat=3):
        table = dict(zip(cells, sizes, strict=True))
        without = log_chances(plainly(SMALL, *table_of(table, 2), each), factor)
        for cell in cells:
            joined = log_chances(plainly(SMALL, *table_of({**table, cell: table[cell] + 1}, 2), each), factor)
            worst = max(worst, float(np.abs(joined - without).max()))
    assert 0.05 < worst <= epsilon + 1e-9


def log_chances(scores: list[int], factor: float) -> np.ndarray:
    exponents = factor * (np.array(scores, float) - max(scores))
    return exponents - np.log(np.exp(exponents).sum())


@for_each("wrong", [{"scores": []}, {"epsilon": 0.0}, {"epsilon": -1.0}, {"epsilon": math.nan}, {"sensitivity": 0}])
def test_refusals(wrong) -> None:
    given = {"scores": [1, 2], "epsilon": 1.0, "sensitivity": 1, **wrong}
    with pytest.raises(InvalidInput):
        choose(given.pop("scores"), **given, monotone=True, source=SeededSource(1))
