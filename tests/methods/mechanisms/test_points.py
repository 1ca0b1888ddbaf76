"""What is published of points is what the rules speak of.

Statistical tests use fixed keys; their false-alarm rate is 1e-6 each over the choice of those keys.
"""

import itertools
import math
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from crowdblend.errors import InvalidInput
from crowdblend.methods.mechanisms import NoisyPoints, SampledClasses
from crowdblend.methods.mechanisms.numbered_rows import RowCounter, number_rows
from crowdblend.methods.mechanisms.points import all_within
from crowdblend.methods.recoding.blocks import Boxes, Grid, Quadtree
from crowdblend.trusted.randomness import discrete_laplace
from tests.cases import for_each

from .test_histograms import FALSE_ALARM, key

GRID = Grid((5, 4), (2, 3))
AXES = (10, 12)


def sample(
    rows: list[tuple[int, ...]], labels: tuple[tuple[str, ...], ...] = (), axes: tuple[int, ...] = AXES
) -> SampledClasses:
    """Rows of codes, the axes last, counted as the engine does."""
    codes, counts = np.unique(np.array(rows, np.int32), axis=0, return_counts=True)
    names = (*labels, *(tuple(map(str, range(cells + 1))) for cells in axes))
    return SampledClasses(tuple(map(str, range(len(names)))), names, codes, counts.astype(np.int64))


def test_blocks_below_k_are_dropped_and_the_others_keep_their_number() -> None:
    rows = [(0, 0)] * 3 + [(4, 3)] * 2 + [(5, 0)] * 4 + [(9, 11)] * 5
    published = NoisyPoints(5, 1.0, GRID, AXES, keep_in="block", show_blocks=True).publish(sample(rows), key(0))
    assert published.blocks is not None
    blocks = published.one_by_one().blocks
    assert blocks is not None
    assert np.unique(blocks, return_counts=True)[1].tolist() == [5, 5]
    assert np.unique(published.blocks).tolist() == [0, 5]


def test_a_class_is_a_block_with_what_travels_along() -> None:
    rows = [(0, 0, 0)] * 4 + [(1, 0, 0)] * 5
    published = NoisyPoints(5, 1.0, GRID, AXES).publish(sample(rows, (("Female", "Male"),)), key(0))
    assert published.labels == (("Male",),)
    assert published.points == 5


def test_people_outside_the_bounds_or_the_boxes_are_left_out() -> None:
    rows = [(0, 0)] * 6 + [(10, 0)] * 6 + [(9, 9)] * 6
    boxes = Boxes((((0, 5), (0, 4)),))
    assert NoisyPoints(5, 1.0, boxes, AXES).publish(sample(rows), key(0)).points == 6
    # In a grid, who is beyond the end of an axis would be counted into a block of its other side.
    beyond = [(0, 0)] * 3 + [(0, 12)] * 6 + [(10, 0)] * 6 + [(10, 12)] * 6
    assert NoisyPoints(5, 1.0, GRID, AXES).publish(sample(beyond), key(0)).points == 0


@for_each("noise_epsilon", [2.0, 1e-4])
@for_each("blocks", [Grid((1000, 1000), (2, 2)), Boxes((((0, 900), (0, 900)),))])
def test_nothing_is_published_where_no_crowd_is_large_enough(noise_epsilon: float, blocks: Grid | Boxes) -> None:
    """Also where noise would be too wide for numbers of 32 bits."""
    axes = (2000, 2000)
    for people, points in ((4, 0), (5, 5)):
        rows = sample([(0, 0)] * people, axes=axes)
        assert NoisyPoints(5, noise_epsilon, blocks, axes).publish(rows, key(0)).points == points


@for_each("noise_epsilon", [0.5, 1.7])
@for_each("shape", [(5, 4), (1, 7), (3, 3)])
def test_the_losses_of_a_block_add_up_to_its_loss(shape: tuple[int, ...], noise_epsilon: float) -> None:
    """Σ λ_a·(m_a − 1) = ε, exactly."""
    along = sum(size > 1 for size in shape)
    mechanism = NoisyPoints(2, noise_epsilon, GRID, AXES)
    spent = sum(mechanism.moved_points.loss(size, along) * (size - 1) for size in shape if size > 1)
    assert spent == Fraction(noise_epsilon)


