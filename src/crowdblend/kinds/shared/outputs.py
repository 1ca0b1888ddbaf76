"""Published files: the same bytes for the same publication.

An output knows its columns and hands its rows out in pieces: a class of a hundred million equal rows is written in
pieces, not at once.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar, TypeAlias

import numpy as np
from numpy.typing import NDArray

from crowdblend.errors import InvalidInput
from crowdblend.kinds.shared.data_formats import format_of
from crowdblend.kinds.shared.facts import DATA
from crowdblend.kinds.shared.places import Places
from crowdblend.methods.estimates.cells import CellLaws
from crowdblend.methods.estimates.estimator import Intervals
from crowdblend.methods.recoding.code_rows import repeat_rows, slices
from crowdblend.sources.engines.arrow_numbers import arrow_numbers
from crowdblend.trusted.machine.lazy import lazy_imports

with lazy_imports():
    import pyarrow as pa

    from crowdblend.kinds.shared.facts import ReleaseFacts
    from crowdblend.methods.mechanisms import NoisyHistogram, OutlierHistogram, PublishedClasses, PublishedPoints
    from crowdblend.methods.recoding.axes import Axis
    from crowdblend.policies.publication_policy import PublicationPolicy

Whole: TypeAlias = NDArray[np.int64]
# The columns of some rows.
Piece: TypeAlias = "list[NDArray[Any] | pa.Array]"
# Rows per piece.
PIECE = 1_000_000
# What the columns beside a count say about the population.
ESTIMATES = ("estimate", "low", "high")


@dataclass(frozen=True)
class Output(ABC):
    """One file to be published; the ending of its name is its format."""

    file: str
    looks_up_numbers: ClassVar[bool] = True
    """True if a Parquet file has dictionaries of numbers; among sorted rows they take more time and room than none."""

    @property
    @abstractmethod
    def header(self) -> list[str]:
        """The names of the columns."""

    @abstractmethod
    def pieces(self) -> Iterator[Piece]:
        """Return the rows, some at a time: an array for every column. There is always a piece, if an empty one."""

    def write(self, folder: Path) -> None:
        """Write the file into a folder."""
        writer, form = None, format_of(self.file)
        try:
            for piece in self.pieces():
                columns = [arrow_numbers(some) if isinstance(some, np.ndarray) else some for some in piece]
                batch = form.written(pa.record_batch(columns, names=self.header))
                writer = writer or form.writer(folder / self.file, batch, looks_up_numbers=self.looks_up_numbers)
                writer.write(batch)
                del piece, columns, batch  # the next ones take their place
        except OSError as problem:
            message = f"Writing the release failed: {problem.strerror}."
            raise InvalidInput(message, remedy="Make room on the disk.", where=self.file, code="write-failed") from None
        finally:
            if writer is not None:
                writer.close()


@dataclass(frozen=True)
class CountsOutput(Output):
    """One row per published class: its count, whether it is exact where that is published, and what it stands for.

    The estimate and its ends follow from the count and from the facts of the certificate, and from nothing else.
    """

    published: PublishedClasses
    laws: CellLaws

    @property
    def header(self) -> list[str]:
        flag = ["exact"] if self.published.exact is not None else []
        return [*self.published.columns, self.laws.counter, *flag, *ESTIMATES]

    def pieces(self) -> Iterator[Piece]:
        published = self.published
        found = self._intervals()
        for rows in slices(len(published.counts), PIECE):
            flag = [] if published.exact is None else [published.exact[rows]]
            counted = [*_label_columns(published.labels, published.codes[rows].T), published.counts[rows], *flag]
            yield [*counted, *_estimate_columns(found, rows)]

    def _intervals(self) -> Intervals:
        published, labels = self.published, None
        if self.laws.stratum is not None:
            place = published.columns.index(self.laws.stratum)
            labels = np.array([*published.labels[place], None], object)[published.codes[:, place]]
        return self.laws.intervals(published.counts, published.exact, labels)


@dataclass(frozen=True)
class RecordsOutput(Output):
    """One row per published person, class by class: an order that does not depend on the input's."""

    published: PublishedClasses

    def written_classes(self) -> PublishedClasses:
        """Return the classes with their labels as they stand in the file."""
        written = format_of(self.file).written_label
        return replace(self.published, labels=tuple(tuple(map(written, known)) for known in self.published.labels))

    @property
    def header(self) -> list[str]:
        return list(self.published.columns)

    def pieces(self) -> Iterator[Piece]:
        published = self.published
        # Numbers that are as short as they can be are repeated and encoded faster.
        columns = [
            codes.astype(np.min_scalar_type(-len(known)))
            for codes, known in zip(published.codes.T, published.labels, strict=True)
        ]
        for touched, times in repeat_rows(published.counts, PIECE):
            yield _label_columns(published.labels, [np.repeat(codes[touched], times) for codes in columns])


