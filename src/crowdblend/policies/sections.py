"""The sections [data], [sampling], [release] and [[tables]] of a policy, each a frozen value that checks itself."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, cast

from crowdblend.errors import InvalidInput
from crowdblend.guarantees.parameters import PARAMETERS, check
from crowdblend.policies.files import ending_of, format_of
from crowdblend.policies.keys import DATA, KINDS, RELEASE, SAMPLING, read_keys

Format = Literal["csv", "parquet", "duckdb", "postgres"]
STDIN = "-"

_ADDRESS = re.compile(r"(?i)postgres(ql)?://")
_PASSWORD = re.compile(r"(?i)://[^/@]*:[^/@]*@|[?&]password=")
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*")
_MEMORY = re.compile(r"(?i)[0-9]+(\.[0-9]+)?\s?(KB|MB|GB|TB|KiB|MiB|GiB|TiB)")


def _check_parameters(section: Sampling | Release) -> None:
    """Ranges hold for values made in Python too; None is what the plan shall find."""
    for name, value in vars(section).items():
        if name in PARAMETERS and value is not None:
            check(name, value)


@dataclass(frozen=True)
class DataSource:
    """Where the people are; `source` is a path, a glob, an address or - for stdin, ready to be opened."""

    source: str
    format: Format
    person: str | None = None
    rows_are_people: bool = False
    table: str | None = None
    population: str | None = None
    delimiter: str | None = None
    duplicates: Literal["refuse", "one"] = "refuse"
    people: int | None = None

    def __post_init__(self) -> None:
        if (self.person is None) != self.rows_are_people:
            raise InvalidInput(
                "[data] must have either person or rows_are_people = true, so that it is known who is protected. "
                "Name the column that tells people apart, or vouch that every row is another person."
            )
        if self.person is not None and not self.person.strip():
            raise InvalidInput("person in [data] must name a column, got a blank. Use the name in the data.")
        if self.rows_are_people and self.duplicates == "one":
            raise InvalidInput(
                'duplicates = "one" in [data] must come with person: rows cannot be told apart. Name person.'
            )
        if (self.table is not None) != (self.format in ("duckdb", "postgres")):
            need = "must name the table to read" if self.table is None else "must be left out"
            raise InvalidInput(f"table in [data] {need} when the source is {self.format}. Correct table or format.")
        if self.delimiter is not None and self.format != "csv":
            raise InvalidInput(f"delimiter in [data] must be left out when the source is {self.format}. Remove it.")
        if self.delimiter is not None and (len(self.delimiter) != 1 or self.delimiter in '"\n\r\0'):
            raise InvalidInput(
                f"delimiter in [data] must be one character that is no quote or line end, got {self.delimiter!r}. "
                'Use for example ";".'
            )


def read_data(table: Any, folder: Path) -> DataSource:
    """The section [data], with a relative source put into the policy's folder."""
    given = read_keys("[data]", DATA, table)
    source = given["source"]
    if not source.strip() or "\0" in source:
        raise InvalidInput("source in [data] must name a file, and is blank. Give its path.")
    if _ADDRESS.match(source) and _PASSWORD.search(source):
        raise InvalidInput("source in [data] must not hold a password, and does. Move it to PGPASSWORD or ~/.pgpass.")
    if "format" not in given:
        given["format"] = _guess(source)
    if ending_of(source) == ".tsv" and given["format"] == "csv":
        given.setdefault("delimiter", "\t")
    local = source != STDIN and not re.match(r"[A-Za-z][A-Za-z0-9+.-]+://", source)
    given["source"] = str(folder / source) if local else source
    return DataSource(**given)


def _guess(source: str) -> Format:
    if _ADDRESS.match(source):
        return "postgres"
    if (known := format_of(source)) is not None:
        return cast(Format, known)
    raise InvalidInput(
        "format in [data] must be given when the source's name does not end like one (.csv, .parquet, .duckdb). "
        'Add format = "csv" or what applies.'
    )


