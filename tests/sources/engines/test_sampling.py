"""Exactly k people, those with the smallest marks; classes of people who have no names, thinned."""

import math
from fractions import Fraction
from pathlib import Path

import numpy as np
import pyarrow as pa

from crowdblend.methods.designs.draw import Everybody, Part, StratifiedCoin
from crowdblend.methods.mechanisms.mechanism import SampledClasses
from crowdblend.policies.columns import Column
from crowdblend.policies.resources import Resources
from crowdblend.sources.engines.duckdb.database import database
from crowdblend.sources.engines.sampling import random_places, smallest_marks, thin_classes
from crowdblend.trusted.randomness import DrawKey
from tests.cases import for_each
from tests.trusted.randomness.goodness import fits_share


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


def test_strata_are_thinned_with_bits_of_their_own() -> None:
    """Alike by chance once in 2^100: everybody is alone in a class, and one rate is a hair above the other."""
    codes = np.array([(stratum, label) for stratum in range(2) for label in range(100)], np.int32)
    labels = ("a", "b"), tuple(map(str, range(100)))
    alone = SampledClasses(("stratum", "label"), labels, codes, np.ones(200, np.int64))
    columns = [Column.of(name, own) for name, own in zip(alone.columns, labels, strict=True)]
    draw = StratifiedCoin(DrawKey(bytes(32)), "stratum", (0.5, math.nextafter(0.5, 1)))
    left = thin_classes(columns, alone, draw)
    kept = [set(left.codes[left.codes[:, 0] == stratum, 1].tolist()) for stratum in range(2)]
    assert kept[0]
    assert kept[0] != kept[1]


def test_two_parts_of_people_without_names_are_everybody() -> None:
    crowd = SampledClasses(("label",), (("a", "b"),), np.array([[0], [1]], np.int32), np.array([400, 600]))
    ends = [(Fraction(0), Fraction(1, 4)), (Fraction(1, 4), Fraction(1))]
    parts = [Everybody(part=Part(DrawKey(bytes(32)), *each)) for each in ends]
    first, second = (thin_classes([Column.of("label", ("a", "b"))], crowd, part).counts for part in parts)
    assert (first + second == crowd.counts).all()
    assert 150 < first.sum() < 350  # seven deviations


def test_the_database_installs_nothing(tmp_path: Path) -> None:
    with database(Resources(), tmp_path) as connection:
        setting = "SELECT current_setting('autoinstall_known_extensions')"
        assert connection.execute(setting).fetchall() == [(False,)]
