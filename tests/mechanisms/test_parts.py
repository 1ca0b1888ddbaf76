"""A sample divided into parts: everybody in one at most, with the shares of the policy.

Statistical tests use fixed keys; their thresholds have a false-alarm rate of 1e-6 each over the choice of the key.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from scipy import stats

from crowdblend.errors import InvalidInput
from crowdblend.mechanisms import SampledClasses
from crowdblend.mechanisms.parts import divide
from crowdblend.randomness import ReleaseKey
from tests.cases import for_each
from tests.mechanisms.test_histograms import key, one_column

FALSE_ALARM = 1e-6


def counts(part: SampledClasses, cells: int) -> np.ndarray:
    found = np.zeros(cells, np.int64)
    found[part.codes[:, 0]] = part.counts
    return found


@for_each("shares", [(0.5, 0.5), (0.1,) * 10, (0.2, 0.3), (1 / 3,) * 3, (0.99,)])
def test_nobody_is_in_two_parts(shares: tuple[float, ...]) -> None:
    sample = one_column([0, 1, 2, 50, 1000] * 4)
    parts = [counts(part, 20) for part in divide(sample, shares, key(1))]
    together = np.sum(parts, axis=0)
    assert len(parts) == len(shares)
    assert (together <= counts(sample, 20)).all()
    # Where the shares are the whole sample, nobody is left over.
    assert (together == counts(sample, 20)).all() == (sum(shares) > 0.995)


def test_parts_have_their_shares_and_are_drawn_for_every_class() -> None:
    people, cells, shares = 40, 20_000, (0.15, 0.5, 0.3)
    sample = one_column([people] * cells)
    parts = [counts(part, cells) for part in divide(sample, shares, key(2))]
    for part, share in zip(parts, shares, strict=True):
        law = stats.binom.pmf(np.arange(people + 1), people, share)
        common = np.flatnonzero(law * cells >= 10)
        seen = np.bincount(part, minlength=people + 1)[common]
        expected = law[common] * cells
        rest = [cells - seen.sum(), cells - expected.sum()]
        assert stats.chisquare([*seen, rest[0]], [*expected, rest[1]]).pvalue > FALSE_ALARM
    for (one, first), (other, second) in combinations(zip(parts, shares, strict=True), 2):
        # Multinomial counts: the covariance of two parts is −n·s₁·s₂.
        products = (one - people * first) * (other - people * second)
        error = products.std() / np.sqrt(cells)
        assert abs(products.mean() + people * first * second) < stats.norm.isf(FALSE_ALARM / 2) * error


def test_the_key_decides_and_every_part_has_a_stream_of_its_own() -> None:
    sample = one_column([30] * 50)
    one, again, other = (
        [counts(part, 50).tolist() for part in divide(sample, (0.5, 0.5), with_key)]
        for with_key in (key(3), key(3), key(4))
    )
    assert one == again != other
    used = ReleaseKey(bytes(32))
    divide(sample, (0.5, 0.25), used)
    with pytest.raises(InvalidInput, match="in use"):
        used.source(b"people of part 1")


def test_a_part_is_counted_by_fewer_columns() -> None:
    labels = (("a", "b"), ("x", "y", "z"))
    codes = np.array([[0, 0], [0, 2], [1, 0], [1, 1]], np.int32)
    sample = SampledClasses(("one", "two"), labels, codes, np.array([3, 4, 5, 6]))
    by_two = sample.narrowed(["two"])
    assert (by_two.columns, by_two.labels) == (("two",), (labels[1],))
    assert (by_two.codes[:, 0].tolist(), by_two.counts.tolist()) == ([0, 1, 2], [8, 6, 4])
    assert sample.narrowed(["two", "one"]).people == 18
