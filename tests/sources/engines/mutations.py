"""Source files from a small grammar, most of them with something odd: what an exporter, an editor or a copy does."""

import gzip
import random
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyarrow import parquet

TEXTS = ["F", "M", "", " ", "é", "x,y", "a;b", 'say "no"', "two\nlines", "three\r\nlines", "12", "NULL", "1_0", "٣"]
ODD = ["plain"] * 6 + [
    "mixed line ends",
    "blank line",
    "short line",
    "long line",
    "trailing delimiters",
    "zero byte",
    "stray quote",
    "space before a quote",
    "open quote",
    "latin-1",
    "utf-16",
    "twice the header",
    "two columns of a name",
    "no final line end",
    "line end in the header",
    "only a header",
    "cut off",
]


def write_csv(folder: Path, draw: random.Random) -> tuple[str, str]:
    """One to three CSV files in the folder; their ending, and their delimiter."""
    delimiter = draw.choice([",", ",", ";", "\t", "|"])
    packed = draw.choice(["", "", "", ".gz", ".zst"])
    header_end = draw.random() < 0.1
    number = 0
    for file in range(draw.choice([1, 1, 1, 2, 3])):
        rows = [
            (str(number + row), draw.choice(TEXTS), draw.choice(TEXTS), draw.choice(TEXTS))
            for row in range(draw.choice([1, 2, 5, 40]))
        ]
        number += len(rows)
        content = _csv(rows, delimiter, header_end, draw)
        if packed == ".gz":
            content = gzip.compress(content)
        elif packed == ".zst":
            content = pa.compress(content, "zstd", asbytes=True)
        if packed and draw.random() < 0.2:
            content = content[: draw.randrange(1, len(content))] if draw.random() < 0.5 else _flipped(content, draw)
        (folder / f"{file}.csv{packed}").write_bytes(content)
    return f".csv{packed}", delimiter


def _csv(rows: list[tuple[str, ...]], delimiter: str, header_end: bool, draw: random.Random) -> bytes:
    odd, end, always = draw.choice(ODD), draw.choice(["\n", "\n", "\r\n", "\r"]), draw.random() < 0.3

    def quoted(field: str) -> str:
        needs = always or any(mark in field for mark in (delimiter, '"', "\n", "\r")) or draw.random() < 0.1
        return '"' + field.replace('"', '""') + '"' if needs else field

    note = '"no\nte"' if header_end or odd == "line end in the header" else "note"
    header = ["id", "sex", "sex" if odd == "two columns of a name" else "zip", note]
    lines = [delimiter.join(header)] + [delimiter.join(map(quoted, row)) for row in rows]
    at = draw.randrange(1, len(lines))
    if odd == "blank line":
        lines.insert(at, "")
    elif odd == "short line":
        lines[at] = lines[at].partition(delimiter)[0]
    elif odd == "long line":
        lines[at] += delimiter + "more"
    elif odd == "trailing delimiters":
        lines[1:] = [line + delimiter for line in lines[1:]]
    elif odd == "zero byte":
        lines[at] += "\0"
    elif odd == "stray quote":
        lines[at] += '5" x'
    elif odd == "space before a quote":
        lines[at] = lines[at].rpartition(delimiter)[0] + delimiter + ' "q"'
    elif odd == "open quote":
        lines[at] = lines[at].rpartition(delimiter)[0] + delimiter + '"open'
    elif odd == "twice the header":
        lines.insert(at, lines[0])
    elif odd == "only a header":
        del lines[1:]
    text = end.join(lines) + ("" if odd == "no final line end" else end)
    if odd == "mixed line ends":
        text = lines[0] + draw.choice(["\n", "\r\n", "\r"]) + end.join(lines[1:]) + end
    if odd == "cut off":
        text = text[: draw.randrange(1, len(text))]
    mark = "\ufeff" if draw.random() < 0.2 else ""
    return (mark + text).encode({"latin-1": "latin-1", "utf-16": "utf-16"}.get(odd, "utf-8"), "replace")


