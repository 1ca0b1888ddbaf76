"""Searches return a value that holds, and its neighbour does not."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crowdblend.trusted.numerics.search import first_true, largest_double, smallest_double

QUIET = settings(deadline=None, derandomize=True, max_examples=200)
WHOLE = st.integers(-1000, 10**12)


@QUIET
@given(edge=WHOLE, least=st.integers(-1000, 1000), guess=WHOLE)
def test_first_true_is_the_first(edge: int, least: int, guess: int) -> None:
    asked = []

    def holds(n: int) -> bool:
        asked.append(n)
        return n >= edge

    assert first_true(holds, least, guess) == max(edge, least)
    assert min(asked) >= least
    assert len(asked) <= 2 * abs(max(guess, least) - max(edge, least)).bit_length() + 4


@QUIET
@given(most=st.integers(0, 10**6), guess=st.integers(0, 10**7), beyond=st.integers(1, 10**6))
def test_nothing_up_to_most_is_an_error(most: int, guess: int, beyond: int) -> None:
    with pytest.raises(LookupError):
        first_true(lambda n: n >= most + beyond, 0, guess, most)
    assert first_true(lambda n: n >= most, 0, guess, most) == most


def test_the_range_is_never_left() -> None:
    asked: list[int] = []
    assert first_true(lambda n: not asked.append(n) and n >= 90, 50, 10, 100) == 90  # type: ignore[func-returns-value]
    assert min(asked) >= 50
    assert max(asked) <= 100


@QUIET
@given(edge=st.floats(2e-12, 1.0, exclude_max=True), high=st.sampled_from([1.0, 7.0, 1e6]))
def test_smallest_double_holds_and_is_tight(edge: float, high: float) -> None:
    found = smallest_double(lambda x: x >= edge, 0.0, high)
    assert found >= edge
    assert found * (1 - 2e-8) < edge


@QUIET
@given(edge=st.floats(1e-300, 1e300))
def test_largest_double_holds_and_is_tight(edge: float) -> None:
    found = largest_double(lambda x: x <= edge, edge / 1e5, edge * 1e5)
    assert found <= edge
    assert found * (1 + 2e-8) > edge


def test_smallest_double_when_everything_holds_goes_to_the_low_end() -> None:
    assert smallest_double(lambda x: True, 1.0, 2.0) <= 1 + 2e-8
    assert smallest_double(lambda x: x >= 2.0, 1.0, 2.0) == 2.0


def test_largest_double_when_nothing_else_holds_stays() -> None:
    assert largest_double(lambda x: x <= 1.0, 1.0, 2.0) == 1.0
