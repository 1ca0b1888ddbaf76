"""The lattice around a node: which nodes, their scores, and the loss of showing them with noise."""

from itertools import product

import numpy as np
import pytest

from crowdblend.errors import InvalidInput
from crowdblend.randomness import SeededSource
from crowdblend.selection.lattice import Lattice
from crowdblend.selection.recoding_choice import most_around, noise_around, noisy_scores_around, scores_around
from crowdblend.selection.scores import SCORES, score
from tests.cases import for_each

from .tables import SMALL, THREE, WEEKS, nodes, plainly, table_of

CELLS = [(0, 0), (2, 0), (1, 1)]


def table(lattice: Lattice = THREE) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(4)
    rows = np.stack([rng.integers(0, len(each.maps[0]), 300) for each in lattice.ladders], axis=1).astype(np.int32)
    return np.unique(rows, axis=0, return_counts=True)


@for_each(("name", "lattice"), [*((name, THREE) for name in SCORES), ("loss", WEEKS)])
def test_every_node_one_level_away_has_its_own_score(name, lattice) -> None:
    codes, counts = table(lattice)
    each = score(name, k=4, rate=0.7)
    known = dict(zip(nodes(lattice), plainly(lattice, codes, counts, each), strict=True))
    most = 0
    for node in known:
        found = scores_around(lattice, node, codes, counts, each)
        near = {other for other in known if sum(abs(a - b) for a, b in zip(node, other, strict=True)) <= 1}
        assert next(iter(found)) == node
        assert found == {other: known[other] for other in near}
        most = max(most, len(found))
    assert most == most_around(lattice.shape)


@for_each("name", SCORES)
def test_showing_all_of_them_keeps_its_loss(name) -> None:
    """Noise of loss x per unit moves the law of the shown numbers by at most x for each unit that a score moves."""
    each, epsilon, worst = score(name, k=2, rate=0.5), 0.7, 0.0
    loss, node = noise_around(SMALL, each, epsilon), (1, 1)
    shown = {
        sizes: scores_around(SMALL, node, *table_of(dict(zip(CELLS, sizes, strict=True)), 2), each)
        for sizes in product(range(4), repeat=3)
    }
    for sizes, before in shown.items():
        for cell in range(3):
            after = shown.get((*sizes[:cell], sizes[cell] + 1, *sizes[cell + 1 :]))
            if after is not None:
                worst = max(worst, float(loss * sum(abs(after[place] - before[place]) for place in before)))
    assert 0.02 < worst <= epsilon


def test_the_noise_is_that_of_the_budget() -> None:
    codes, counts = table()
    each = score("loss", k=4, rate=0.7)
    exact = scores_around(THREE, (1, 1, 0), codes, counts, each)
    shown = [
        noisy_scores_around(THREE, (1, 1, 0), codes, counts, each, epsilon=2.0, source=SeededSource(seed))
        for seed in range(100)
    ]
    assert all(list(one) == list(exact) for one in shown)
    errors = np.array([[one[node] - exact[node] for node in exact] for one in shown], float)
    scale = 1 / float(noise_around(THREE, each, 2.0))
    # 400 independent absolute values, about exponential with mean `scale`: by Chernoff's bound their mean is off by
    # three tenths with probability below 1e-6.
    assert abs(np.abs(errors).mean() / scale - 1) < 0.3


def test_a_budget_too_small_to_draw_noise_for_is_refused() -> None:
    with pytest.raises(InvalidInput, match="show_epsilon") as refused:
        noise_around(SMALL, score("loss", k=4, rate=0.7), 1e-9)
    assert "\n" not in str(refused.value)
