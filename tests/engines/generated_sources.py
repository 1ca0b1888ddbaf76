"""Generated sources of people, each with what pandas reads of it: CSV in many notations, Parquet and frames.

`python -m tests.engines.generated_sources 400` prints an outcome for every source, to be compared before and after a
change of how sources are read.
"""

import csv
import gzip
import io
import json
import math
import random
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, timedelta
from pathlib import Path

import pandas as pd
import pyarrow as pa
from pyarrow import parquet

from crowdblend.api.sources import about
from crowdblend.designs.draw import Everybody
from crowdblend.engines.choice import count_classes
from crowdblend.errors import InvalidInput
from crowdblend.policies.load import parse_policy

TEXTS = (
    "a",
    "B",
    "x,y",
    "x;y",
    "t\tab",
    "p|q",
    'say "hi"',
    "two\nlines",
    "é",
    "ß straße",
    " padded ",
    "",
    "  ",
    "0",
    "NA",
    "null",
    "1e5",
    "#c",
    "'q'",
)
NAMES = ("word", "the word", "Wört", 'q"uote', "a,b", "x" * 300, " lead", "1st", "word.1")
DATES = (None, "%d.%m.%Y", "%m/%d/%Y", "%Y%m%d", "%d-%m-%Y")
Row = tuple[str, str, str]


@dataclass(frozen=True)
class GeneratedSource:
    """A source, the policy that reads it, and what pandas reads of it."""

    what: str
    policy: object
    expected: Counter[Row]


