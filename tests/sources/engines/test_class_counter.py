import gc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crowdblend.sources.engines import class_counter
from crowdblend.sources.engines.array_memory import ArrayMemory
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
    growing = GrowingArray(np.uint64, ArrayMemory(800))
    growing.extend(np.zeros(60, dtype=np.uint64))
    growing.extend(np.zeros(40, dtype=np.uint64))
    with refuses("data.memory"):
        growing.extend(np.zeros(1, dtype=np.uint64))


def test_arrays_share_one_memory_and_give_it_back():
    memory = ArrayMemory(800)
    first, second = GrowingArray(np.uint64, memory), GrowingArray(np.uint32, memory)
    first.extend(np.zeros(60, dtype=np.uint64))
    with refuses("data.memory"):
        second.extend(np.zeros(81, dtype=np.uint32))
    second.extend(np.zeros(80, dtype=np.uint32))
    first.clear()
    second.extend(np.zeros(120, dtype=np.uint32))
    assert memory.held == 800
    del first, second
    gc.collect()  # the refusal has a traceback with both
    assert memory.held == 0


@pytest.mark.parametrize(("rows", "times"), [(100, 500), (1_200, 10)])
def test_many_rows_of_few_classes_need_little_memory(rows, times):
    counter = class_counter.ClassCounter(2, None, ArrayMemory(64_000))
    codes = np.arange(rows) % 7
    for _ in range(times):
        counter.add((codes, codes))
    assert counter.counts()[1].sum() == times * rows