@for_each("keep_in", ["none", "bounds", "block"])
def test_points_move_as_discrete_laplace_says(keep_in: str) -> None:
    """Chi-square on both axes of 40,000 points of one cell, folded or cut off as declared."""
    count, place = 40_000, (3, 2)
    published = NoisyPoints(5, 3.0, GRID, AXES, keep_in=keep_in).publish(sample([place] * count), key(7))  # type: ignore[arg-type]
    published = published.one_by_one()
    for axis, (size, cells) in enumerate(zip(GRID.cells, AXES, strict=True)):
        a = math.exp(-3.0 / (2 * (size - 1)))
        law: dict[int, float] = {}
        for y in range(-400, 401):
            at = place[axis] + y
            if keep_in == "bounds":
                at = min(max(at, 0), cells - 1)
            if keep_in == "block":
                at = min(at % (2 * size), 2 * size - 1 - at % (2 * size))
            law[at] = law.get(at, 0.0) + (1 - a) / (1 + a) * a ** abs(y)
        seen = dict(
            zip(*(found.tolist() for found in np.unique(published.cells[axis], return_counts=True)), strict=True)
        )
        common = [at for at, chance in law.items() if chance * count >= 10]
        rest = 1 - sum(law[at] for at in common)
        observed = [seen.pop(at, 0) for at in common] + [sum(seen.values())] * (rest > 1e-9)
        expected = [law[at] * count for at in common] + [rest * count] * (rest > 1e-9)
        assert stats.chisquare(observed, np.array(expected) * sum(observed) / sum(expected)).pvalue > FALSE_ALARM


@for_each("noise_epsilon", [1.0, 1e-10])
def test_noise_has_room_however_strong_it_is(noise_epsilon: float) -> None:
    """Points of one cell are the numbers of their streams, also those that 32 bits do not hold."""
    count, place = 1000, (3, 2)
    mechanism = NoisyPoints(5, noise_epsilon, GRID, AXES)
    published = mechanism.publish(sample([place] * count), key(3)).one_by_one()
    streams = key(3)
    for axis, (size, cells) in enumerate(zip(GRID.cells, published.cells, strict=True)):
        source = streams.source(b"points, axis %d, %d cells, 2 axes" % (axis, size))
        moved = place[axis] + discrete_laplace(count, mechanism.moved_points.loss(size, 2), source)
        assert (np.sort(cells) == np.sort(moved)).all()
        assert bool((np.abs(moved) > 2**31).any()) == (noise_epsilon < 1)


