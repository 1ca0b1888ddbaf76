"""Ladders nest, lattices are refused in one sentence, and losses are ARX's."""

import numpy as np
import pytest

from crowdblend.errors import InvalidInput
from crowdblend.methods.selection.lattice import Ladder, Lattice
from tests.cases import for_each

from .tables import FIXED, PLACE, SMALL, THREE, ladder, nodes


def test_nodes_in_order() -> None:
    assert [SMALL.node(place) for place in range(SMALL.size)] == nodes(SMALL)
    assert (SMALL.shape, THREE.size) == ((3, 2), 6)


def test_loss_counts_values_not_classes() -> None:
    coarse = Ladder("x", (np.arange(2), np.zeros(2, int)), leaves=np.array([3, 1]))
    assert coarse.loss(0).tolist() == [2 / 3, 0.0]
    assert coarse.loss(1).tolist() == [1.0]
    assert PLACE.kept_parts(1).tolist() == [667, 667]
    assert ladder("one", [0], [0]).loss(1).tolist() == [0.0]


def test_ranks_put_every_class_in_one_piece() -> None:
    ranks, steps, _ = PLACE.ranks
    assert sorted(ranks.tolist()) == [0, 1, 2, 3]
    for level, step in enumerate(steps):
        assert (np.diff(step) >= 0).all()
        for a in range(4):
            for b in range(4):
                same = PLACE.maps[level][a] == PLACE.maps[level][b]
                assert same == (step[ranks[a]] == step[ranks[b]])


@for_each(
    ("make", "says"),
    [
        (lambda: ladder("x", [0, 1, 2], [0, 0, 1], [0, 1, 1]), "must nest"),
        (lambda: ladder("x", [0, 1, 2], [0, 0]), "must nest"),
        (lambda: ladder("x", [0, 0, 1]), "must keep every class"),
        (lambda: ladder("x"), "at least one level"),
        (lambda: ladder("x", [0, 1], weight=-1), "weight"),
        (lambda: Lattice(()), "at least two recodings"),
        (lambda: Lattice((FIXED,)), "at least two recodings"),
        (lambda: Lattice((ladder("x", [0, 1], [0, 0], weight=0),)), "not all be 0"),
    ],
)
def test_refusals(make, says: str) -> None:
    with pytest.raises(InvalidInput, match=says) as refused:
        make()
    assert "\n" not in str(refused.value)
