"""Records counted from bytes: as the csv module counts them, whatever the blocks, or refused."""

import csv
import gzip
import io
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from crowdblend.errors import InvalidInput
from crowdblend.sources.engines import csv_records
from crowdblend.sources.engines.csv_records import count_records
from tests.cases import for_each
from tests.refusals import refuses

FIELDS = st.text(st.sampled_from('ab,;"\n\r é\x0b'), max_size=5)
ROWS = st.lists(st.tuples(FIELDS, FIELDS), min_size=1, max_size=12)


def quoted(field: str, always: bool) -> str:
    """The field as it is written, between quotation marks where it has to be."""
    return '"' + field.replace('"', '""') + '"' if always or set(field) & set('",\n\r') else field


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    rows=ROWS,
    line_end=st.sampled_from(["\n", "\r\n", "\r"]),
    always=st.booleans(),
    block=st.integers(1, 40),
    last=st.booleans(),
    blank=st.integers(0, 3),
)
def test_records_are_those_of_the_csv_module(
    tmp_path: Path, rows: list[tuple[str, str]], line_end: str, always: bool, block: int, last: bool, blank: int
) -> None:
    text = "".join(",".join(quoted(field, always) for field in row) + line_end for row in rows) + blank * line_end
    assert [tuple(row) for row in csv.reader(io.StringIO(text, newline="")) if row] == rows
    file = tmp_path / "rows.csv"
    file.write_bytes((text if last else text.removesuffix(line_end)).encode())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(csv_records, "_BLOCK", block)
        found = count_records(file, ",", 2)
    assert found.records == len(rows)
    assert found.delimiters == len(rows)
    assert found.line_end in (line_end, None)
    assert found.quoted_line_ends == any("\n" in field or "\r" in field for row in rows for field in row)


REFUSED = {
    "different line ends": b"a,b\n1,2\r\n3,4\n",
    "different line ends, CR": b"a,b\n1,2\r3,4\n",
    "CR in a field": b"a,b\n1,2\rx\n3,4\n",
    "open quote": b'a,b\n1,"2\n3,4\n',
    "quote inside": b'a,b\n1,5" x\n3,4\n',
    "quotes inside": b'a,b\n1,a "q" b\n3,4\n',
    "after a quote": b'a,b\n1,"2"x\n3,4\n',
    "space before a quote": b'a,b\n1, "2"\n3,4\n',
    "zero byte": b"a,b\n1\x002,2\n",
    "zero bytes at the end": b"a,b\n1,2\n\0\0\0",
    "fewer fields": b"a,b\n1,2\n3\n",
    "more fields": b"a,b\n1,2\n3,4,5\n",
    "a delimiter more in every line": b"a,b\n1,2,\n3,4,\n",
}


@for_each("block", [1, 2, 3, 1 << 20])
@for_each("case", REFUSED)
def test_what_has_no_single_reading_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, case: str, block: int
) -> None:
    monkeypatch.setattr(csv_records, "_BLOCK", block)
    (tmp_path / "rows.csv").write_bytes(REFUSED[case])
    with pytest.raises(InvalidInput):
        count_records(tmp_path / "rows.csv", ",", 2)


@for_each("block", [1, 2, 1 << 20])
@for_each("end", [b"\n", b"\r\n", b"\r"])
@for_each("text", [b"a#1##3#", b"a#1#3##", b"a##1#"])
def test_blank_lines_of_a_single_column_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: bytes, end: bytes, block: int
) -> None:
    monkeypatch.setattr(csv_records, "_BLOCK", block)
    file = tmp_path / "rows.csv"
    file.write_bytes(text.replace(b"#", end))
    with refuses("data.blank-lines"):
        count_records(file, ",", 1)
    file.write_bytes(text.replace(b"##", b'#""#').replace(b"#", end))
    assert count_records(file, ",", 1).records == text.count(b"#")


def test_damaged_compressed_files_are_refused(tmp_path: Path) -> None:
    import pyarrow as pa

    text = b"a,b\n" + b"".join(b"%d,%d\n" % (i, i * i) for i in range(5000))
    packed, file = gzip.compress(text), tmp_path / "rows.csv.gz"
    file.write_bytes(packed)
    assert count_records(file, ",", 2).records == 5001
    wrong = bytearray(packed)
    wrong[-6] ^= 1  # in the checksum
    for damaged in (bytes(wrong), packed[:-9], packed[: len(packed) // 2]):
        file.write_bytes(damaged)
        with refuses("data.damaged-file"):
            count_records(file, ",", 2)
    other = tmp_path / "rows.csv.zst"
    squeezed = pa.compress(text, "zstd", asbytes=True)
    other.write_bytes(squeezed)
    assert count_records(other, ",", 2).records == 5001
    for damaged in (squeezed[:-1], squeezed[: len(squeezed) // 2]):
        other.write_bytes(damaged)
        with refuses("data.damaged-file"):
            count_records(other, ",", 2)
