import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crowdblend.sources.engines import class_counter
from crowdblend.sources.engines.class_counter import GrowingArray
from tests.refusals import refuses

LOOK = st.sampled_from(["view", "sorted", "nothing", "clear"])


@pytest.fixture(autouse=True, scope="module")
def small_blocks():
    """Blocks so small that a few numbers fill several."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(class_counter, "_LEAST", 2)
        patch.setattr(class_counter, "_BLOCK", 40)
        yield


@given(st.lists(st.tuples(st.lists(st.integers(0, 2**32 - 1), max_size=40), LOOK), max_size=12))
def test_a_growing_array_is_as_a_list(steps):
    growing, expected = GrowingArray(np.uint32), []
    for values, look in steps:
        growing.extend(np.array(values, dtype=np.uint32))
        expected += values
        if look == "view":
            assert growing.view().tolist() == expected
        elif look == "sorted":
            expected.sort()
            assert growing.sorted_items().tolist() == expected
        elif look == "clear":
            growing.clear()
            expected = []
        assert len(growing) == len(expected)
        assert [each for piece in growing.pieces(7) for each in piece.tolist()] == expected
    assert growing.view().tolist() == expected
    assert growing.view().dtype == np.uint32


def test_a_growing_array_refuses_what_does_not_fit():
    growing = GrowingArray(np.uint64, memory_limit=800)
    growing.extend(np.zeros(60, dtype=np.uint64))
    growing.extend(np.zeros(40, dtype=np.uint64))
    with refuses("data.memory"):
        growing.extend(np.zeros(1, dtype=np.uint64))
