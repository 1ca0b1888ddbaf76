"""A draw is a value that says who, and keeps its keys to itself."""

from __future__ import annotations

import pytest

from crowdblend.designs.draw import Coin, Draw, Everybody, Exactly, Part, row_key_of
from crowdblend.errors import InvalidInput
from crowdblend.randomness import DrawKey
from tests.cases import for_each

KEY, OTHER = DrawKey(b"secret".ljust(32)), DrawKey(b"other".ljust(32))
DRAWS: list[Draw] = [
    Everybody(Part(KEY, 0.5, choosing=True), KEY),
    Coin(KEY, 0.5, Part(KEY, 0.5, choosing=False), KEY),
    Exactly(KEY, 3, 5),
]


@for_each("draw", DRAWS)
def test_a_draw_does_not_show_its_key(draw: Draw) -> None:
    assert "secret" not in repr(draw)


@for_each("rate", [-0.1, 1.1, float("nan")])
def test_a_coin_has_a_probability(rate: float) -> None:
    with pytest.raises(InvalidInput):
        Coin(KEY, rate)


@pytest.mark.parametrize(("samples", "people"), [(-1, 5), (6, 5)])
def test_no_more_people_are_drawn_than_there_are(samples: int, people: int) -> None:
    with pytest.raises(InvalidInput):
        Exactly(KEY, samples, people)


def test_the_key_decides_which_row_counts_unless_another_does() -> None:
    assert row_key_of(Coin(KEY, 0.5)) == KEY.persons
    assert row_key_of(Coin(KEY, 0.5, row_key=OTHER)) == row_key_of(Everybody(row_key=OTHER)) == OTHER.persons
    assert row_key_of(Everybody()) != row_key_of(Everybody())
