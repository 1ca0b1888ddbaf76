"""The drawn choice has the stated law: against the exact one, also where coins are settled beyond 64 bits."""

import math
from collections import Counter
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from scipy.stats import chi2

from crowdblend.errors import InvalidInput
from crowdblend.methods.selection import permute_and_flip as module
from crowdblend.methods.selection.permute_and_flip import permute_and_flip_rows
from crowdblend.trusted.randomness import SeededSource, SystemSource
from tests.cases import for_each

RUNS = 6_000


def permute_and_flip(losses, rate, source):
    (place,) = permute_and_flip_rows(losses[np.newaxis], rate, source)
    return int(place)


def exact(losses: list[int], rate: float) -> list[float]:
    least, law = min(losses), [0.0] * len(losses)
    heads = [math.exp(-rate * (loss - least)) for loss in losses]
    for falls in product((False, True), repeat=len(losses)):
        chance = math.prod(p if fell else 1 - p for fell, p in zip(falls, heads, strict=True))
        for place in np.flatnonzero(falls):
            law[place] += chance / sum(falls)
    return law


@for_each(("losses", "rate"), [([3, 0, 1, 7], 0.4), ([-5, -5, -4], 1.0), ([0, 40], 0.02)], daily=2)
def test_the_choice_has_the_exact_law(losses: list[int], rate: float) -> None:
    """One by one, and in rows of two kinds. A false alarm has probability 3e-9 in each of three cases."""
    source, backwards = SystemSource(), losses[::-1]
    places = permute_and_flip_rows(np.tile([losses, backwards], (RUNS, 1)), Fraction(rate), source)
    singly = [permute_and_flip(np.array(losses), Fraction(rate), source) for _ in range(RUNS)]
    for given, chosen in ((losses, singly), (losses, places[::2].tolist()), (backwards, places[1::2].tolist())):
        seen = Counter(chosen)
        expected = [RUNS * share for share in exact(given, rate)]
        distance = sum((seen[place] - want) ** 2 / want for place, want in enumerate(expected))
        assert distance < chi2.isf(1e-9, len(losses) - 1)


def test_coins_near_their_probability_are_settled_exactly(monkeypatch: pytest.MonkeyPatch) -> None:
    """With a margin so wide that every coin is settled in ball arithmetic, the choices are the same."""
    losses, rate = np.arange(50) % 7, Fraction(1, 3)
    quick = [permute_and_flip(losses, rate, SeededSource(seed)) for seed in range(40)]
    monkeypatch.setattr(module, "_MARGIN", 2.0)
    assert quick == [permute_and_flip(losses, rate, SeededSource(seed)) for seed in range(40)]


def test_candidates_beyond_doubles_are_never_taken_for_certain() -> None:
    assert {permute_and_flip(np.array([10**9, 0]), Fraction(1), SystemSource()) for _ in range(50)} == {1}


@pytest.mark.parametrize(("losses", "rate"), [([], 1), ([1, 2], 0)])
def test_nothing_to_choose_is_refused(losses: list[int], rate: int) -> None:
    with pytest.raises(InvalidInput):
        permute_and_flip(np.array(losses, dtype=np.int64), Fraction(rate), SystemSource())
