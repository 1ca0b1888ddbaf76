"""One more and one fewer: the single n that is evaluated is the worst of all, in exact fractions."""

from __future__ import annotations

from fractions import Fraction

import pytest

from crowdblend.numerics import shift

from . import fractions_arithmetic as exact

CASES = [
    (k, Fraction(p), Fraction(factor))
    for k in (1, 2, 3, 6)
    for p in ("1/10", "1/2", "4/5")
    for factor in ("1", "11/10", "3/2", "4")
]


@pytest.mark.parametrize(("k", "p", "factor"), CASES)
def test_one_more_and_one_fewer_are_suprema(k: int, p: Fraction, factor: Fraction) -> None:
    more = fewer = Fraction(0)
    for n in range(90):
        pmf = [exact.pmf(n, j, p) for j in range(n + 1)]
        for j in range(k - 1, n + 1):
            more = max(more, pmf[j] - (factor - 1) * sum(pmf[j + 1 :]))
            fewer = max(fewer, pmf[j] - (factor - 1) * sum(pmf[:j]))
    found_more, found_fewer = shift.one_more(exact, k, p, factor), shift.one_fewer(exact, k, p, factor)
    assert found_more == more
    # For a rare p the worst n for `fewer` lies beyond the scan, so the scan is a lower bound there.
    assert found_fewer >= fewer
    if (k - 1) * (1 - p) * factor / p < 80:
        assert found_fewer == fewer