def write_parquet(folder: Path, draw: random.Random) -> None:
    """One to three Parquet files in the folder, perhaps in a folder that is called like a column."""
    below = folder / draw.choice([".", ".", "sex=M", "year=2025"])
    below.mkdir(exist_ok=True)
    kinds, number = (draw.choice(IDS), draw.choice(SEXES), draw.choice(AGES)), 0
    for file in range(draw.choice([1, 1, 2, 3])):
        rows = draw.choice([1, 2, 5, 40])
        some = kinds if draw.random() < 0.8 else (draw.choice(IDS), draw.choice(SEXES), draw.choice(AGES))
        ids = list(range(number, number + rows))
        number += rows
        table = pa.table({"id": some[0](ids, draw), "sex": some[1](rows, draw), "age": some[2](rows, draw)})
        if draw.random() < 0.2:
            table = table.select(draw.sample(table.column_names, 3))
        if draw.random() < 0.05:
            table = table.rename_columns([name.upper() if name == "sex" else name for name in table.column_names])
        path = below / f"{file}.parquet"
        parquet.write_table(
            table,
            path,
            row_group_size=draw.choice([1, 3, 1000]),
            compression=draw.choice(["snappy", "zstd", "none", "gzip"]),
            use_dictionary=draw.random() < 0.5,
            write_statistics=draw.random() < 0.5,
            data_page_version=draw.choice(["1.0", "2.0"]),
        )
        if draw.random() < 0.1:
            content = path.read_bytes()
            path.write_bytes(content[: draw.randrange(1, len(content))])


def _flipped(content: bytes, draw: random.Random) -> bytes:
    changed = bytearray(content)
    changed[draw.randrange(len(changed))] ^= 1 << draw.randrange(8)
    return bytes(changed)


def _some(values: list[Any], rows: int, draw: random.Random) -> list[Any]:
    return [draw.choice(values) for _ in range(rows)]


NAN, INFINITE = float("nan"), float("inf")
IDS: list[Any] = [
    lambda ids, _: pa.array(ids, pa.int64()),
    lambda ids, _: pa.array(ids, pa.int32()),
    lambda ids, _: pa.array(ids, pa.uint64()),
    lambda ids, _: pa.array([str(i) for i in ids]),
    lambda ids, _: pa.array([f"p{i}" for i in ids]).dictionary_encode(),
    lambda ids, _: pa.array([i + 0.5 for i in ids]),
    lambda ids, _: pa.array([*[i + 0.5 for i in ids[1:]], NAN]),
    lambda ids, _: pa.array([Decimal(i) for i in ids], pa.decimal128(20, 0)),
    lambda ids, _: pa.array([*ids[1:], None], pa.int64()),
    lambda ids, draw: pa.array([draw.choice(ids) for _ in ids], pa.int64()),
]
SEXES: list[Any] = [
    lambda rows, draw: pa.array(_some(["F", "M", None, "", " ", "x", "é"], rows, draw), pa.string()),
    lambda rows, draw: pa.array(_some(["F", "M", None], rows, draw), pa.large_string()),
    lambda rows, draw: pa.array(_some(["F", "M", "x"], rows, draw), pa.string()).dictionary_encode(),
    lambda rows, draw: pa.array(_some([1, 2, None], rows, draw), pa.int64()),
    lambda rows, draw: pa.array(_some([True, False, None], rows, draw), pa.bool_()),
]
AGES: list[Any] = [
    lambda rows, draw: pa.array(_some([0, 9, 10, 55, 127, None], rows, draw), pa.int8()),
    lambda rows, draw: pa.array(_some([0, 10, 99, 100, -1, 2**40], rows, draw), pa.int64()),
    lambda rows, draw: pa.array(_some([0.0, 9.999999999, 10.0, 39.7, NAN, INFINITE, None], rows, draw), pa.float64()),
    lambda rows, draw: pa.array(_some(["0", " 10 ", "1e1", "1_0", "٣٠", "", None, "nan"], rows, draw), pa.string()),
    lambda rows, draw: pa.array(_some([Decimal("9.99"), Decimal("10.00"), None], rows, draw), pa.decimal128(5, 2)),
]
