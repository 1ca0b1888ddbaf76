import weakref

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crowdblend.engines import class_counter
from crowdblend.engines.class_counter import GrowingArray
from tests.refusals import refuses

LOOK = st.sampled_from(["view", "sorted", "nothing", "clear", "emptied"])


@given(st.lists(st.tuples(st.lists(st.integers(0, 2**32 - 1), max_size=40), LOOK), max_size=12), st.integers(0, 60))
def test_a_growing_array_is_as_a_list(steps, coming):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(class_counter, "_LEAST", 2)
        patch.setattr(class_counter, "_BLOCK", 44)  # 11 values
        growing, expected = GrowingArray(np.uint32, None, coming), []
        for values, look in steps:
            growing.extend(np.array(values, dtype=np.uint32))
            expected += values
            if look == "view":
                assert growing.view().tolist() == expected
            elif look == "sorted":
                expected.sort()
                assert growing.sorted().tolist() == expected
            elif look == "emptied":
                parts = [part.tolist() for part in growing.emptied()]
                assert all(len(part) <= 11 for part in parts)
                assert [value for part in reversed(parts) for value in part] == expected
            if look in ("clear", "emptied"):
                growing.clear()
                expected = []
            assert len(growing) == len(expected)
        assert growing.view().tolist() == expected
        assert growing.view().dtype == np.uint32


def test_a_block_is_forgotten_when_the_next_one_comes():
    growing, before = GrowingArray(np.uint64), []
    growing.extend(np.zeros(100_000, dtype=np.uint64))
    for block in growing.emptied():
        assert all(earlier() is None for earlier in before)
        before.append(weakref.ref(block if block.base is None else block.base))
    assert len(before) > 5


def test_the_values_that_are_expected_lie_in_one_block():
    growing = GrowingArray(np.uint64, None, 100_000)
    growing.extend(np.arange(100_000, dtype=np.uint64))
    assert len(growing._blocks) == 1


def test_a_growing_array_refuses_what_does_not_fit():
    growing = GrowingArray(np.uint64, memory_limit=800)
    growing.extend(np.zeros(60, dtype=np.uint64))
    growing.extend(np.zeros(40, dtype=np.uint64))
    with refuses("data.memory"):
        growing.extend(np.zeros(1, dtype=np.uint64))
