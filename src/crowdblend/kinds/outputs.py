"""Published classes as files: Parquet or CSV, the same bytes for the same publication."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from crowdblend.errors import InvalidInput
from crowdblend.mechanisms import PublishedClasses, PublishedPoints
from crowdblend.recoding import Axis

if TYPE_CHECKING:
    import pyarrow

# Rows per piece: a class of a hundred million equal rows is written in pieces, not at once.
PIECE = 1_000_000


def write_table(published: PublishedClasses, path: Path) -> None:
    """One row per published class, with its count."""
    columns = [*published.columns, "count"] + (["exact"] if published.exact is not None else [])

    def pieces() -> Iterator[list[Any]]:
        for start in range(0, max(len(published.counts), 1), PIECE):
            rows = slice(start, start + PIECE)
            piece = [*_labelled(published, published.codes[rows]), published.counts[rows]]
            yield piece if published.exact is None else [*piece, published.exact[rows]]

    _write(columns, pieces(), path)


def write_microdata(published: PublishedClasses, path: Path) -> None:
    """One row per published person, class by class: an order that does not depend on the input's."""

    def pieces() -> Iterator[list[Any]]:
        ends = np.cumsum(published.counts)
        total = int(ends[-1]) if len(ends) else 0
        for start in range(0, max(total, 1), PIECE):
            stop = min(start + PIECE, total)
            touched = slice(np.searchsorted(ends, start, side="right"), np.searchsorted(ends, stop, side="left") + 1)
            begins = ends[touched] - published.counts[touched]
            rows = np.minimum(ends[touched], stop) - np.maximum(begins, start)
            yield _labelled(published, np.repeat(published.codes[touched], rows, axis=0))

    _write(list(published.columns), pieces(), path)


def write_rows(columns: Sequence[str], labels: Sequence[tuple[str, ...]], codes: NDArray[np.int32], path: Path) -> None:
    """Rows as they come; the order must already say nothing."""

    def pieces() -> Iterator[list[Any]]:
        for start in range(0, max(len(codes), 1), PIECE):
            yield _coded(labels, codes[start : start + PIECE])

    _write(list(columns), pieces(), path)


def write_points(
    published: PublishedPoints, names: Sequence[str], axes: Sequence[tuple[str, Axis]], path: Path
) -> None:
    """One row per published point: what travels along, its block if that is shown, and its coordinates."""
    shown = [] if published.blocks is None else ["block"]
    columns = [*names, *shown, *(name for name, _ in axes)]

    def pieces() -> Iterator[list[Any]]:
        for start in range(0, max(published.points, 1), PIECE):
            rows = slice(start, start + PIECE)
            piece = _coded(published.labels, published.codes[rows])
            if published.blocks is not None:
                piece.append(published.blocks[rows])
            yield [
                *piece,
                *(axis.midpoints(cells[rows]) for cells, (_, axis) in zip(published.cells, axes, strict=True)),
            ]

    _write(columns, pieces(), path)


def _labelled(published: PublishedClasses, codes: np.ndarray[Any, Any]) -> list[Any]:
    return _coded(published.labels, codes)


def _coded(labels: Sequence[tuple[str, ...]], codes: np.ndarray[Any, Any]) -> list[Any]:
    """The labels of some rows, dictionary-coded so that each text is kept once."""
    import pyarrow as pa  # noqa: PLC0415  loaded only to write

    return [
        pa.DictionaryArray.from_arrays(pa.array(codes[:, place]), pa.array(known, pa.string()))
        for place, known in enumerate(labels)
    ]


def write_columns(columns: Mapping[str, Any], path: Path) -> None:
    """A small table of named columns."""
    import pyarrow as pa  # noqa: PLC0415

    _write(list(columns), iter([[pa.array(values) for values in columns.values()]]), path)


def _write(columns: list[str], pieces: Iterator[list[Any]], path: Path) -> None:
    """Arrays of equal length under their names, piece by piece; the file's ending is its format."""
    import pyarrow as pa  # noqa: PLC0415

    writer: Any = None
    try:
        for piece in pieces:
            batch = pa.record_batch(piece, names=columns)
            writer = writer or _open(path, batch.schema)
            writer.write(batch)
    except OSError as problem:
        raise InvalidInput(f"the release must fit on the disk, and writing it failed: {problem.strerror}.") from None
    finally:
        if writer is not None:
            writer.close()


def _open(path: Path, schema: pyarrow.Schema) -> Any:
    if path.suffix == ".csv":
        from pyarrow import csv  # noqa: PLC0415

        return csv.CSVWriter(str(path), schema)
    from pyarrow import parquet  # noqa: PLC0415

    # Without the Arrow schema readers see plain text, not the dictionary it is stored as.
    return parquet.ParquetWriter(str(path), schema, compression="zstd", version="2.6", store_schema=False)