def test_noise_has_room_at_the_end_of_the_longest_axis() -> None:
    last = 2**31 - 5
    crowd = SampledClasses(("x",), ((),), np.array([[last]], np.int32), np.array([1000]))
    (moved,) = NoisyPoints(5, 1.0, Grid((4,), ((last + 1) // 4,)), (last + 1,)).publish(crowd, key(4)).cells
    assert moved.max() > 2**31
    assert (np.abs(moved - last) < 100).all()


def test_every_shape_of_blocks_has_noise_of_its_own() -> None:
    """Boxes of four shapes side by side: chi-square on each axis of 20,000 points in each, by the shape's own loss."""
    boxes, count = Boxes((((0, 5), (0, 4)), ((5, 6), (0, 7)), ((6, 9), (0, 1)), ((9, 10), (0, 1)))), 20_000
    mechanism = NoisyPoints(5, 3.0, boxes, AXES, show_blocks=True)
    rows = [(low_x, low_y) for (low_x, _), (low_y, _) in boxes.boxes]
    published = mechanism.publish(sample([row for row in rows for _ in range(count)]), key(11)).one_by_one()
    for number, (box, row) in enumerate(zip(boxes.boxes, rows, strict=True)):
        sizes = [high - low for low, high in box]
        for size, cells, first in zip(sizes, published.cells, row, strict=True):
            moved = cells[published.blocks == number] - first
            if size == 1:
                assert not moved.any()
                continue
            a = math.exp(-3.0 / (sum(side > 1 for side in sizes) * (size - 1)))
            law = {y: (1 - a) / (1 + a) * a ** abs(y) for y in range(-200, 201)}
            common = [y for y, chance in law.items() if chance * count >= 10]
            observed, expected = [int((moved == y).sum()) for y in common], [law[y] * count for y in common]
            observed.append(count - sum(observed))
            expected.append(count - sum(expected))
            assert stats.chisquare(observed, expected).pvalue > FALSE_ALARM


def test_an_axis_with_one_cell_per_block_is_not_moved() -> None:
    grid = Grid((1, 4), (10, 3))
    published = NoisyPoints(5, 1.0, grid, AXES).publish(sample([(3, 2)] * 50), key(1))
    assert set(published.cells[0].tolist()) == {3}
    assert len(set(published.cells[1].tolist())) > 1


def test_the_same_key_gives_the_same_points_and_another_others() -> None:
    mechanism, crowd = NoisyPoints(5, 1.0, GRID, AXES), sample([(0, 0)] * 30 + [(7, 7)] * 30)
    one, twin, other = (mechanism.publish(crowd, key(number)).one_by_one().cells for number in (1, 1, 2))
    assert all(np.array_equal(a, b) for a, b in zip(one, twin, strict=True))
    assert not all(np.array_equal(a, b) for a, b in zip(one, other, strict=True))


ROWS = st.tuples(st.integers(-5, 5), st.integers(0, 2**40), st.integers(-(2**50), 2**50))
# Too wide for one number; for a place each; and rows beyond them, by columns of which nothing is within.
BOUNDS = [
    [(-5, 5), (0, 2**40), (-(2**50), 2**50)],
    [(-5, 5), (0, 2**20), (-(2**30), 2**30)],
    [(-4, 5), (0, 100), (-100, 100)],
    [(9, 9), (0, 100), (-100, 100)],
]


@settings(deadline=None, derandomize=True)
@given(st.lists(st.one_of(ROWS, st.tuples(*[st.integers(-5, 5)] * 3)), max_size=60), st.integers(1, 20))
def test_rows_leave_sorted_and_counted(rows: list[tuple[int, int, int]], piece: int) -> None:
    for width, bounds in itertools.product((3, 1), BOUNDS):
        counter = RowCounter(bounds[:width], len(rows))
        for start in range(0, len(rows), piece):
            columns = list(zip(*rows[start : start + piece], strict=True))[:width]
            counter.add([np.array(column, np.int64) for column in columns])
        different, counts = counter.counts()
        found = zip(*(column.tolist() for column in different), strict=True)
        assert list(zip(found, counts.tolist(), strict=True)) == sorted(Counter(row[:width] for row in rows).items())


REGIONS = st.tuples(
    st.tuples(st.integers(0, 20), st.integers(0, 20)),
    st.tuples(st.integers(1, 9), st.integers(1, 9)),
    st.integers(1, 6),
)


@settings(deadline=None, derandomize=True, max_examples=50)
@given(st.lists(REGIONS, min_size=1, max_size=4), st.tuples(st.integers(1, 30), st.integers(1, 30)))
def test_a_quadtree_is_a_partition(regions: list, cells: tuple[int, int]) -> None:
    """Every cell is in exactly the leaf whose box holds it."""
    tree = Quadtree(
        cells, tuple((tuple((a, a + w) for a, w in zip(at, wide, strict=True)), deep) for at, wide, deep in regions)
    )
    every = np.array([(x, y) for x in range(cells[0]) for y in range(cells[1])])
    found = tree.of(every)
    first, size = tree.first(found), tree.size(found)
    assert ((every >= first) & (every < first + size)).all()
    assert sum(math.prod(high - low for low, high in box) for box in tree.list_blocks()) == math.prod(cells)


def test_boxes_must_not_overlap() -> None:
    with pytest.raises(InvalidInput, match="overlap"):
        Boxes((((0, 5), (0, 5)), ((4, 6), (4, 6))))
    assert Boxes((((0, 5), (0, 5)), ((5, 6), (0, 5)))).of(np.array([[4, 4], [5, 0], [6, 6]])).tolist() == [0, 1, -1]


def test_no_point_leaves_its_reach_more_often_than_stated() -> None:
    """CBP Proposition 11 by simulation: 300 releases of 200 points, each to stay within with probability 0.9."""
    mechanism, failures = NoisyPoints(5, 2.0, GRID, AXES), 0
    reach = all_within(mechanism.moved_points.noise(GRID.cells), 200, 0.1)
    for number in range(300):
        cells = mechanism.publish(sample([(2, 2)] * 200), key(number)).cells
        failures += any(int(np.abs(cells[axis] - 2).max()) > reach[axis] for axis in range(2))
    assert stats.binom.sf(failures - 1, 300, 0.1) > FALSE_ALARM


def test_rows_keep_their_numbers_apart_however_many_there_might_be() -> None:
    """Without closing gaps a step of the first of these columns would count 2^80 times, and so not at all."""
    columns = [np.array(column, np.int64) for column in ([0, 1, 1, 0], *[[5, 5, 5, 5]] * 3, [7, 7, 8, 7])]
    numbers = number_rows(columns, [2**20] * 5)
    assert [int(number == numbers[0]) for number in numbers] == [1, 0, 0, 1]
    assert numbers[1] != numbers[2]


def test_a_block_of_two_cells_has_noise() -> None:
    points = NoisyPoints(5, 1.0, Grid((2, 1, 3), (4, 4, 4)), (8, 4, 12))
    losses = [axis.loss for axis in points.moved_points.noise((2, 1, 3))]
    assert losses == [0.5, math.inf, 0.25]