@dataclass(frozen=True)
class RowsOutput(Output):
    """Rows as they come; their order must already say nothing."""

    columns: tuple[str, ...]
    labels: tuple[tuple[str, ...], ...]
    codes: NDArray[np.int32]

    @property
    def header(self) -> list[str]:
        return list(self.columns)

    def pieces(self) -> Iterator[Piece]:
        for rows in slices(len(self.codes), PIECE):
            yield _label_columns(self.labels, self.codes[rows].T)


@dataclass(frozen=True)
class PointsOutput(Output):
    """One row per published point: what travels along, its block if that is shown, its coordinates, and estimates.

    The estimate and its ends are about the people with the same labels, and in the same block if that is shown: they
    follow from how many points have these, and from the facts of the certificate.
    """

    looks_up_numbers = False
    published: PublishedPoints
    columns: tuple[str, ...]
    axes: tuple[tuple[str, Axis], ...]
    laws: CellLaws

    @property
    def header(self) -> list[str]:
        shown = [] if self.published.blocks is None else ["block"]
        return [*self.columns, *shown, *(name for name, _ in self.axes), *ESTIMATES]

    def pieces(self) -> Iterator[Piece]:
        published = self.published
        sizes, found = self._groups()
        said: Piece = []
        before: tuple[slice, list[int]] | None = None
        for (rows, times), (groups, within) in zip(
            repeat_rows(published.counts, PIECE), repeat_rows(sizes, PIECE), strict=True
        ):
            # Pieces of one group have the same columns of estimates.
            if before != (before := (groups, within.tolist())):
                said = _estimate_columns(found, groups, within)
            yield [*self._points(rows, times), *said]

    def places(self) -> Places:
        """Return where the points are, and how many."""
        cells = zip(self.published.cells, self.axes, strict=True)
        return Places.of([axis.midpoints(of_axis) for of_axis, (_, axis) in cells], self.published.counts)

    def _points(self, rows: slice, times: Whole) -> Piece:
        """Return the columns of some points beside what is said of them."""
        published = self.published
        points = _label_columns(published.labels, np.repeat(published.codes[rows], times, axis=0).T)
        if published.blocks is not None:
            points.append(np.repeat(published.blocks[rows], times))
        cells = zip(published.cells, self.axes, strict=True)
        return [*points, *(np.repeat(axis.midpoints(of_axis[rows]), times) for of_axis, (_, axis) in cells)]

    def _groups(self) -> tuple[Whole, Intervals]:
        """Return the number of points with equal labels, and block if shown, and their intervals."""
        published = self.published
        starts = np.zeros(len(published.counts), np.bool_)
        starts[:1] = True
        for column in [*published.codes.T, *([] if published.blocks is None else [published.blocks])]:
            starts[1:] |= column[1:] != column[:-1]
        sizes = np.add.reduceat(published.counts, np.flatnonzero(starts)) if len(starts) else published.counts
        labels = None
        if self.laws.stratum is not None:
            place = self.columns.index(self.laws.stratum)
            labels = np.array([*published.labels[place], None], object)[published.codes[starts, place]]
        return sizes, self.laws.intervals(sizes, None, labels)


@dataclass(frozen=True)
class NumbersOutput(Output):
    """A small table of named columns; `texts` and `doubles` are columns of these types, also where all are blank."""

    values: Mapping[str, Sequence[str | float | None]]
    texts: tuple[str, ...] = ()
    doubles: tuple[str, ...] = ()

    @property
    def header(self) -> list[str]:
        return list(self.values)

    def pieces(self) -> Iterator[Piece]:
        yield [
            pa.array(values, pa.string() if name in self.texts else pa.float64() if name in self.doubles else None)
            for name, values in self.values.items()
        ]


def counts_output(policy: PublicationPolicy, classes: PublishedClasses, facts: ReleaseFacts) -> CountsOutput:
    """Return the file of a table, whose cells are read by the laws of its facts."""
    return CountsOutput(policy.file, classes, facts.tables[DATA].laws)


def describe_shown(mechanism: NoisyHistogram | OutlierHistogram, cells: int, noun: str) -> str:
    """Return which cells of a noisy table are shown, for the dry run."""
    if mechanism.show_from is None:
        return f"every one of the {cells:,} {noun} is shown, negative values included"
    false = mechanism.expected_false_cells(cells)
    return f"shown from {mechanism.show_from}; about {false:,.0f} empty {noun} as well"


def _estimate_columns(intervals: Intervals, rows: slice, times: Whole | int = 1) -> Piece:
    """Return the estimate and its ends, each this many times; blank where nothing can be said."""
    estimate, low, high = (
        np.repeat(column[rows], times) for column in (intervals.estimate, intervals.low, intervals.high)
    )
    return [
        arrow_numbers(estimate, np.isnan(estimate)),
        arrow_numbers(low, low < 0),
        arrow_numbers(high, high < 0),
    ]


def _label_columns(labels: Sequence[tuple[str, ...]], columns: Iterable[NDArray[np.signedinteger]]) -> Piece:
    """Return the labels of some rows, dictionary-coded so that each text is kept once."""
    return [
        pa.DictionaryArray.from_arrays(arrow_numbers(codes), pa.array(known, pa.string()))
        for known, codes in zip(labels, columns, strict=True)
    ]
