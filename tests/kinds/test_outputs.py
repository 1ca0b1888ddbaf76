"""Published files have the bytes that Arrow's own defaults give, and what is said of them is what they hold."""

from dataclasses import replace

import numpy as np
import pyarrow as pa
from pyarrow import parquet

from crowdblend.kinds.shared import data_formats, outputs
from crowdblend.kinds.shared.outputs import PointsOutput, RecordsOutput
from crowdblend.methods.estimates.estimator import Intervals
from crowdblend.methods.mechanisms import PublishedClasses, PublishedPoints
from crowdblend.methods.recoding.axes import Axis
from crowdblend.reading import cells
from crowdblend.reading.cells import open_cells
from crowdblend.reading.data_file import DataFile
from crowdblend.reading.reports.places import read_places
from tests.cases import for_each

PIECE = 150_000


def classes(labels: tuple[str, ...], people: int) -> PublishedClasses:
    """Every label with both values of a second column, in order of code."""
    codes = np.array([(code, half) for code in range(len(labels)) for half in (0, 1)], np.int32)
    counts = np.arange(len(codes), dtype=np.int64) % 7 + people // len(codes)
    return PublishedClasses(("label", "half"), (labels, ("no", "yes")), codes, counts)


def with_defaults(published: PublishedClasses, path) -> bytes:
    """The same rows written with plain codes and without a word about batches."""
    rows = np.repeat(published.codes, published.counts, axis=0)
    writer = None
    for start in range(0, len(rows), PIECE):
        columns = [
            pa.DictionaryArray.from_arrays(pa.array(rows[start : start + PIECE, place]), pa.array(known))
            for place, known in enumerate(published.labels)
        ]
        batch = pa.record_batch(columns, names=published.columns)
        writer = writer or parquet.ParquetWriter(
            path, batch.schema, compression="zstd", version="2.6", store_schema=False
        )
        writer.write(batch)
    writer.close()
    return path.read_bytes()


@for_each(
    ("labels", "at_once"),
    [
        (tuple(f"label {at:03d}" for at in range(128)), True),
        (tuple(f"label {at:03d}" for at in range(129)), False),
        (tuple(f"label {at:05d}" for at in range(40_000)), False),  # longer codes
        (tuple(f"{at:03d}" + "x" * 20_000 for at in range(60)), True),  # more than the writer puts into a dictionary
    ],
)
def test_records_have_the_bytes_of_the_defaults(tmp_path, monkeypatch, labels, at_once) -> None:
    monkeypatch.setattr(outputs, "PIECE", PIECE)
    published = classes(labels, 400_000 if at_once else 200_000)
    output = RecordsOutput("data.parquet", published)
    first = pa.record_batch(next(output.pieces()), names=output.header)
    assert all(data_formats._labels(column) <= data_formats._FEW_LABELS for column in first.columns) == at_once
    output.write(tmp_path)
    assert (tmp_path / "data.parquet").read_bytes() == with_defaults(published, tmp_path / "defaults.parquet")


class NoLaws:
    """Nothing is said about the population."""

    stratum = None

    def intervals(self, counts: np.ndarray, *_: object) -> Intervals:
        nothing = np.full(len(counts), -1)
        return Intervals(np.full(len(counts), np.nan), nothing, nothing)


@for_each("ending", ["csv", "parquet"])
@for_each("rows", [0, 1, 90_000])
def test_places_are_those_of_the_file(tmp_path, ending, rows) -> None:
    """Also a place that goes on with the next label, which is one with the one before."""
    generator = np.random.default_rng(rows)
    drawn = np.column_stack([generator.integers(0, 2, rows), *generator.integers(-9, 300, (2, rows))])
    drawn[: rows // 3, 1:] = 7
    different, counts = np.unique(drawn, axis=0, return_counts=True)
    labels, *cells = different.T
    published = PublishedPoints((("a", "b"),), labels[:, None].astype(np.int32), None, tuple(cells), counts)
    axes = (("x", Axis(-1, 4, 0.1)), ("y", Axis(0, 9, 3)))
    output = PointsOutput(f"data.{ending}", published, ("label",), axes, NoLaws())
    output.write(tmp_path)
    known, read = output.places(), read_places(DataFile(tmp_path / output.file), ["x", "y"])
    assert read.points == rows
    assert all(map(np.array_equal, (*known.axes, known.counts), (*read.axes, read.counts)))


@for_each("ending", ["csv", "parquet"])
def test_classes_are_those_that_the_file_gives(tmp_path, monkeypatch, ending) -> None:
    monkeypatch.setattr(cells, "PIECE", 100)
    published = classes(tuple(f"{at:03d}" + (', "É"' if at % 3 else "") for at in range(200)), 3_000)
    RecordsOutput(f"data.{ending}", published).write(tmp_path)
    file = open_cells(DataFile(tmp_path / f"data.{ending}"), counted=False)
    known, read = list(replace(file, classes=published).pieces()), list(file.pieces())
    assert [piece.num_rows for piece in known] == [piece.num_rows for piece in read] == [100] * 4
    every = [("0", "ascending"), ("1", "ascending")]  # Arrow counts rows by classes in an order of its own
    assert pa.concat_tables(known).equals(pa.concat_tables(read).sort_by(every).combine_chunks())
