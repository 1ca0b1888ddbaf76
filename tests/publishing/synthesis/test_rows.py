"""Rows: as many as asked, and nearer to the model than independent ones."""

from itertools import combinations

import numpy as np
import pytest

from crowdblend.publishing.synthesis.model import Mixture
from crowdblend.publishing.synthesis.rows import draw_rows

SIZES = (3, 5, 4, 6)


@pytest.fixture(scope="module")
def mixture() -> Mixture:
    rng = np.random.default_rng(1)
    parts = [rng.dirichlet(np.full(size, 0.5), 20) for size in SIZES]
    return Mixture(tuple("abcd"), SIZES, rng.uniform(50, 500, 20), np.hstack(parts))


def apart(mixture: Mixture, codes: np.ndarray, places: tuple[int, ...]) -> float:
    """The share of rows in other cells than those of the model."""
    shape = [SIZES[place] for place in places]
    found = np.bincount(np.ravel_multi_index([codes[:, place] for place in places], shape), minlength=np.prod(shape))
    people = mixture.people([mixture.columns[place] for place in places]).ravel()
    return float(0.5 * np.abs(found / len(codes) - people / people.sum()).sum())


def independent(mixture: Mixture, rows: int, rng: np.random.Generator) -> np.ndarray:
    sorts = rng.choice(len(mixture.weights), rows, p=mixture.weights / mixture.weights.sum())
    columns = [np.cumsum(mixture.of_column(name), axis=1)[sorts] for name in mixture.columns]
    return np.column_stack([(one < rng.random((rows, 1))).sum(axis=1) for one in columns])


def test_rows_keep_the_tables_of_the_model(mixture):
    """Independent rows are about ten times as far from tables of two columns, and no nearer to larger ones."""
    rng = np.random.default_rng(2)
    codes, others = draw_rows(mixture, mixture.pairs, 5_000, rng), independent(mixture, 5_000, rng)
    pairs = list(combinations(range(4), 2))
    near = np.mean([apart(mixture, codes, pair) for pair in pairs])
    assert near < 0.0025
    assert near < np.mean([apart(mixture, others, pair) for pair in pairs]) / 3
    for triple in combinations(range(4), 3):
        assert apart(mixture, codes, triple) < apart(mixture, others, triple)


@pytest.mark.parametrize("rows", [1, 2, 7, 1_000])
def test_any_number_of_rows_has_labels_of_every_column(mixture, rows):
    codes = draw_rows(mixture, mixture.pairs, rows, np.random.default_rng(3))
    assert codes.shape == (rows, 4)
    assert (codes >= 0).all()
    assert (codes < SIZES).all()


def test_a_single_column_is_drawn_in_proportion():
    alone = Mixture(("a",), (2,), np.array([100.0, 300.0]), np.array([[1.0, 0.0], [0.5, 0.5]]))
    codes = draw_rows(alone, alone.pairs, 8_000, np.random.default_rng(4))
    assert np.bincount(codes[:, 0]) == pytest.approx([5_000, 3_000], abs=20)


def test_rows_are_in_random_order(mixture):
    """The first half has as many rows of a label as the second, within six standard errors."""
    codes = draw_rows(mixture, mixture.pairs, 10_000, np.random.default_rng(5))
    halves = [np.bincount(half[:, 3], minlength=6) for half in (codes[:5_000], codes[5_000:])]
    assert (np.abs(halves[0] - halves[1]) <= 6 * np.sqrt(np.maximum(halves[0], 1))).all()


def test_rows_follow_tables_that_the_model_does_not_have(mixture):
    """One in a hundred people changes a cell of the first two columns, and no column has another share of a label."""
    wanted, starts, people = mixture.pairs.copy(), mixture.starts, mixture.weights.sum()
    cells = wanted[: SIZES[0], starts[1] : starts[1] + SIZES[1]]
    cells[:2, :2] += np.array([[1, -1], [-1, 1]]) * people / 400
    wanted[starts[1] : starts[1] + SIZES[1], : SIZES[0]] = cells.T
    assert (cells > 0).all()
    codes = draw_rows(mixture, wanted, 10_000, np.random.default_rng(6))
    found = np.bincount(codes[:, 0] * SIZES[1] + codes[:, 1], minlength=15).reshape(SIZES[:2]) / 10_000
    assert 0.5 * np.abs(found - cells / people).sum() < 0.002
    assert apart(mixture, codes, (2, 3)) < 0.0025


class Watched:
    """Random numbers, and how many whole ones were drawn at a time."""

    def __init__(self) -> None:
        self._numbers, self.sizes = np.random.default_rng(6), set[int]()

    def integers(self, low: int, high: int, size: int) -> np.ndarray:
        self.sizes.add(size)
        return self._numbers.integers(low, high, size)

    def __getattr__(self, name: str):
        return getattr(self._numbers, name)


@pytest.mark.parametrize(("rows", "tried"), [(50, 50), (3_000, 1_000)])
def test_so_many_rows_are_tried_at_a_time_and_never_more_than_there_are(mixture, rows, tried):
    watched = Watched()
    draw_rows(mixture, mixture.pairs, rows, watched)
    assert watched.sizes == {tried}
