"""Searching in steps: its exact law on tiny lattices, what each step is offered, and that roll-ups add up."""

from itertools import product

import numpy as np
import pytest

from crowdblend.methods.recoding.code_rows import rolled_up
from crowdblend.methods.selection import search as module
from crowdblend.methods.selection.lattice import Lattice, Node
from crowdblend.methods.selection.scores import Score, ScoredRelease, score
from crowdblend.methods.selection.search import LARGEST_STEP, Offer, Search, score_offer
from crowdblend.trusted.numerics.expected_people import UNITS
from crowdblend.trusted.randomness import SeededSource
from tests.cases import for_each

from .tables import SMALL, THREE, ladder, nodes, plainly, table_of

Path = tuple[Node, ...]
STEPS = Search(SMALL.shape, ((0,), (1,), (0,)))
CELLS = [(0, 0), (2, 0), (1, 1)]
GIVEN = {
    "rises": Score("rises", UNITS * np.array([0, 0, 2, 3]), UNITS, ScoredRelease(2, 1.0, 1)),
    "weighted": Score("weighted", UNITS * np.array([0, 0, 2, 3]), UNITS, ScoredRelease(2, 1.0, 1), weighted=True),
    "loss": score("loss", k=2, rate=0.5),
}


def offered(lattice: Lattice, offer: Offer) -> list[Node]:
    return [node for node in nodes(lattice) if all(level in levels for level, levels in zip(node, offer, strict=True))]


def log_law(search: Search, scores: dict[Node, int], factor: float) -> dict[Path, float]:
    """The logarithm of the probability of every sequence of results."""
    paths: dict[Path, float] = {(search.start,): 0.0}
    for step in range(search.steps):
        longer: dict[Path, float] = {}
        for path, before in paths.items():
            candidates = offered(SMALL, search.offer(step, path[-1]))
            weights = factor * np.array([scores[node] for node in candidates], float)
            chances = weights - np.logaddexp.reduce(weights)
            longer |= {(*path, node): before + chance for node, chance in zip(candidates, chances, strict=True)}
        paths = longer
    return paths


def ends(law: dict[Path, float]) -> dict[Node, float]:
    found: dict[Node, float] = {}
    for path, chance in law.items():
        found[path[-1]] = np.logaddexp(found.get(path[-1], -np.inf), chance)
    return found


@for_each("name", GIVEN)
def test_all_results_together_keep_the_sum_of_the_losses(name: str) -> None:
    """Over every table of up to three people in each of three cells, and everybody who may join."""
    each, epsilon = GIVEN[name], 0.7
    factor = epsilon / each.sensitivity(SMALL.most)
    laws = {
        sizes: log_law(STEPS, dict(zip(nodes(SMALL), plainly(SMALL, *table_of(table, 2), each), strict=True)), factor)
        for sizes in product(range(5), repeat=3)
        for table in [dict(zip(CELLS, sizes, strict=True))]
    }
    worst = worst_end = 0.0
    for sizes, without in laws.items():
        for cell in range(3):
            joined = laws.get((*sizes[:cell], sizes[cell] + 1, *sizes[cell + 1 :]))
            if joined is not None:
                worst = max(worst, *(abs(joined[path] - without[path]) for path in joined))
                one, other = ends(joined), ends(without)
                worst_end = max(worst_end, *(abs(one[node] - other[node]) for node in one))
    assert worst <= STEPS.steps * epsilon + 1e-9
    assert worst_end <= worst + 1e-9
    # One step's loss would not be enough for what three of them tell.
    assert worst > epsilon


