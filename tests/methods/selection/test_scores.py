"""Scores: what one person changes, by brute force over all tiny tables; fast scoring equals plain scoring."""

from functools import cache
from itertools import product

import numpy as np
import pytest

from crowdblend.errors import InvalidInput, NotProved
from crowdblend.methods.selection.lattice import Ladder, Lattice
from crowdblend.methods.selection.scores import SCORES, TOP, Score, ScoredRelease, score
from crowdblend.methods.selection.scoring import _order, score_nodes
from crowdblend.trusted.numerics.expected_people import UNITS
from tests.cases import for_each

from .tables import DAYS, SMALL, THREE, WEEKS, plainly, table_of

KEPT, THREE_OF_ALL = UNITS * np.array([0, 0, 0, 3]), ScoredRelease(3, 1.0, 1)
HARD = Score("rows kept", KEPT, UNITS, THREE_OF_ALL)
CASES = [
    HARD,
    Score("weighted rows kept", KEPT, UNITS, THREE_OF_ALL, weighted=True),
    *(pytest.param(score(name, k=3, rate=0.9), marks=pytest.mark.slow) for name in SCORES),
    *(score(name, k=3, rate=0.5, share_seen=0.1) for name in SCORES),
]


@pytest.mark.parametrize("each", CASES, ids=lambda each: f"{each.name}-{each.step}")
def test_one_person_moves_no_score_beyond_its_sensitivity(each: Score) -> None:
    """Every table of up to three people in each of four cells, and every person who may join."""
    cells = [(0, 0), (2, 0), (1, 1), (3, 1)]
    most, rose, fell = 0, False, False

    @cache
    def scores(*sizes: int) -> np.ndarray:
        return np.array(plainly(SMALL, *table_of(dict(zip(cells, sizes, strict=True)), 2), each))

    for sizes in product(range(4), repeat=len(cells)):
        for at in range(len(cells)):
            moved = scores(*(size + (place == at) for place, size in enumerate(sizes))) - scores(*sizes)
            most, rose, fell = max(most, int(np.abs(moved).max())), rose or moved.max() > 0, fell or moved.min() < 0
    assert most <= each.sensitivity(SMALL.most)
    assert rose
    assert not fell


def test_the_classical_count_has_a_step_of_k() -> None:
    assert HARD.step == 3 * UNITS == HARD.sensitivity(7) - 1


def test_the_bound_is_attained() -> None:
    one = Score("x", KEPT, UNITS, THREE_OF_ALL, weighted=True)
    finest = plainly(SMALL, *table_of({(0, 0): 3}, 2), one)[0] - plainly(SMALL, *table_of({(0, 0): 2}, 2), one)[0]
    assert finest == one.sensitivity(SMALL.most) - SMALL.most


@for_each("name", SCORES)
@for_each("lattice", [SMALL, THREE, WEEKS, Lattice((DAYS,))])
def test_rolling_up_equals_counting_anew(name, lattice) -> None:
    rng = np.random.default_rng(5)
    each = score(name, k=4, rate=0.7)
    sizes = [len(ladder.maps[0]) for ladder in lattice.ladders]
    for people in (0, 1, 30, 400):
        rows = np.stack([rng.integers(0, size, people) for size in sizes], axis=1).astype(np.int32)
        codes, counts = np.unique(rows, axis=0, return_counts=True)
        assert score_nodes(lattice, codes, counts, each).tolist() == plainly(lattice, codes, counts, each)


@for_each("groups", [40, 1 << 20, 1 << 45, 1 << 57])
def test_every_way_of_sorting_gives_one_order(groups: int) -> None:
    """Few groups, many groups, numbers too large to carry their places along, or too large altogether."""
    rng = np.random.default_rng(8)
    keys = np.unique(rng.integers(0, groups * 50, 5000))
    group, after = keys // 50 * 3, keys % 50
    table = np.lexsort((after, group))
    group, after = group[table] + rng.integers(0, 3, len(table)), after[table]
    assert _order(group, after, 50).tolist() == np.lexsort((after, group)).tolist()


def test_large_classes_go_on_in_equal_steps() -> None:
    each = score("loss", k=4, rate=0.5)
    codes, counts = np.array([[0, 0], [3, 1]], np.int32), np.array([10**6, 7])
    assert score_nodes(SMALL, codes, counts, each).tolist() == plainly(SMALL, codes, counts, each)


@for_each("people", [10**8, 6 * 10**8, 10**9, 10**12])
@for_each("name", SCORES)
def test_no_number_of_people_runs_over_the_end_of_a_score(name, people: int) -> None:
    """Ten columns of the largest weight: at 600 million people the sum needs more than 64 bits."""
    fixed, chosen = (np.arange(2),), (np.arange(2), np.zeros(2, int))
    heavy = Lattice(tuple(Ladder(str(place), fixed if place else chosen, weight=1000.0) for place in range(10)))
    each, codes = score(name, k=23, rate=0.5), np.zeros((1, 10), np.int32)
    before, after = (score_nodes(heavy, codes, np.array([size]), each) for size in (people, people + 1))
    moved = np.abs(after.astype(object) - before.astype(object)).max()
    assert moved <= each.sensitivity(heavy.most)
    assert before.min() >= 0
    finest = (int(each.values[-1]) + each.slope * (people + 1 - len(each.values))) * each.parts(heavy.most)
    assert before[0] == min(finest, TOP)


def test_expected_publication_is_cheap() -> None:
    soft = score("published", k=20, rate=0.3)
    assert soft.step / 4096 < 0.8  # people published; the classical count would move by 20


@for_each("seen", [1.0, 0.5, 0.1, 0.03, 0.001], daily=3)
def test_listed_values_keep_to_the_proved_bound(seen: float) -> None:
    for name, k, rate in product(SCORES, (1, 2, 3, 10, 23, 100), (0.9, 0.5, 0.3, 0.1, 0.01)):
        each = score(name, k=k, rate=rate, share_seen=seen)
        assert each.step <= each.published.step
        assert each.sensitivity(7) == each.published.step * (7 if name == "loss" else 1)


@for_each("seen", [0.1, 0.03, 0.01])
def test_somebody_seen_alone_does_not_count_for_a_crowd(seen: float) -> None:
    """One of a hundred seen stands for a hundred, and the finest recoding would seem to publish everybody."""
    each = score("published", k=5, rate=0.5, share_seen=seen)
    alone, crowd = each.values[1] / each.slope, each.values[8] / (8 * each.slope)
    assert alone < 0.05
    assert crowd > 0.9


def test_values_beyond_a_proved_bound_are_refused() -> None:
    known = score("published", k=3, rate=0.5).published
    for values, slope in (([0, 10**6], 1), ([0, 1], 10**6), ([0, 2, 1], 1), ([0, 1], -1)):
        with pytest.raises(NotProved, match="within the proved bound"):
            Score("x", np.array(values), slope, known)


def test_refusals() -> None:
    with pytest.raises(InvalidInput, match="'taste' is unknown") as unknown:
        score("taste", k=3, rate=0.5)  # type: ignore[arg-type]
    assert (unknown.value.code, unknown.value.where) == ("selection.score", "score")
    with pytest.raises(InvalidInput, match="Lower k"):
        score("loss", k=10**8, rate=0.5)
    with pytest.raises(InvalidInput, match="empty class"):
        Score("x", np.array([1]), 0, THREE_OF_ALL)