def number_class(value: float | None) -> str:
    """The label of a number in classes of width 10 from -1000 to 1000000."""
    if value is None or math.isnan(value):
        return "none"
    low = int(value // 10) * 10
    return f"[{low}, {low + 10})" if -1000 <= value < 1_000_000 else "out"


def generate(seed: int, folder: Path) -> GeneratedSource:
    """The source of a seed, written into a folder."""
    rng = random.Random(seed)
    kind = rng.choice(["csv"] * 6 + ["parquet", "frame"])
    return _csv(rng, folder) if kind == "csv" else _columnar(rng, folder, kind)


def _policy(data: str, name: str, folder: Path, date_too: bool = True) -> object:
    day = 'day = { date = "day", from = 1990-01-01, to = 2030-01-01, missing = "none", other = "out" }\n'
    text = (
        f'[data]\n{data}rows_are_people = true\npopulation = "p"\n[sampling]\ndesign = "poisson"\nrate = 0.5\n'
        f'[privacy]\nepsilon = 2.0\n[[publish]]\nkind = "table"\nk = 50\n[columns]\n'
        f'{json.dumps(name, ensure_ascii=False)} = {{ prefix = 1000, missing = "none" }}\n'
        f'number = {{ from = -1000, to = 1000000, width = 10, missing = "none", other = "out" }}\n{day}'
    )
    return parse_policy(text, folder)


def _values(rng: random.Random) -> tuple[list[str], list[float | None], list[date | None]]:
    rows = rng.choice([1, 2, 7, 60, 400])
    words = [rng.choice(TEXTS) for _ in range(rows)]
    numbers = [
        rng.choice([None, rng.randrange(-999, 999_999), round(rng.uniform(-900, 99_999), 2)]) for _ in range(rows)
    ]
    days = [rng.choice([None, date(1991, 1, 1) + timedelta(rng.randrange(9_000))]) for _ in range(rows)]
    return words, numbers, days


def _written(number: float | None, decimal: str, thousands: str | None) -> str:
    if number is None:
        return ""
    text = f"{number:,}" if thousands else f"{number}"
    return text.translate({ord(","): thousands or "", ord("."): decimal})


def _csv(rng: random.Random, folder: Path) -> GeneratedSource:
    words, numbers, days = _values(rng)
    delimiter, end = rng.choice(",,;\t|"), rng.choice(["\n", "\n", "\r\n", "\r"])
    encoding = rng.choice(["utf-8", "utf-8", "utf-8-sig", "latin-1", "cp1252", "utf-16"])
    decimal = rng.choice([".", "."]) if delimiter == "," else rng.choice([".", ","])
    thousands = rng.choice([None, None, {".": ",", ",": "."}[decimal], " ", "'"])
    date_format = rng.choice(DATES)
    name = rng.choice(NAMES[:2] * 3 + NAMES)
    packed = rng.random() < 0.15
    # Where lines end with CR, Python leaves LF inside a field without quotation marks.
    quoting = csv.QUOTE_ALL if end == "\r" else rng.choice([csv.QUOTE_MINIMAL, csv.QUOTE_ALL])
    rows = [
        [word, _written(number, decimal, thousands), "" if day is None else day.strftime(date_format or "%Y-%m-%d")]
        for word, number, day in zip(words, numbers, days, strict=True)
    ]
    header = [name, "number", "day"]
    text = io.StringIO(newline="")
    writer = csv.writer(text, delimiter=delimiter, lineterminator=end, quoting=quoting)
    writer.writerows([header, *rows])
    whole = text.getvalue()
    if rng.random() < 0.2:
        whole = whole.removesuffix(end)
    content = whole.encode(encoding, "replace")
    if packed:
        content = gzip.compress(content)
    path = folder / ("people.csv.gz" if packed else "people.csv")
    path.write_bytes(content)
    keys = {"delimiter": delimiter, "decimal": decimal, "thousands": thousands, "date_format": date_format}
    keys["encoding"] = None if encoding.startswith("utf-8") else encoding
    usual = {"delimiter": ",", "decimal": "."}
    data = f'source = "{path.name}"\n' + "".join(
        f"{key} = {json.dumps(value)}\n" for key, value in keys.items() if value is not None and usual.get(key) != value
    )
    what = f"csv {delimiter!r} {end!r} {encoding} {decimal} {thousands!r} {date_format} {name[:9]!r} {packed=}"
    expected = _by_pandas(path, delimiter, end, encoding, decimal, thousands, date_format)
    return GeneratedSource(what, _policy(data, name, folder), expected)


def _by_pandas(
    path: Path, delimiter: str, end: str, encoding: str, decimal: str, thousands: str | None, date_format: str | None
) -> Counter[Row]:
    content = path.read_bytes()
    text = (gzip.decompress(content) if path.suffix == ".gz" else content).decode(encoding).removeprefix("\ufeff")
    ends = "\r" if end == "\r" else None
    frame = pd.read_csv(
        io.StringIO(text, newline=""), sep=delimiter, dtype=str, keep_default_na=False, lineterminator=ends
    )
    words, numbers, days = (frame.iloc[:, place].astype(str) for place in range(3))
    plain = numbers.str.replace(thousands, "") if thousands else numbers
    parsed = pd.to_numeric(plain.str.strip().str.replace(decimal, "."), errors="coerce")
    dates = pd.to_datetime(days, format=date_format or "%Y-%m-%d", errors="coerce").dt.strftime("%Y-%m-%d")
    numbered = zip(numbers, parsed, strict=True)
    dated = zip(days, dates, strict=True)
    return _rows(
        words,
        ["out" if text.strip() and math.isnan(value) else number_class(value) for text, value in numbered],
        ["none" if not text.strip() else day if isinstance(day, str) else "out" for text, day in dated],
    )


def _rows(words: Iterable[str], numbers: Iterable[str], days: Iterable[str]) -> Counter[Row]:
    labels = [word if word.strip(" \t\n\v\f\r") else "none" for word in words]
    return Counter(zip(labels, numbers, days, strict=True))


def _columnar(rng: random.Random, folder: Path, kind: str) -> GeneratedSource:
    words, numbers, days = _values(rng)
    name = rng.choice(NAMES)
    whole = rng.random() < 0.5
    numbers = [None if number is None else int(number) for number in numbers] if whole else numbers
    types = rng.choice([pa.int64(), pa.int32(), pa.float64()]) if whole else pa.float64()
    stored = rng.choice([pa.date32(), pa.timestamp("us"), pa.timestamp("ms"), pa.string()])
    text_type = rng.choice([pa.string(), pa.large_string(), pa.dictionary(pa.int32(), pa.string())])
    table = pa.table({
        name: pa.array(words, pa.string()).cast(text_type),
        "number": pa.array(numbers, types),
        "day": pa.array(days, pa.date32()).cast(stored),
        "other": pa.array(range(len(words))),
    })  # fmt: skip
    expected = _rows(words, map(number_class, numbers), ["none" if day is None else day.isoformat() for day in days])
    what = f"{kind} {types} {stored} {text_type} {name[:9]!r}"
    if kind == "parquet":
        parquet.write_table(table, folder / "people.parquet", row_group_size=rng.choice([1, 50, 10_000]))
        return GeneratedSource(what, _policy('source = "people.parquet"\n', name, folder), expected)
    frame = table.to_pandas() if rng.random() < 0.5 else table
    policy = _policy('source = "people.csv"\n', name, folder)
    return GeneratedSource(what + f" {type(frame).__name__}", (policy, frame), expected)


def counted(source: GeneratedSource) -> Counter[Row]:
    """What we read of a source; raises what refuses it."""
    if isinstance(source.policy, tuple):
        policy, frame = source.policy
        with about(frame, policy, "duckdb") as made:
            return _classes(made)
    return _classes(source.policy)


def _classes(policy: object) -> Counter[Row]:
    found = count_classes(policy, Everybody()).classes  # type: ignore[arg-type]
    labels = [[labels[code] for code in codes] for labels, codes in zip(found.labels, found.codes.T, strict=True)]
    return Counter(dict(zip(zip(*labels, strict=True), found.counts.tolist(), strict=True)))


if __name__ == "__main__":
    for seed in range(int(sys.argv[1])):
        with tempfile.TemporaryDirectory() as made:
            source = generate(seed, Path(made))
            try:
                found = "same" if counted(source) == source.expected else "different"
            except InvalidInput as refused:
                found = refused.code
            sys.stdout.write(f"{seed}\t{found}\t{source.what}\n")
