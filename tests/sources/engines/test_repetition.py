from contextlib import contextmanager

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crowdblend.sources.engines import persons
from crowdblend.sources.engines.array_memory import ArrayMemory
from crowdblend.sources.engines.class_counter import GrowingArray
from crowdblend.sources.engines.persons import Repetition
from tests.cases import for_each
from tests.refusals import refuses

LEAST, MOST = -(2**63), 2**63 - 1
ROOMS = for_each("memory_limit", [None, 64_000])
FIRSTS = for_each("first", [LEAST, -(2**62), -(2**32), -(2**31), -1, 0, 2**31, 2**32 - 1, 2**62])


@pytest.fixture(autouse=True, scope="module")
def quick():
    """A window that is gone through quickly."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(persons, "_WINDOW", 1 << 16)
        yield


def repeats(*batches, memory_limit=None, size=0):
    seen = Repetition(ArrayMemory(memory_limit), size)
    for numbers in batches:
        seen.add(np.array(numbers, dtype=np.int64))
    return seen.found()


@contextmanager
def small_pieces():
    """Windows and pieces so small that a few numbers fill several."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(persons, "_WINDOW", 50)
        patch.setattr(persons, "_PIECE", 7)
        yield


@ROOMS
@FIRSTS
@for_each("span", [2**32 - 1, 2**32, 2**61])
def test_numbers_far_apart(first, span, memory_limit):
    low, high = first, first + span
    for batches in ([[low, high]], [[high, low]], [[low], [high]], [[high], [low]], [[low, low + 1], [high - 1, high]]):
        assert not repeats(*batches, memory_limit=memory_limit)
        for again in {number for numbers in batches for number in numbers}:
            assert repeats(*batches, [again], memory_limit=memory_limit)
            assert repeats([again], *batches, memory_limit=memory_limit)


@ROOMS
@for_each("far", [2**31, 2**32, 2**62, LEAST, MOST])
@for_each("side", [1, -1])
def test_a_repetition_is_kept_when_numbers_come_from_further_away(far, side, memory_limit):
    """First near each other, then listed; the same twice before, between and after."""
    near, further, furthest = [5, 6, 7], [side * 2**30, side * (2**30 + 1)], [far, far - 3 if far > 0 else far + 3]
    stages = [near, further, furthest]
    assert not repeats(*stages, memory_limit=memory_limit)
    for stage in stages:
        for place in range(4):
            assert repeats(*stages[:place], [stage[0]], *stages[place:], memory_limit=memory_limit)
    for place in range(3):
        assert repeats(*stages[:place], [9, 9], *stages[place:], memory_limit=memory_limit)


EDGES = [0, 2**31, 2**32, 2**33, 2**62, MOST - 40, LEAST + 40, -(2**31), -(2**32)]
NUMBERS = st.builds(lambda edge, step: edge + step, st.sampled_from(EDGES), st.integers(-40, 40))


@given(st.lists(st.lists(NUMBERS, max_size=30), max_size=6), st.sampled_from([None, 4000]), st.sampled_from([0, 3, 9]))
def test_it_is_as_a_set_says(batches, memory_limit, size):
    listed = [number for numbers in batches for number in numbers]
    truth = len(set(listed)) < len(listed)
    assert repeats(*batches, memory_limit=memory_limit) == truth
    with small_pieces():
        assert repeats(*batches, memory_limit=memory_limit, size=size) == truth


@given(st.lists(NUMBERS, min_size=1, max_size=150, unique=True), st.integers(1, 40), st.data())
def test_different_numbers_and_one_of_them_again(numbers, size, data):
    batches = [numbers[start : start + size] for start in range(0, len(numbers), size)]
    again = data.draw(st.sampled_from(numbers))
    place = data.draw(st.integers(0, len(batches)))
    with small_pieces():
        assert not repeats(*batches)
        assert repeats(*batches[:place], [again], *batches[place:])


def test_many_numbers_are_found_without_a_list_of_them():
    """Where they are many, a bit for each number in between is enough."""
    for size, near in ((0, False), (10**8, True)):
        seen = Repetition(ArrayMemory(), size)
        seen.add(np.array([5, 2**28]))
        assert (seen._near is not None) == near
        assert not seen.found()
        seen.add(np.array([5]))
        assert seen.found()


def test_many_numbers_in_real_sizes():
    numbers = np.arange(300_000) * 14_316 % (2**32 - 5) - 2**31
    assert not repeats(numbers[:100_000], numbers[100_000:])
    assert repeats(numbers[:100_000], numbers[100_000:], numbers[131_071:131_072])
    assert not repeats(numbers, [2**40])
    assert repeats(numbers, [2**40], numbers[-1:])


def test_more_than_the_memory_is_refused():
    # Four bytes for each while 32 bits tell them apart, eight for each where they do not.
    assert not repeats(np.arange(1000) * 4_000_000, memory_limit=4000)
    with refuses("data.memory"):
        repeats(np.arange(1001) * 4_000_000, memory_limit=4000)
    with refuses("data.memory"):
        repeats(np.arange(500) * 4_000_000, [2**40], memory_limit=4000)


@given(
    st.lists(
        st.builds(lambda upper, lower: (upper << 32) + lower, st.integers(0, 3), st.integers(0, 3))
        | st.integers(0, 2**64 - 1)
    )
)
def test_words_that_come_again_agree_in_both_halves(words):
    growing = GrowingArray(np.uint64)
    growing.extend(np.array(words, np.uint64))
    with small_pieces():
        found = persons._repeated_words(growing).tolist()
    assert sorted({*found}) == sorted({word for word in words if words.count(word) > 1})
