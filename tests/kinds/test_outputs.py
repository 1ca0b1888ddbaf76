"""Published files have the bytes that Arrow's own defaults give, however many rows are encoded at once."""

import numpy as np
import pyarrow as pa
from pyarrow import parquet

from crowdblend.mechanisms import PublishedClasses
from crowdblend.releases import outputs
from crowdblend.releases.outputs import RecordsOutput
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
    assert all(outputs._labels(column) <= outputs._FEW_LABELS for column in first.columns) == at_once
    output.write(tmp_path)
    assert (tmp_path / "data.parquet").read_bytes() == with_defaults(published, tmp_path / "defaults.parquet")
