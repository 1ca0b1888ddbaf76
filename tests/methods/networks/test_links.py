"""Links become a simple network, or are refused in one sentence."""

import numpy as np
import pyarrow as pa
import pytest

from crowdblend.errors import InvalidInput
from crowdblend.methods.networks import network
from crowdblend.methods.networks.links import number_people
from tests.refusals import refuses


def test_links_are_in_order_with_the_smaller_number_first() -> None:
    rng = np.random.default_rng(1)
    pairs = {tuple(sorted(map(int, pair))) for pair in rng.integers(0, 40, (120, 2)) if pair[0] != pair[1]}
    order = rng.permutation(np.array(sorted(pairs)))
    flipped = np.where(rng.integers(0, 2, len(order))[:, None], order, order[:, ::-1])
    found = network(40, flipped[:, 0], flipped[:, 1])
    assert list(zip(found.low.tolist(), found.high.tolist(), strict=True)) == sorted(pairs)
    assert found.degrees.tolist() == [sum(person in pair for pair in pairs) for person in range(40)]


@pytest.mark.parametrize(("source", "target", "word"), [([0, 1], [1, 1], "self_loops"), ([0, 1], [1, 0], "duplicates")])
def test_loops_and_repeats_are_refused_or_dropped(source: list[int], target: list[int], word: str) -> None:
    with pytest.raises(InvalidInput, match=word):
        network(3, np.array(source), np.array(target))
    found = network(3, np.array(source), np.array(target), self_loops="drop", duplicates="drop")
    assert (found.low.tolist(), found.high.tolist()) == ([0], [1])


def test_a_network_may_have_no_links() -> None:
    found = network(3, np.array([], np.int64), np.array([], np.int64))
    assert found.degrees.tolist() == [0, 0, 0]


def test_people_who_are_listed_are_counted_with_or_without_links() -> None:
    ends = pa.chunked_array([[3, 5]]), pa.chunked_array([[5, 7]])
    people, source, target = number_people(*ends, pa.array([7, 4, 5, 3]))
    assert (people, source.tolist(), target.tolist()) == (4, [3, 2], [2, 0])
    assert number_people(*ends)[0] == 3
    with refuses("data.unknown-person"):
        number_people(*ends, pa.array([3, 4, 5]))
