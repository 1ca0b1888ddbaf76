"""What every policy has: where the rows come from, how the publication is written, and what the engine may use.

Policy
├── CrowdPolicy        k, epsilon, delta and a sampling rate: one of the four may be left to the plan
│   ├── Table
│   ├── Microdata
│   └── Points
├── OutlierTable
├── ExactPolicy        exactly so many of so many people
│   ├── Statistics
│   └── Synopsis
└── Graph

A policy made in Python goes through the same checks as one read from TOML: both are made by the constructor, from
keyword arguments that are called as the keys are. Only [data] format is `source_format`.
"""

from __future__ import annotations

import copy
import dataclasses
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import Any, ClassVar, Literal, Self

from crowdblend.policies.about import About
from crowdblend.policies.files import ending_of
from crowdblend.policies.key import Key, Section, key, keys_of, refusal
from crowdblend.policies.source import IN_PYTHON, DataSource, Format, format_of

_MEMORY = re.compile(r"(?i)[0-9]+(\.[0-9]+)?\s?(KB|MB|GB|TB|KiB|MiB|GiB|TiB)")
_PART = "part"


@dataclass(frozen=True)
class Part:
    """A section of its own in a policy: the class of its values, and whether it may be repeated ([[name]])."""

    name: str
    holder: type[Section]
    meaning: str
    many: bool = False
    required: bool = False

    @property
    def title(self) -> str:
        """The section as TOML writes it."""
        return f"[[{self.name}]]" if self.many else f"[{self.name}]"


def part(
    name: str, holder: type[Section], meaning: str, *, many: bool = False, required: bool = False, default: Any = None
) -> Any:
    """Declare a section on the field of a policy."""
    declared = Part(name, holder, meaning, many, required)
    return dataclasses.field(default=() if many else default, metadata={_PART: declared})


def parts_of(kind: type[Policy]) -> dict[str, Part]:
    """The sections that a policy declares beside the keys of its own, by the name of the field."""
    fields = dataclasses.fields(kind)
    return {field.name: field.metadata[_PART] for field in fields if _PART in field.metadata}


@dataclass(frozen=True)
class Resources:
    """What the engine may use: all there is where nothing is said."""

    memory: str | None = None
    threads: int | None = None


@dataclass(frozen=True, kw_only=True)
class Policy(Section):
    """What the steward decided, complete and free of contradictions."""

    kind: ClassVar[str]
    section = "release"

    source: str | None = key(
        "CSV or Parquet file, folder or glob, DuckDB file, postgresql:// or sqlite:/// address, or - for stdin. With "
        "--engine spark also catalog://schema.table, or an address of Parquet files that Spark reads.",
        section="data",
        kind="path",
    )
    population: str | None = key(
        "Your name for the people, under which the ledger adds up what was guaranteed to them.", section="data"
    )
    source_format: Format | None = key("What the source is, when its name does not say.", section="data", name="format")
    table: str | None = key("The table in a database.", section="data")
    query: str | None = key("An SQL query, instead of a table: its rows are the data.", section="data")
    driver: str | None = key('The ADBC driver of a database of another make, with format = "adbc".', section="data")
    delimiter: str | None = key("The character between the fields of a CSV file.", section="data")
    encoding: str | None = key('The encoding of a CSV file, such as "latin-1"; UTF-8 unless given.', section="data")
    decimal: str | None = key('The mark before the fraction of numbers in a CSV file: "." or ",".', section="data")
    thousands: str | None = key(
        'What separates thousands in a CSV file: ".", ",", "\'", or " " for any space.', section="data"
    )
    date_format: str | None = key('How a CSV file writes dates, such as "%d.%m.%Y".', section="data")
    format: Literal["parquet", "csv"] = key("The format of the published data.", default="parquet")
    about: About | None = part("about", About, "Who publishes what, for readers.")
    memory: str | None = key('The memory that the engine may use, such as "1GB"; it spills to disk beyond.')
    threads: int | None = key("How many threads the engine may use.", between=(1, 1024))

    def __post_init__(self) -> None:
        super().__post_init__()
        for attribute, declared in parts_of(type(self)).items():
            given = getattr(self, attribute)
            value = getattr(type(self), attribute, None) if given is None else given
            object.__setattr__(self, attribute, checked_part(declared, value))
        if self.memory is not None and not _MEMORY.fullmatch(self.memory):
            raise refusal(
                "memory",
                f"memory in [release] is {self.memory!r}, which is no size.",
                'Write a number and its unit, such as "1GB".',
                "[release] memory",
            )
        if self.source is not None:
            _ = self.data
        if self.format == "csv":
            from crowdblend.policies.formulas import refuse_formulas  # noqa: PLC0415

            refuse_formulas(self.published_texts())

    def published_texts(self) -> Iterator[tuple[str, str]]:
        """The texts of the policy that are published in cells, each with its place."""
        from crowdblend.policies.formulas import column_texts  # noqa: PLC0415

        yield from column_texts(getattr(self, "columns", ()))

    @cached_property
    def data(self) -> DataSource:
        """The source, ready to be opened; without one, the policy waits for rows from Python."""
        if self.source is None:
            return DataSource(source=IN_PYTHON, format="frame", population=self.population, **self._people())
        kind = self.source_format or format_of(self.source)
        tabbed = kind == "csv" and ending_of(self.source) == ".tsv"
        return DataSource(
            source=self.source,
            format=kind,
            table=self.table,
            query=self.query,
            driver=self.driver,
            population=self.population,
            delimiter=self.delimiter or ("\t" if tabbed else None),
            **{name: getattr(self, name) for name in ("encoding", "decimal", "thousands", "date_format")},
            **self._people(),
        )

    def _people(self) -> dict[str, Any]:
        """What the source says of people; rows of a network are links."""
        return {"rows_are_people": True}

    def with_source(self, data: DataSource) -> Self:
        """The same policy about rows that lie elsewhere, in files or in Python."""
        if data.format == "frame":
            placed = copy.copy(self)
            held = DataSource(
                source=data.source, format="frame", population=self.population, frame=data.frame, **self._people()
            )
            placed.__dict__["data"] = held
            return placed
        names = ("table", "query", "driver", "delimiter", "encoding", "decimal", "thousands", "date_format")
        read = {name: getattr(data, name) for name in names}
        return dataclasses.replace(self, source=data.source, source_format=data.format, **read)

    @property
    def resources(self) -> Resources:
        """What the engine may use."""
        return Resources(self.memory, self.threads)

    def plan(self) -> Any:
        """What follows from the policy alone: what was left open, the guarantees, the assumptions. No data are read."""
        # The one call from a policy to the layers above: it is for whoever has a policy in hand.
        return import_module("crowdblend.kinds").plan(self)

    def to_toml(self, path: Path | str | None = None, *, force: bool = False) -> str:
        """The policy as TOML, which reads back as an equal policy; written to `path` where one is given."""
        from crowdblend.policies.write import write_policy  # noqa: PLC0415

        return write_policy(self, None if path is None else Path(path), force=force)


