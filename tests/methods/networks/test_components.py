"""Components against scipy's breadth-first search, on shapes that are easy to get wrong."""

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from crowdblend.methods.networks import network
from crowdblend.methods.networks.exact import components
from tests.cases import for_each


def shapes() -> dict[str, tuple[int, np.ndarray]]:
    rng, n = np.random.default_rng(1), 3000
    order = rng.permutation(n)
    chain = np.arange(n - 1)
    return {
        "path in order": (n, np.column_stack([chain, chain + 1])),
        "path out of order": (n, np.column_stack([order[:-1], order[1:]])),
        "star with the last as its centre": (n, np.column_stack([chain, np.full(n - 1, n - 1)])),
        "star with the first as its centre": (n, np.column_stack([np.zeros(n - 1, int), chain + 1])),
        "star with one in the middle": (n, np.array([(1500, i) for i in range(n) if i != 1500])),
        "few links": (n, rng.integers(0, n, (600, 2))),
        "half as many links as people": (n, rng.integers(0, n, (n // 2, 2))),
        "many links": (n, rng.integers(0, n, (9000, 2))),
        "two hubs": (n, np.array([(i % 2, i) for i in range(2, n)])),
        "a binary tree": (n, np.array([(i, (i - 1) // 2) for i in range(1, n)])),
        "a grid": (2500, np.array([(i, i + s) for i in range(2450) for s in (1, 50) if s == 50 or i % 50 != 49])),
        "no links": (4, np.empty((0, 2), int)),
    }


def assert_found_as_by_a_search(n: int, ends: np.ndarray) -> None:
    """The same partition, whatever the numbers: pairs of numbers are as many as components."""
    count, parts = components(network(n, ends[:, 0], ends[:, 1], self_loops="drop", duplicates="drop"))
    matrix = coo_array((np.ones(len(ends)), (ends[:, 0], ends[:, 1])), shape=(n, n))
    expected, labels = connected_components(matrix, directed=False)
    assert count == expected == len(np.unique(np.column_stack([parts, labels]), axis=0)) == len(np.unique(parts))


@for_each("name", shapes())
def test_components_are_those_of_a_search(name: str) -> None:
    assert_found_as_by_a_search(*shapes()[name])


def test_many_random_networks() -> None:
    rng = np.random.default_rng(3)
    for _ in range(200):
        n = int(rng.integers(2, 40))
        assert_found_as_by_a_search(n, rng.integers(0, n, (int(rng.integers(0, 2 * n)), 2)))
