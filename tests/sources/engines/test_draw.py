"""A draw is a value that says who, and keeps its keys to itself."""

from fractions import Fraction
from itertools import pairwise

import pytest

from crowdblend.errors import InvalidInput
from crowdblend.methods.designs.draw import Coin, Draw, Everybody, Exactly, Part, parts_of, row_key_of
from crowdblend.trusted.randomness import DrawKey
from tests.cases import for_each

KEY, OTHER = DrawKey(b"secret".ljust(32)), DrawKey(b"other".ljust(32))
DRAWS: list[Draw] = [
    *(Everybody(part, KEY) for part in parts_of(KEY, (0.5, 0.5))),
    Coin(KEY, 0.5, Part(KEY, Fraction(0), Fraction(1, 2)), KEY),
    Exactly(KEY, 3, 5),
]


@for_each("draw", DRAWS)
def test_a_draw_does_not_show_its_key(draw: Draw) -> None:
    assert "secret" not in repr(draw)


@for_each("rate", [-0.1, 1.1, float("nan")])
def test_a_coin_has_a_probability(rate: float) -> None:
    with pytest.raises(InvalidInput):
        Coin(KEY, rate)


@for_each("ends", [(0, 0), (1, 0), (-1, 1), (0, 2)])
def test_a_part_has_ends_that_rise_within_the_sample(ends: tuple[int, int]) -> None:
    with pytest.raises(InvalidInput):
        Part(KEY, Fraction(ends[0]), Fraction(ends[1]))


@for_each("shares", [(0.5, 0.5), (0.1,) * 10, (1 / 3,) * 3, (0.2, 0.3), (1.0,)])
def test_parts_begin_where_others_end(shares: tuple[float, ...]) -> None:
    parts = parts_of(KEY, shares)
    assert parts[0].start == 0
    assert all(one.stop == other.start for one, other in pairwise(parts))
    total = sum(map(Fraction, shares))
    assert parts[-1].stop == min(total, Fraction(1))
    assert all(part.stop - part.start <= Fraction(share) for part, share in zip(parts, shares, strict=True))


@pytest.mark.parametrize(("samples", "people"), [(-1, 5), (6, 5)])
def test_no_more_people_are_drawn_than_there_are(samples: int, people: int) -> None:
    with pytest.raises(InvalidInput):
        Exactly(KEY, samples, people)


def test_the_key_decides_which_row_counts_unless_another_does() -> None:
    assert row_key_of(Coin(KEY, 0.5)) == KEY.persons
    assert row_key_of(Coin(KEY, 0.5, row_key=OTHER)) == row_key_of(Everybody(row_key=OTHER)) == OTHER.persons
    assert row_key_of(Everybody()) != row_key_of(Everybody())