@dataclass(frozen=True)
class Sampling:
    """How people are drawn; `rate` is None when the plan shall find it."""

    rate: float | None = None
    already_drawn: bool = False
    low: float | None = None
    high: float | None = None
    exceptions: int = 0
    max_rate: float | None = None
    key: Literal["destroy", "seal"] = "destroy"
    sample: int | None = None

    def __post_init__(self) -> None:
        _check_parameters(self)
        low, high = self.low, self.high
        if low is None or high is None:
            if low is not None or high is not None or self.exceptions or self.max_rate is not None:
                raise InvalidInput(
                    "low and high in [sampling] must be given together, and before exceptions or max_rate. "
                    "Give the smallest and the largest ordinary probability."
                )
            if self.already_drawn and self.rate is None:
                raise InvalidInput(
                    "[sampling] must have the rate that is assumed when already_drawn is true. Add rate."
                )
            return
        if low > high:
            raise InvalidInput(f"low in [sampling] must not exceed high, got low {low} and high {high}. Swap them.")
        if self.rate is not None and not low <= self.rate <= high:
            raise InvalidInput(
                f"rate in [sampling] must lie between low and high, got rate {self.rate}, low {low}, high {high}. "
                "Widen low and high, or drop rate."
            )
        if self.rate is None and not self.already_drawn:
            raise InvalidInput(
                "[sampling] must have the rate to draw at beside low and high. Add rate, or already_drawn = true."
            )
        if self.max_rate is not None and self.max_rate < high:
            raise InvalidInput(
                f"max_rate in [sampling] must be at least high, got {self.max_rate} and {high}. Raise it."
            )

    @property
    def biased(self) -> bool:
        """Whether people's probabilities may differ, so that low and high carry the promise."""
        return self.low is not None


def read_sampling(table: Any) -> Sampling:
    """The section [sampling]."""
    return Sampling(**read_keys("[sampling]", SAMPLING, table))


@dataclass(frozen=True)
class Release:
    """What is published and under which promise; the one parameter that is None is planned."""

    kind: str
    below_k: Literal["suppress", "noise"] = "suppress"
    k: int | None = None
    epsilon: float | None = None
    delta: float | None = None
    flag: bool = False
    noise_epsilon: float | None = None
    show_from: int | None = None
    format: Literal["parquet", "csv"] = "parquet"
    memory: str | None = None
    threads: int | None = None
    confidence: float | None = None
    group: int | None = None

    def __post_init__(self) -> None:
        _check_parameters(self)
        if self.kind not in KINDS:
            raise InvalidInput(f"kind in [release] must be one of {', '.join(KINDS)}, got {self.kind!r}. Correct it.")
        if self.below_k == "noise" and self.kind != "table":
            raise InvalidInput(
                f'below_k in [release] must be "suppress" for {self.kind}, got "noise". Use kind = "table".'
            )
        noise_only = {
            "flag": self.flag,
            "noise_epsilon": self.noise_epsilon if self.kind != "points" else None,
            "show_from": self.show_from if self.kind != "outlier-table" else None,
        }
        if self.below_k != "noise" and any(noise_only.values()):
            name = next(name for name, value in noise_only.items() if value)
            raise InvalidInput(f'{name} in [release] must come with below_k = "noise", got "suppress". Drop {name}.')
        if self.show_from is not None and self.show_from < 1:
            raise InvalidInput(f"show_from in [release] must be at least 1, got {self.show_from}. Raise it or drop it.")
        if self.memory is not None and not _MEMORY.fullmatch(self.memory):
            raise InvalidInput(f'memory in [release] must be a size such as "1GB", got {self.memory!r}. Add the unit.')
        if self.threads is not None and not 1 <= self.threads <= 1024:
            raise InvalidInput(
                f"threads in [release] must be between 1 and 1024, got {self.threads}. Leave it out to use all."
            )


def read_release(table: Any) -> Release:
    """The section [release]."""
    return Release(**read_keys("[release]", RELEASE, table))


@dataclass(frozen=True)
class Table:
    """One of several tables from the same sample."""

    name: str
    columns: tuple[str, ...]

    def __post_init__(self) -> None:
        if not _NAME.fullmatch(self.name) or len(self.name) > 100:
            raise InvalidInput(
                f"name in [[tables]] must be letters, digits, - and _, at most 100 of them, got {self.name!r}. "
                "It becomes a file name."
            )
        if not self.columns or len(set(self.columns)) < len(self.columns):
            raise InvalidInput(
                f"columns of table {self.name!r} must name at least one column, each once. Correct the list."
            )
