"""A release folder as everybody reads it: `read`, reports and verification.

Facts are guarded by a digest that anyone can compute, so they may be of any form: they are read once, into the class
of their kind, and refused where they do not fit it.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from numbers import Real
from pathlib import Path
from typing import Any

import pyarrow as pa

from crowdblend.errors import InvalidInput
from crowdblend.kinds.shared.facts import DATA, CellTable, ReleaseFacts, contradiction, read_facts
from crowdblend.kinds.shared.outputs import Output
from crowdblend.methods.estimates.cells import BLOCK, combinations
from crowdblend.methods.estimates.estimator import CONFIDENCE
from crowdblend.policies.registry import part
from crowdblend.reading import exports, notes, numbers
from crowdblend.reading.allowance import Allowance
from crowdblend.reading.cells import Cells, Labels, open_cells
from crowdblend.reading.columns import Column, columns_of, typed_batches, types_of
from crowdblend.reading.data_file import DataFile
from crowdblend.reading.data_frames import Frames, TableForm
from crowdblend.reading.figures.chart import Chart
from crowdblend.reading.margins import Margin, margin_of
from crowdblend.trusted.calculus import Certificate, verify
from crowdblend.trusted.calculus.encoding import read_text
from crowdblend.trusted.calculus.folder_files import CERTIFICATE, DATA_ENDINGS, check_files, list_files
from crowdblend.trusted.guarantees.parameters import brief, check_type, path_of
from crowdblend.trusted.guarantees.privacy import Guarantee
from crowdblend.trusted.machine.lazy import lazy_imports

with lazy_imports():
    from crowdblend.reading import consistent as consistency
    from crowdblend.reading import ranges as tree

# Files that a release may have beside its data.
_BESIDE = ("totals",)
# Statistics have a row for every bin.
MOST_STATED = 1_000_000


@dataclass(frozen=True)
class PublishedRelease:
    """A release whose certificate holds and whose files have the certified hashes, as `read` returns it.

    `release["by_age"]` is one publication, with the same methods. `folder` has the files, `certificate` the guarantees;
    `publication` is the name of this one of several, and `whole` the release that they are published in. `outputs` are
    what was just written, and need not be read again; `form` is how tables are handed back.
    """

    folder: Path
    certificate: Certificate = field(repr=False)
    publication: str | None = None
    outputs: Sequence[Output] = field(default=(), repr=False, compare=False)
    """What was just written into files, which need not be read again."""
    form: TableForm = field(default=TableForm(), repr=False, compare=False)
    """How tables are handed back."""
    whole: PublishedRelease | None = field(default=None, repr=False, compare=False)
    """The release that this is one of several publications of, and whose files are open already."""

    def __getitem__(self, name: str) -> PublishedRelease:
        """Return one publication by its name, as a release of its own."""
        if not isinstance(name, str):
            raise self._no_table(name)
        known = {file.stem: DATA for file in self.files.values()} if not self.is_programme else {}
        if (found := self.publications.get(known.get(name, name))) is None:
            raise self._no_table(name)
        return found

    def __iter__(self) -> Iterator[str]:
        return iter(self.files if self.is_programme else self.publications)

    @cached_property
    def facts(self) -> ReleaseFacts:
        """The certificate's facts about the release; refuses facts that are not those of its kind.

        Of one publication of a programme, what it says about that.
        """
        if self.whole is not None:
            return self.whole.facts.publications[self.publication or DATA]
        return read_facts(self.certificate.facts)

    @cached_property
    def publications(self) -> Mapping[str, PublishedRelease]:
        """Every publication by its name, as a release of its own, in the declared order; the one where there is one."""
        if self.facts.publications.get(DATA) is self.facts:
            return {DATA: self}
        return {name: replace(self, publication=name, whole=self) for name in self.facts.publications}

    @property
    def kind(self) -> str:
        """The kind of publication: table, microdata, points and so on."""
        return self.facts.kind

    @property
    def guarantees(self) -> tuple[Guarantee, ...]:
        """The guarantees to the people, strongest first."""
        return self.certificate.guarantees

    @property
    def about(self) -> dict[str, str]:
        """Title, publisher, contact, licence, period and date, as far as they are stated."""
        return {**self.facts.about, **({"date": self.facts.date} if self.facts.date else {})}

    @property
    def domain(self) -> dict[str, Labels | None]:
        """Every declared label of every column, published or not; None where a domain is open or not stated."""
        return {name: domain.labels for name, domain in self.facts.domains.items()}

    @cached_property
    def tables(self) -> Mapping[str, CellTable]:
        """Every table of people counted in cells; none for kinds that publish none."""
        return self.facts.tables

    @cached_property
    def uncovered(self) -> tuple[str, ...]:
        """The files that the certificate does not cover; refuses files that are not the certified ones, once.

        Sizes are compared before anything is read or hashed.
        """
        list_files(self.folder, self.facts.files)
        _ = self.files  # refuses a certificate without data, and data that take more than is certified
        return check_files(self.folder, self.facts.files)

    @cached_property
    def data_files(self) -> tuple[DataFile, ...]:
        """The data files of the folder, in the order of the certificate."""
        if self.whole is not None:
            return self.whole.data_files
        return tuple(DataFile(self.folder / name) for name in self.facts.files if name.endswith(DATA_ENDINGS))

    @cached_property
    def files(self) -> dict[str, DataFile]:
        """The data files by the names of their tables, as declared; the main one first."""
        if self.whole is not None and self.publication in self.whole.files:
            return {DATA: self.whole.files[self.publication]}
        stems = {file: file.stem for file in self.data_files}
        if not stems or self.whole is not None:
            message = "The certificate names no data file (.parquet or .csv)."
            remedy = "Pass the folder of a whole release."
            raise InvalidInput(message, remedy=remedy, code="reading.no-data", where="certificate.json")
        own = [file for file, stem in stems.items() if stem not in _BESIDE]
        if not self.is_programme and len(own) == 1:
            stems[own[0]] = DATA  # called after its publication
        # Rows that were made from the other publications are what their policy asks for: they come first.
        each = self.facts.publications
        declared = [DATA, *sorted(each, key=lambda name: not each[name].is_computed_from_others)]
        places = {name: place for place, name in enumerate(dict.fromkeys(declared))}
        ordered = sorted(stems, key=lambda file: (places.get(stems[file], len(places)), file.name))
        files = {stems[file]: file for file in ordered}
        if len(files) < len(stems):
            raise contradiction("it names two data files for one table")
        for name, file in files.items():
            with file.readable():
                Allowance(self.facts.declared_domains, self._most_rows(name)).check(file)
        return files

    def columns_of(self, file: DataFile) -> list[Column]:
        """Return the columns of a data `file`, with their types and meanings."""
        return columns_of(file, self.facts.publications.get(file.stem, self.facts))

    def output(self, name: str) -> Output | None:
        """Return what was just written into the file of the table `name`, where that is known."""
        file = self.files[name].name
        return next((output for output in self.outputs if output.file == file), None)

    def _most_rows(self, name: str) -> int | None:
        """Return the largest possible number of rows of a table; None where it is unknown."""
        if self.facts.stated_confidence is not None:
            return MOST_STATED
        if not self.facts.rows_are_counted or name not in self.tables:
            return None
        return combinations(domain.number_of_labels for domain in self.tables[name].columns.values())

    @property
    def data(self) -> Any:
        """The published data; of several publications the first declared.

        Labels have the type of what they stand for, or are categories in the declared order.
        """
        return self.table(next(iter(self.files)))

    def table(self, name: str) -> Any:
        """Return the published table `name`."""
        self._file(name)  # refuses another name
        if self.is_programme:
            return self.publications[name].table(DATA)
        return self._frame(self._texts(name))

    def _file(self, name: str) -> DataFile:
        if not isinstance(name, str) or name not in self.files:
            raise self._no_table(name)
        return self.files[name]

    def _texts(self, name: str) -> pa.Table:
        """Return a table with its labels as texts."""
        file = self.files[name]
        return file.table(types_of(self.columns_of(file)))

    def _frame(self, table: pa.Table) -> Any:
        return self.form.frame(table, self.facts.domains)

    def _no_table(self, name: object) -> InvalidInput:
        message = f"The release has no table {brief(name)}."
        remedy = f"Its tables are {', '.join(self.files)}."
        return InvalidInput(message, remedy=remedy, where="table", code="reading.no-table")

    def estimates(
        self,
        confidence: float = CONFIDENCE,
        margin: str | Sequence[str] | None = None,
        table: str | None = None,
        *,
        consistent: bool = False,
        intervals: bool = False,
    ) -> Any:
        """Return estimates of the population with intervals, by cell or by margin.

        Intervals hold with this `confidence`. `table` names one of several publications. `consistent` estimates are
        those of a table that agrees with all other publications in what they have in common; its own estimate and
        interval stand beside them. `intervals` puts the ends of classes of numbers beside their labels: in a pandas
        column `_interval`, or in two columns `_from` and `_to`.

        A `margin` names columns, or one; an empty one is the total. Rows are every combination of declared labels,
        published or not, where they can be listed. `count` is blank where nothing is published, `low` and `high` where
        nothing can be said, and `estimate` where cells are missing: their sum is no estimate.
        """
        margin = [margin] if isinstance(margin, str) else margin
        if margin is not None and not (isinstance(margin, Sequence) and all(isinstance(one, str) for one in margin)):
            message = f"margin takes names of columns, got {brief(margin)}."
            remedy = 'Write margin=["sex", "age"], for example.'
            raise InvalidInput(message, remedy=remedy, where="margin", code="reading.margin")
        if margin is not None and len(set(margin)) < len(margin):
            message = "margin names a column twice."
            raise InvalidInput(message, remedy="Name each column once.", where="margin", code="reading.margin")
        check_type("confidence", confidence, Real, "a share, such as 0.95")
        if not 0 < confidence < 1:
            message = f"confidence must be between 0 and 1, got {confidence!r}."
            raise InvalidInput(
                message, remedy="Pass a share such as 0.95.", where="confidence", code="reading.confidence"
            )
        if consistent:
            return self._consistent(confidence, margin, table, intervals=intervals)
        if self.is_programme:
            return self._publication(margin, table).estimates(confidence, margin, intervals=intervals)
        if self.facts.stated_confidence is not None:
            stated = numbers.stated_errors(self._texts(DATA), confidence, self.facts.stated_confidence)
            return self._frame(stated)
        if table is not None and table in self.files and table not in self.tables:
            return self.table(table)  # totals are no cells
        found = self.margin(margin, confidence, table).table()
        return self.form.frame(found, self.facts.domains, intervals=intervals)

    def numbers(self, confidence: float = CONFIDENCE, table: str | None = None) -> pa.Table:
        """Return every published number with its interval and its status, in one form for all kinds.

        Columns are those of labels and of statistics, then count, estimate, low, high and status: exact, noisy, hidden,
        or partial where some of those counted are not shown. Cells that were not published are listed where all are
        declared. `table` names one of several publications, and intervals hold with this `confidence`.
        """
        if self.is_programme:
            return self._publication(None, table).numbers(confidence)
        if self.facts.stated_confidence is not None:
            stated = numbers.stated_errors(self._texts(DATA), confidence, self.facts.stated_confidence)
            return numbers.of_statistics(stated)
        if table is not None and table not in self.tables:
            self._file(table)  # refuses another name
            return numbers.of_totals(self._texts(table))
        margin = self.margin(None, confidence)
        return numbers.of_cells(self.tables[DATA], margin)

    def columns(self, table: str) -> list[Column]:
        """Return the columns of the published `table`, with their types, meanings and domains."""
        return self.columns_of(self._file(table))

    def batches(self, table: str) -> pa.RecordBatchReader:
        """Return the rows of the published `table`, some at a time, of the same types in every format of files."""
        return typed_batches(self._file(table), self.columns(table))

    def export(self, out: str | os.PathLike[str], table: str | None = None, *, force: bool = False) -> Path:
        """Write what was published into a file for other programs, and return its path.

        The ending of `out` names the format: .csv for spreadsheets, which takes one `table` of several. An existing
        file is refused; with `force` it is replaced.
        """
        return exports.export(self, path_of("out", out), table, force=force)

    def plot(self) -> Chart:
        """Return the figure that the report begins with; of several publications that of the first."""
        one = self[next(iter(self))] if self.is_programme else self
        found = part(one.kind, "view").view(one, True).figure
        if found is None:
            message = f"A publication of kind {one.kind[:40]!r} has no figure here."
            raise InvalidInput(message, remedy="Read its numbers.", where="plot", code="reading.no-figure")
        return Chart(str(found.wide).replace("<svg", '<svg xmlns="http://www.w3.org/2000/svg"', 1), found.caption)

    def margin(
        self, columns: Sequence[str] | None = None, confidence: float = CONFIDENCE, table: str | None = None
    ) -> Margin:
        """Return the margin of some `columns` of a `table` at a `confidence` as a value, for those who draw it."""
        if self.is_programme:
            return self._publication(columns, table).margin(columns, confidence)
        cells = self._cells(columns, table)
        labels = [name for name in cells.columns if name in self.facts.domains]
        return margin_of(self.tables[DATA], cells, labels if columns is None else columns, confidence)

    def notes(
        self, margin: Sequence[str] | None = None, table: str | None = None, *, confidence: float = CONFIDENCE
    ) -> list[str]:
        """Return sentences on what estimates at a `confidence` can and cannot say, of a `margin` or a `table`."""
        if self.is_programme:
            one = self._publication(margin, table)
            others = ", ".join(name for name in self.publications if name != one.publication)
            here = [] if table else [f"This is the publication {one.publication}; name another one as table: {others}."]
            return [*here, *one.notes(margin, confidence=confidence)]
        if not self.tables:
            return [*self.facts.together, *self.facts.notes]
        self._cells(margin, None)
        return notes.sentences(self.facts, self.tables[DATA], margin, confidence)

    @property
    def counted_publications(self) -> Mapping[str, PublishedRelease]:
        """The publications of people in cells that are all listed and add up, by their names."""
        return {
            name: one
            for name, one in self.publications.items()
            if one.tables
            and one.tables[DATA].laws.add_up
            # Of several rows of a person every publication keeps others, so that their margins differ.
            and not (self.is_programme and one.facts.unit.several)
            and all(domain.labels is not None for domain in one.tables[DATA].columns.values())
        }

    def _consistent(
        self, confidence: float, margin: Sequence[str] | None, table: str | None, *, intervals: bool
    ) -> Any:
        counted = self.counted_publications
        found = consistency.consistent_estimates(
            {name: one.margin(None, confidence) for name, one in counted.items()},
            {name: one.tables[DATA].columns for name, one in counted.items()},
        )
        name = next(iter(found)) if table is None else table
        if margin is not None or name not in found:
            message = "Consistent estimates are those of a whole table of people in cells."
            remedy = f"Name one of {', '.join(found)} as table, without a margin."
            raise InvalidInput(message, remedy=remedy, where="table", code="reading.consistent")
        return self.form.frame(found[name], counted[name].facts.domains, intervals=intervals)

    def ranges(self, column: str, edges: Sequence[tree.Edge], confidence: float = CONFIDENCE) -> Any:
        """Return how many people lie between every two `edges` of an ordered `column`, with intervals.

        Tables of that column at several widths are made to agree: what `ranges = true` publishes. Edges are ends of
        the narrowest classes; of dates their labels. Intervals hold with this `confidence`.
        """
        found = tree.published_ranges(self.counted_publications.values(), column, edges, confidence)
        return self.form.frame(found, {})

    @property
    def is_programme(self) -> bool:
        """True if there are several publications."""
        return DATA not in self.publications or self.publications[DATA] is not self

    def _publication(self, columns: Sequence[str] | None, table: str | None) -> PublishedRelease:
        """Return the publication that is named, or the one with the fewest columns that has all of these."""
        if table is not None:
            self.table(table)
            return self.publications[table]
        wanted = set(columns or ())
        fitting = [one for one in self.publications.values() if one.tables and wanted <= set(one.tables[DATA].columns)]
        if not fitting:
            message = f"No publication of the release has all of the columns {', '.join(sorted(wanted))[:200]}."
            remedy = f"Name columns of one of them, or one of {', '.join(self.publications)} as table."
            raise InvalidInput(message, remedy=remedy, where="margin", code="reading.no-column")
        return fitting[0] if columns is None else min(fitting, key=lambda one: len(one.tables[DATA].columns))

    def _cells(self, columns: Sequence[str] | None, table: str | None) -> Cells:
        """Return the cells of the one table; refuse a release without any, or columns that it does not have."""
        if not self.tables:
            message = f"A release of kind {self.kind[:40]!r} has no counts of people in cells."
            raise InvalidInput(message, remedy="Read its data instead.", code="reading.no-counts", where="folder")
        if table is not None and table not in self.tables:
            self.table(table)
        cells = self.open(DATA)
        if wanted := set(columns or ()) - set(cells.columns):
            message = f"No table of the release has the columns {', '.join(sorted(wanted))[:200]}."
            remedy = (
                f"Name columns of the table: {', '.join(cells.columns)}."
                if cells.columns
                else "It has none: read the total."
            )
            raise InvalidInput(message, remedy=remedy, where="margin", code="reading.no-column")
        return cells

    def open(self, name: str) -> Cells:
        """Open the file of the table `name` as cells; of points only the blocks that are shown are labels."""
        cells = open_cells(self.files[name], counted=bool(self.facts.rows_are_counted))
        shown = [BLOCK for table in self.tables.values() if table.laws.blocks_shown]
        kept = tuple(column for column in cells.columns if column in self.facts.domains or column in shown)
        return replace(cells, columns=kept)


def read(folder: str | os.PathLike[str], *, frames: Frames = "arrow") -> PublishedRelease:
    """Open a release `folder` with its data files; raises DoesNotVerify where its certificate or a file was changed.

    Tables are Arrow tables, or with `frames` pandas or Polars ones. That the data keep to what the certificate says of
    them is what `verify` checks as well.
    """
    path, form = release_folder(folder), TableForm(frames)
    release = PublishedRelease(path, verify(read_text(path / CERTIFICATE)), form=form)
    _ = release.uncovered  # refuses files that are not the certified ones
    return release


def release_folder(folder: str | os.PathLike[str]) -> Path:
    """Return the path of a release folder; refuse what is no folder."""
    path = path_of("folder", folder)
    if not path.is_dir():
        message = f"{str(path)[:200]!r} is not a folder."
        remedy = "Pass the folder that has certificate.json in it."
        raise InvalidInput(message, remedy=remedy, where="folder", code="reading.no-folder")
    return path
