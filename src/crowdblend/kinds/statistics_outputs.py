"""Published statistics as a file: one row for each number, with the error it stays within."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from crowdblend.kinds.outputs import write_columns

Row = tuple[str, str | None, float, float]


def write_statistics(rows: Sequence[Row], path: Path) -> None:
    """The columns statistic, bin (empty for single numbers), value and error."""
    import pyarrow as pa  # noqa: PLC0415 - heavy

    names, bins, values, errors = zip(*rows, strict=True)
    columns = {
        "statistic": names,
        "bin": pa.array(bins, pa.string()),  # a text also where no statistic has bins
        "value": values,
        "error": errors,
    }
    write_columns(columns, path)