def checked_part(declared: Part, value: Any) -> Any:
    """A section of the right type; several of them as a tuple."""
    if declared.many:
        if not isinstance(value, list | tuple) or not all(isinstance(item, declared.holder) for item in value):
            raise _wrong_part(declared)
        return tuple(value)
    if value is None and declared.required:
        raise refusal(
            "missing-section",
            f"The policy has no section {declared.title}.",
            f"Add it: {declared.meaning}",
            declared.title,
        )
    if value is not None and not isinstance(value, declared.holder):
        raise _wrong_part(declared)
    return value


def _wrong_part(declared: Part) -> Exception:
    name = declared.holder.__name__
    what = f"a list of {name} values" if declared.many else f"a {name} value"
    return refusal("type", f"{declared.title} takes {what}.", declared.meaning, declared.title)


@dataclass(frozen=True, kw_only=True)
class AboutPeople(Policy):
    """A policy whose rows are people: who they are, and what happens when one has several rows."""

    person: str | None = key(
        "The column that tells people apart: the unit of protection, one row per person.", section="data"
    )
    rows_are_people: bool = key(
        "True instead of person: you vouch that every row is another person.", section="data", default=False
    )
    ids: Literal["people", "table"] = key(
        'Whom an id names: "people" have it in every table; with "table" it numbers the rows of this table only, and '
        "the same id in another table is somebody else.",
        section="data",
        default="people",
    )
    duplicates: Literal["refuse", "one"] = key(
        "What to do when a person has several rows.", section="data", default="refuse"
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if (self.person is None) != self.rows_are_people:
            raise refusal(
                "person",
                "[data] needs either person or rows_are_people = true, which say who is protected.",
                "Name the column that tells people apart, or vouch that every row is another person.",
                "[data] person",
            )
        if self.person is not None and not self.person.strip():
            raise refusal(
                "person", "person in [data] is blank.", "Use the name of the column in the data.", "[data] person"
            )
        if self.rows_are_people and self.duplicates == "one":
            raise refusal(
                "duplicates",
                'duplicates = "one" needs person: without it rows of one person cannot be recognized.',
                "Name person, or remove duplicates.",
                "[data] duplicates",
            )

        if self.rows_are_people and self.ids == "table":
            raise refusal(
                "ids",
                'ids = "table" needs person: without it there are no ids.',
                "Name person, or remove ids.",
                "[data] ids",
            )

    def _people(self) -> dict[str, Any]:
        return {
            "person": self.person,
            "ids": self.ids,
            "rows_are_people": self.rows_are_people,
            "duplicates": self.duplicates,
        }


def sections_of(kind: type[Policy]) -> dict[str, dict[str, Key]]:
    """The keys of the policy itself, by section and by the name of the field."""
    found: dict[str, dict[str, Key]] = {}
    for attribute, declared in keys_of(kind).items():
        found.setdefault(declared.section.strip("[]"), {})[attribute] = declared
    return found
