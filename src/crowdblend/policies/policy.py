"""What every policy has: where the rows come from, how the publication is written, and what the engine may use.

Policy
├── AboutPeople        the rows are people, or rows of people
│   ├── CrowdPolicy        k, epsilon, delta and a sampling rate: one of the four may be left to the plan
│   │   ├── Points
│   │   └── RecodedPolicy      the recoding may be chosen
│   │       ├── Table
│   │       └── Microdata
│   ├── OutlierTable
│   └── ExactPolicy        exactly so many of so many people
│       ├── Statistics
│       └── Synopsis
└── Graph

A policy made in Python goes through the same checks as one read from TOML: both are made by the constructor, from
keyword arguments that are called as the keys are. Only [data] format is `source_format`.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, Self

from msgspec.structs import force_setattr

from crowdblend.policies.about import About
from crowdblend.policies.columns import columns_of
from crowdblend.policies.files import ending_of
from crowdblend.policies.formulas import column_texts, refuse_formulas
from crowdblend.policies.key import FilePath, Rule, Section, key, needs, one_of, part
from crowdblend.policies.refusals import refusal
from crowdblend.policies.source import IN_PYTHON, READING_KEYS, DataSource, Format, format_of
from crowdblend.policies.write import write_policy

_MEMORY = re.compile(r"(?i)[0-9]+(\.[0-9]+)?\s?(KB|MB|GB|TB|KiB|MiB|GiB|TiB)")
data_key = partial(key, section="data")


@dataclass(frozen=True)
class Resources:
    """What the engine may use: all there is where nothing is said."""

    memory: str | None = None
    threads: int | None = None


class Policy(Section, frozen=True, kw_only=True):
    """What the steward decided, complete and free of contradictions."""

    kind: ClassVar[str]
    # What people are told that data may be, where a policy is begun: see `designs_of`.
    designs: ClassVar[tuple[str, ...]] = ("draw",)
    # Whether rows of the data are links between people, columns may be axes of a map, or numbers within bounds.
    rows_are_links: ClassVar[bool] = False
    has_axes: ClassVar[bool] = False
    has_numbers: ClassVar[bool] = False
    # Whether what is published are cells with counts, and whether the audit knows how to draw it by strata.
    rows_are_counted: ClassVar[bool] = False
    audits_strata: ClassVar[bool] = False
    section = "[release]"
    # How a policy is planned is told by the layer that can: crowdblend.kinds, when it is loaded.
    planner: ClassVar[Callable[[Any], Any]]

    source: Annotated[
        FilePath | None,
        data_key(
            "CSV or Parquet file, folder or glob, DuckDB file, postgresql:// or sqlite:/// address, or - for stdin. "
            "With --engine spark also catalog://schema.table, or an address of Parquet files that Spark reads."
        ),
    ] = None
    population: Annotated[
        str | None, data_key("Your name for the people, under which the ledger adds up what was guaranteed to them.")
    ] = None
    source_format: Annotated[
        Format | None, data_key("What the source is, when its name does not say.", name="format")
    ] = None
    table: Annotated[str | None, data_key("The table in a database.")] = None
    query: Annotated[str | None, data_key("An SQL query, instead of a table: its rows are the data.")] = None
    delimiter: Annotated[str | None, data_key("The character between the fields of a CSV file.")] = None
    encoding: Annotated[str | None, data_key('The encoding of a CSV file, such as "latin-1"; UTF-8 unless given.')] = (
        None
    )
    decimal: Annotated[str | None, data_key('The mark before the fraction of numbers in a CSV file: "." or ",".')] = (
        None
    )
    thousands: Annotated[
        str | None, data_key('What separates thousands in a CSV file: ".", ",", "\'", or " " for any space.')
    ] = None
    date_format: Annotated[str | None, data_key('How a CSV file writes dates, such as "%d.%m.%Y".')] = None
    format: Annotated[Literal["parquet", "csv"], key("The format of the published data.")] = "parquet"
    accept_epsilon: Annotated[bool, key("True to publish although epsilon is above 10.")] = False
    about: Annotated[About | None, part("Who publishes what, for readers.")] = None
    memory: Annotated[
        str | None, key('The memory that the engine may use, such as "1GB"; it spills to disk beyond.')
    ] = None
    threads: Annotated[int | None, key("How many threads the engine may use.", (1, 1024))] = None

    def __post_init__(self) -> None:
        if has_columns(type(self)):
            force_setattr(self, "columns", columns_of(getattr(self, "columns", ())))
        super().__post_init__()
        if self.memory is not None and not _MEMORY.fullmatch(self.memory):
            message = f"memory in [release] is {self.memory!r}, which is no size."
            raise refusal("memory", message, 'Write a number and its unit, such as "1GB".', "[release] memory")
        if self.source is not None:
            _ = self.data
        if self.format == "csv":
            refuse_formulas(self.published_texts())

    def published_texts(self) -> Iterator[tuple[str, str]]:
        """Yield the texts of the policy that are published in cells, each with its place."""
        yield from column_texts(getattr(self, "columns", ()))

    @cached_property
    def data(self) -> DataSource:
        """The source, ready to be opened; without one, the policy waits for rows from Python."""
        if self.source is None:
            return DataSource(source=IN_PYTHON, format="frame", population=self.population, **self._people())
        kind = self.source_format or format_of(self.source)
        read = {name: getattr(self, name) for name in READING_KEYS}
        if kind == "csv" and ending_of(self.source) == ".tsv":
            read["delimiter"] = self.delimiter or "\t"
        return DataSource(source=self.source, format=kind, population=self.population, **read, **self._people())

    def _people(self) -> dict[str, Any]:
        """Return what the source says of people; rows of a network are links."""
        return {"rows_are_people": True}

    def with_source(self, data: DataSource) -> Self:
        """Return the same policy about rows that lie elsewhere, in files or in Python."""
        if data.format == "frame":
            placed = copy.copy(self)
            placed.__dict__["data"] = DataSource(
                source=data.source, format="frame", population=self.population, frame=data.frame, **self._people()
            )
            return placed
        read = {name: getattr(data, name) for name in READING_KEYS}
        return self.replace(source=data.source, source_format=data.format, **read)

    @property
    def resources(self) -> Resources:
        """What the engine may use."""
        return Resources(self.memory, self.threads)

    def plan(self) -> Any:
        """Return what follows from the policy alone: what was left open, the guarantees, the assumptions.

        No data are read.
        """
        return type(self).planner(self)

    def to_toml(self, path: Path | str | None = None, *, force: bool = False) -> str:
        """Return the policy as TOML, which reads back as an equal policy; written to `path` where one is given."""
        return write_policy(self, self.kind, None if path is None else Path(path), force=force)


def has_columns(policy: type[Policy]) -> bool:
    """Return whether a policy declares columns of people."""
    return "columns" in policy.__struct_fields__


class AboutPeople(Policy, frozen=True, kw_only=True):
    """A policy whose rows are people: who they are, and what happens when one has several rows."""

    rules: ClassVar[tuple[Rule, ...]] = (
        one_of("person", "rows_are_people", code="person", because="they say who is protected"),
        needs("duplicates=one", "person", code="duplicates", because="without it rows of one person look like others"),
        needs("ids=table", "person", code="ids", because="without it there are no ids"),
    )

    person: Annotated[
        str | None, data_key("The column that tells people apart: the unit of protection, one row per person.")
    ] = None
    rows_are_people: Annotated[
        bool, data_key("True instead of person: you vouch that every row is another person.")
    ] = False
    ids: Annotated[
        Literal["people", "table"],
        data_key(
            'Whom an id names: "people" have it in every table; with "table" it numbers the rows of this table only, '
            "and the same id in another table is somebody else."
        ),
    ] = "people"
    duplicates: Annotated[Literal["refuse", "one"], data_key("What to do when a person has several rows.")] = "refuse"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.person is not None and not self.person.strip():
            raise refusal(
                "person", "person in [data] is blank.", "Use the name of the column in the data.", "[data] person"
            )

    def _people(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in ("person", "ids", "rows_are_people", "duplicates")}