def test_a_run_follows_the_choices_and_scores_what_is_offered(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every step sees the plain scores of its own candidates, and goes on from the one that was taken."""
    rng = np.random.default_rng(3)
    rows = np.stack([rng.integers(0, len(each.maps[0]), 60) for each in THREE.ladders], axis=1).astype(np.int32)
    codes, counts = np.unique(rows, axis=0, return_counts=True)
    known = dict(zip(nodes(THREE), plainly(THREE, codes, counts, GIVEN["loss"]), strict=True))
    search = Search(THREE.shape, ((1,), (0,), (0, 1)))
    taken, seen = [2, 0, 3], []

    def scripted(scores: list[int], times: int, **given: object) -> list[int]:
        seen.append((scores, given["epsilon"], given["sensitivity"], given["monotone"]))
        return [taken[len(seen) - 1]] * times

    monkeypatch.setattr(module, "choose_several", scripted)
    (end,) = search.several(THREE, codes, counts, GIVEN["loss"], epsilon=0.25, source=SeededSource(1), times=1)
    node, bound = search.start, GIVEN["loss"].sensitivity(THREE.most)
    for step, place in enumerate(taken):
        candidates = offered(THREE, search.offer(step, node))
        assert seen[step] == ([known[each] for each in candidates], 0.25, bound, True)
        node = candidates[place]
    assert end == node


def test_a_whole_search_is_one_choice_among_all() -> None:
    assert offered(SMALL, Search.whole(SMALL.shape).offer(0, (0, 0))) == nodes(SMALL)


@for_each("shape", [(2,), (5, 1, 4), (3,) * 14, (2,) * 30, (90, 90, 90), (6000, 2)])
def test_what_steps_free_is_settled_by_the_shape(shape: tuple[int, ...]) -> None:
    search = Search.in_steps(shape)
    several = {column for column, levels in enumerate(shape) if levels > 1}
    once = Search.once_around(shape)
    assert set().union(*search.free[:once]) == several
    assert set().union(*search.free[: once - 1]) != several
    assert once <= search.steps <= 1.5 * once + 0.5
    for free in search.free:
        sizes = [shape[column] for column in free]
        assert len(sizes) == 1 or np.prod(sizes, dtype=object) <= LARGEST_STEP
        assert 1 not in sizes
    assert Search.in_steps(shape, 7).steps == 7


@pytest.mark.parametrize("name", ["loss", "rises"])
def test_offers_are_scored_as_the_whole_lattice_is(name: str) -> None:
    rng = np.random.default_rng(5)
    rows = np.stack([rng.integers(0, len(each.maps[0]), 300) for each in THREE.ladders], axis=1).astype(np.int32)
    codes, counts = np.unique(rows, axis=0, return_counts=True)
    known = dict(zip(nodes(THREE), plainly(THREE, codes, counts, GIVEN[name]), strict=True))
    for offer in product([(0, 1)], [(0, 1, 2), (0, 2), (1, 2), (1,), (2,)], [(0,)]):
        found = score_offer(THREE, offer, codes, counts, GIVEN[name]).tolist()
        assert found == [known[node] for node in offered(THREE, offer)]


def test_leaves_and_weights_survive_a_smaller_ladder() -> None:
    whole = ladder("x", [0, 1, 2, 3], [0, 0, 1, 2], [0, 0, 0, 1], weight=0.5)
    part = whole.offering([1, 2])
    assert [each.tolist() for each in part.maps] == [[0, 1, 2], [0, 0, 1]]
    assert [part.kept_parts(level).tolist() for level in range(2)] == [
        whole.kept_parts(level).tolist() for level in (1, 2)
    ]


@for_each("size", [3, 1 << 20, 1 << 40])
def test_rolling_up_adds_equal_rows(size: int) -> None:
    """Also where the number of possible rows is beyond 64 bits."""
    rng = np.random.default_rng(2)
    codes = rng.integers(0, 3, (200, 5)).astype(np.int32)
    counts = rng.integers(1, 9, 200)
    found, added = rolled_up(codes, counts, [size] * 5)
    wanted: dict[tuple[int, ...], int] = {}
    for row, count in zip(codes.tolist(), counts.tolist(), strict=True):
        wanted[tuple(row)] = wanted.get(tuple(row), 0) + count
    assert dict(zip(map(tuple, found.tolist()), added.tolist(), strict=True)) == wanted
