"""Terms: what a policy says once for all its publications: source, design, budget and columns.

Keyword arguments are called as the keys of TOML are; only [data] format is `source_format`,
and unit is `unit_word`.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from functools import cached_property, partial
from typing import Annotated, Any, Literal, Self

from msgspec.structs import asdict, force_setattr

from crowdblend.methods.estimates.nouns import is_noun
from crowdblend.policies.choosing import Choosing
from crowdblend.policies.columns import Column, column_texts, columns_of, refuse_finer_dates
from crowdblend.policies.files import ending_of
from crowdblend.policies.formulas import refuse_formulas
from crowdblend.policies.key import Section, key, part
from crowdblend.policies.refusals import refusal
from crowdblend.policies.resources import Resources, memory_of
from crowdblend.policies.sampling import NOT_SAMPLED
from crowdblend.policies.sampling_section import Sampling
from crowdblend.policies.source import IN_PYTHON, READING_KEYS, DataSource, Format, format_of
from crowdblend.policies.unit import ROWS, Unit
from crowdblend.policies.value_types import FilePath, FilePaths

_LONGEST_TEXT = 500
data_key = partial(key, section="data")
# The number may be published. Of a sample that was drawn before, the data hold another one, which is secret.
HOW_MANY_PEOPLE = (
    "How many people a register has, or a sample is or was drawn from, and not how many are in the sample; this number "
    "is public"
)
Drawn = Annotated[Sampling, part("How people are drawn.")]


class About(Section, frozen=True, kw_only=True):
    """Title, publisher, contact, licence and period of a release, published as they are written."""

    section = "about"

    title: Annotated[str | None, key("What the release is called.")] = None
    publisher: Annotated[str | None, key("Who publishes it.")] = None
    contact: Annotated[str | None, key("Where questions about it go.")] = None
    licence: Annotated[str | None, key("The licence of the data, such as CC-BY-4.0.")] = None
    period: Annotated[str | None, key("The time that the data are about.")] = None

    def __post_init__(self) -> None:
        super().__post_init__()
        for name, text in self.texts().items():
            if not text.strip() or not text.isprintable() or len(text) > _LONGEST_TEXT:
                raise refusal(
                    "about",
                    f"`about.{name}` is blank, has a line end or another sign that cannot be seen, or is too long.",
                    f"Write one line of at most {_LONGEST_TEXT} characters.",
                    f"`about.{name}`",
                )

    def texts(self) -> dict[str, str]:
        """Return what is said, by key."""
        return {name: text for name, text in asdict(self).items() if text is not None}


class Terms(Section, frozen=True, kw_only=True):
    """Decisions made once: the rows, the person, the sampling, the budget, the format and the engine's resources."""

    source: Annotated[
        FilePath | None,
        data_key(
            "CSV or Parquet file, folder or glob, DuckDB file, postgresql:// or sqlite:/// address, or - for stdin. "
            "With `--engine spark` also catalog://schema.table, or an address of Parquet files that Spark reads."
        ),
    ] = None
    unit_word: Annotated[
        str | None,
        data_key(
            'What a row is, as a plural such as "stops" or "visits": folder, report and studio count these instead of '
            'people. Whom the guarantee protects stays a person. An unusual singular stands before it: "ox, oxen".',
            name="unit",
        ),
    ] = None
    population: Annotated[
        str | None, data_key("Your name for the people, under which the ledger adds up what was guaranteed to them.")
    ] = None
    source_format: Annotated[
        Format | None, data_key("What the source is, when its name does not say.", name="format")
    ] = None
    table: Annotated[str | None, data_key("The table in a database.")] = None
    query: Annotated[
        str | None,
        data_key(
            "An SQL query, instead of a table: its rows are the data. Nothing in a person's row may be computed from "
            "others' rows."
        ),
    ] = None
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
    date_format: Annotated[
        str | None, data_key('How a CSV file writes dates, such as "%d.%m.%Y"; "%Y-%m" months, "%Y" years.')
    ] = None
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
    format: Annotated[Literal["parquet", "csv"], key("The format of the published data.", section="release")] = (
        "parquet"
    )
    accept_epsilon: Annotated[bool, key("True to publish although epsilon is above 10.", section="privacy")] = False
    proposed: Annotated[
        FilePaths,
        key(
            "The folders of the releases that proposed domains of this policy from the data: their epsilon and delta "
            "are part of those of the policy, and of the certificate.",
            section="privacy",
        ),
    ] = ()
    proposes: Annotated[
        bool, key("True where what is published proposes domains of later policies.", section="release")
    ] = False
    about: Annotated[About | None, part("Who publishes what, for readers.")] = None
    memory: Annotated[
        str | None,
        key(
            'The memory that a release may take, such as "1GB". Beyond it the database spills to disk, and what cannot '
            "be spilled is refused.",
            section="release",
        ),
    ] = None
    threads: Annotated[int | None, key("How many threads the engine may use.", (1, 1024), section="release")] = None

    columns: tuple[Column, ...] = ()
    sampling: Drawn = NOT_SAMPLED
    people: Annotated[
        int | None,
        data_key(
            f"{HOW_MANY_PEOPLE}. Where you give it, delta has to stay below one over it. Statistics and synopses need "
            "it, unless the design has `sampling.of`.",
            (1, 10**12),
        ),
    ] = None
    rows_per_person: Annotated[
        int | None,
        data_key(
            "How many rows of a person count at most. If a person has more, that many are picked at random.",
            ROWS,
        ),
    ] = None
    epsilon: Annotated[
        float | None,
        key("The privacy loss; where k is given, it may be left to the plan.", "epsilon", section="privacy"),
    ] = None
    delta: Annotated[
        float | None,
        key(
            "The probability beyond epsilon; where k is given, it may be left to the plan.", "delta", section="privacy"
        ),
    ] = None
    releases: Annotated[
        int,
        key(
            "How many such releases there will be, each from a fresh sample: epsilon and delta are for all of them "
            "together.",
            "releases",
            section="privacy",
        ),
    ] = 1
    accept_delta: Annotated[
        bool,
        key(
            "True to publish although delta is above 1e-3, or above one over the people of the population.",
            section="privacy",
        ),
    ] = False
    recoding: Annotated[Choosing | None, part("How the recoding is chosen, where columns offer several.")] = None

    def __post_init__(self) -> None:
        force_setattr(self, "columns", columns_of(self.columns) if self.columns or self.needs_columns else ())
        super().__post_init__()
        if self.about is not None and not self.about.texts():  # a section that says nothing is none
            force_setattr(self, "about", None)
        if self.person is not None and not self.person.strip():
            message = "`data.person` is blank."
            raise refusal("person", message, "Use the name of the column in the data.", "`data.person`")
        if self.unit_word is not None and not is_noun(self.unit_word):
            message = f"`data.unit` is {self.unit_word[:60]!r}, which is no noun."
            raise refusal("unit", message, 'Write one in the plural, such as "stops".', "`data.unit`")
        _ = self.resources
        if self.source is not None:
            self._data_source()
        if self.date_format is not None:
            refuse_finer_dates(self.columns, self.date_format)
        if self.format == "csv":
            refuse_formulas(self.published_texts())

    @property
    def needs_columns(self) -> bool:
        """True if columns have to be declared."""
        return False

    def gives(self, field: str) -> bool:
        """Return whether a `field` says something that leaving it out would not."""
        return bool(getattr(self, field) != _DEFAULTS[field])

    def published_texts(self) -> Iterator[tuple[str, str]]:
        """Yield the texts of the policy that are published in cells, each with its place."""
        yield from column_texts(self.columns)

    @cached_property
    def data(self) -> DataSource:
        """The source, ready to be opened; without one, the policy waits for rows from Python."""
        return self._data_source()

    def _data_source(self) -> DataSource:
        if self.source is None:
            return DataSource(source=IN_PYTHON, format="frame", population=self.population, **self._people())
        kind = self.source_format or format_of(self.source)
        read = {name: getattr(self, name) for name in READING_KEYS}
        if kind == "csv" and ending_of(self.source) == ".tsv":
            read["delimiter"] = self.delimiter or "\t"
        return DataSource(source=self.source, format=kind, population=self.population, **read, **self._people())

    def _people(self) -> dict[str, Any]:
        """Return what the source says of people."""
        return {name: getattr(self, name) for name in ("person", "ids", "rows_are_people", "unit")}

    @property
    def unit(self) -> Unit:
        """Whose data are protected, and which rows of a person count."""
        return Unit(self.rows_per_person, self.duplicates == "one")

    def with_source(self, data: DataSource) -> Self:
        """Return the same policy about rows that lie elsewhere, in files or in Python: in `data`."""
        if data.format == "frame":
            placed = copy.copy(self)
            placed.__dict__["data"] = DataSource(
                source=data.source, format="frame", population=self.population, frame=data.frame, **self._people()
            )
            return placed
        read = {name: getattr(data, name) for name in READING_KEYS}
        return self.replace(source=data.source, source_format=data.format, **read)

    def replace(self, **changes: object) -> Self:
        """Return the same with `changes`, other values for some fields, about the same rows where Python holds them."""
        made = super().replace(**changes)
        held = self.__dict__.get("data")
        return made if held is None or held.format != "frame" or "source" in changes else made.with_source(held)

    @property
    def resources(self) -> Resources:
        """The resources that the engine may use."""
        return Resources(None if self.memory is None else memory_of(self.memory), self.threads)


_DEFAULTS = dict(zip(Terms.__struct_fields__, Terms.__struct_defaults__, strict=True))
