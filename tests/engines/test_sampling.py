"""Exactly k people, those with the smallest marks."""

import numpy as np
import pyarrow as pa

from crowdblend.engines.sampling import random_places, smallest_marks
from crowdblend.randomness import DrawKey
from tests.cases import for_each
from tests.randomness.goodness import fits_share


def drawn(marks: np.ndarray, samples: int, batch: int = 3) -> list[int]:
    rows = np.arange(len(marks))
    batches = [
        (pa.record_batch([pa.array(rows[at : at + batch])], names=["row"]), marks[at : at + batch])
        for at in range(0, len(marks), batch)
    ]
    return [row for table in smallest_marks(iter(batches), samples) for row in table.column("row").to_pylist()]


@for_each("top", [3, 2**64])
@for_each("samples", [1, 5, 19, 20, 30])
def test_the_smallest_marks_are_drawn_also_where_high_words_agree(top: int, samples: int) -> None:
    rng = np.random.default_rng(samples)
    low, high = (rng.integers(0, most, 20, dtype=np.uint64, endpoint=True) for most in (2**64 - 1, top - 1))
    marks = np.stack([low, high], axis=1)
    whole = [int(high) << 64 | int(low) for low, high in marks]
    assert sorted(drawn(marks, samples)) == sorted(sorted(range(20), key=whole.__getitem__)[:samples])


def test_nobody_is_drawn_from_nothing() -> None:
    assert list(smallest_marks(iter([]), 3)) == []


def test_random_places_are_all_different_in_order_and_equally_likely() -> None:
    """False alarm: 1e-9 for each of ten places."""
    runs, counts = 3000, np.zeros(10, dtype=int)
    for run in range(runs):
        places = random_places(4, 10, DrawKey(run.to_bytes(32, "big")))
        assert (np.diff(places) > 0).all()
        counts[places] += 1
    assert all(fits_share(int(count), runs, 0.4) for count in counts)
