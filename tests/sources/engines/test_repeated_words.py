"""Marks that come twice are found whether they are sorted at once or in parts."""

import numpy as np
import pytest

from crowdblend.sources.engines import persons
from crowdblend.sources.engines.class_counter import GrowingArray
from tests.cases import for_each


@for_each("bits", [24, 7, 0])
def test_words_that_come_again_are_found_in_every_part(bits: int) -> None:
    words = np.random.default_rng(1).integers(0, 1 << 64, 1_000, dtype=np.uint64)
    again = words[[3, 500, 997]]
    held: GrowingArray[np.uint64] = GrowingArray(np.uint64)
    held.extend(np.concatenate([words, again]))
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(persons, "_SORTED_BITS", bits)
        patched.setattr(persons, "_PIECE", 100)
        found = persons._repeated_words(held)
    assert sorted(found) == sorted(again)
