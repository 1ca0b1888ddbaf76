"""Few rows are filtered and looked up one by one, and come out as Arrow's functions have them."""

import numpy as np
import pyarrow as pa
import pytest

from crowdblend.sources.engines.duckdb import coding, rows

TEXTS = pa.array(["a", None, "", "ä", "b", "a"])
WHOLE = pa.array([1, None, -(2**63), 2**63 - 1, 0, 7])
FRACTIONS = pa.array([0.1, float("nan"), None, float("-inf"), -0.0, 5e-324])
DATES = pa.array([0, 1, None, 3, 4, 5], pa.timestamp("ns"))
KEPT = np.array([0, 1, 3, 4])


def found() -> list[str]:
    few = pa.RecordBatch.from_arrays([TEXTS, WHOLE, FRACTIONS], ["text", "number", "fraction"])
    others = pa.RecordBatch.from_arrays([TEXTS, DATES], ["text", "date"])
    codes = coding._look_up(pa.chunked_array([TEXTS]), pa.array(["b", "a"]), pa.array([4, 7], pa.int32()))
    kept = [rows.rows_at(few, KEPT), rows.rows_at(others, KEPT), rows.rows_at(few, KEPT[:0])]
    return [f"{one.schema} {[column.to_string() for column in one]}" for one in kept] + [
        f"{codes.type} {codes.to_pylist()}"
    ]


def test_few_rows_come_out_as_many_do(monkeypatch: pytest.MonkeyPatch) -> None:
    one_by_one = found()
    assert one_by_one[-1] == "int32 [7, None, None, None, 4, 7]"
    for module in (rows, coding):
        monkeypatch.setattr(module, "FEW_ROWS", 0)
    assert found() == one_by_one
