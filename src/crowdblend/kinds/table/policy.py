"""The policy of tables: counts by class, exact from k on, suppressed or noisy below."""

from __future__ import annotations

import re
from fractions import Fraction
from typing import Annotated, Any, ClassVar, Literal

from crowdblend.guarantees.parameters import MOST_PARTS, SHARES_ROUNDING
from crowdblend.policies.columns import check_closed, check_names
from crowdblend.policies.crowd import RecodedPolicy
from crowdblend.policies.key import Rule, Section, Texts, conflicts, key, needs, part
from crowdblend.policies.policy import data_key
from crowdblend.policies.refusals import did_you_mean, refusal
from crowdblend.policies.strata import Design
from crowdblend.recoding.classes import MOST_CELLS_LISTED

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,99}")


class NamedTable(Section, frozen=True):
    """One of several tables: from the same sample, from a part of it, or from a fresh sample of its own."""

    section = "[[tables]]"

    name: Annotated[str, key("The table's name, also its file name.")]
    columns: Annotated[Texts, key("The columns of the table, all named in [columns].")]
    share: Annotated[
        float | None,
        key(
            "The share of the sample that this table is counted in, and no other table; all tables have one, or none.",
            "share",
        ),
    ] = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if not _NAME.fullmatch(self.name):
            message = f"name in [[tables]] is {self.name[:60]!r}, which cannot be a file name."
            raise refusal("table-name", message, "Use at most 100 letters, digits, - and _.", "[[tables]] name")
        if not self.columns or len(set(self.columns)) < len(self.columns):
            message = f"Table {self.name!r} names {'a column twice' if self.columns else 'no column'}."
            raise refusal("table-columns", message, "Name at least one column, each once.", "[[tables]] columns")


class Table(RecodedPolicy, frozen=True, kw_only=True):
    """Counts by class; several tables are margins of the finest one, or each is of a share or of a fresh sample.

    `noise_epsilon` None means the loss that fits epsilon, `show_from` None that every cell is shown where it can be.
    """

    kind = "table"
    designs = ("draw", "sample", "everybody")
    rows_are_counted = True
    audits_strata = True
    reserved = ("count", "exact", "estimate", "low", "high")
    rules: ClassVar[tuple[Rule, ...]] = (
        needs("rows_per_person", "sampling.everybody", because='tables of a sample have duplicates = "one"'),
        needs("rows_per_person", "person"),
        conflicts("rows_per_person", "duplicates=one", because="they say two things about people with several rows"),
        needs(
            "count=people",
            "rows_per_person",
            code="count",
            because="it says in how many classes a person may be counted",
        ),
        conflicts(
            "count=people", "tables", code="count", because="tables are sums of classes, and a person may be in several"
        ),
        conflicts(
            *("sampling.everybody", "k", "delta", "recoding", "tables.share", "noise_epsilon", "show_from", "flag"),
            *("releases", "below_k=noise"),
            because="a table of everybody has noise on every cell",
        ),
        *(needs(name, "below_k=noise", code="needs-noise") for name in ("flag", "noise_epsilon", "show_from")),
        *(
            conflicts(
                design, *others, code=code, because=f"{what} is certified for tables suppressed below k at one rate"
            )
            for design, code, what, others in (
                (
                    "tables.share",
                    "table-shares",
                    "a share of the sample",
                    ("below_k=noise", "recoding", "sampling.low"),
                ),
                ("sampling.fresh", "fresh", "a fresh sample", ("tables.share", "below_k=noise", "recoding")),
            )
        ),
        conflicts("flag", "tables", code="flag-of-margins", because="cells of tables are sums of cells, and not exact"),
    )

    below_k: Annotated[Literal["suppress", "noise"], key("What happens to classes below k.")] = "suppress"
    flag: Annotated[bool, key("Say which cells are exact; needs a larger k.")] = False
    noise_epsilon: Annotated[
        float | None, key("The privacy loss of the noise below k, before sampling.", "noise_epsilon")
    ] = None
    show_from: Annotated[
        int | None,
        key(
            "With noise: show only cells from this value on; all are shown unless there are over 1,000,000.",
            (1, 10**15),
        ),
    ] = None
    rows_per_person: Annotated[
        int | None,
        data_key(
            "With everybody = true: how many rows a person may have; of more, as many random ones are kept.",
            "rows_per_person",
        ),
    ] = None
    count: Annotated[
        Literal["rows", "people"],
        data_key(
            'With rows_per_person: "rows" counts every row that is kept; "people" counts each person once in every '
            "class, in at most rows_per_person random ones."
        ),
    ] = "rows"
    tables: Annotated[tuple[NamedTable, ...], part("Several tables.")] = ()

    @property
    def shares(self) -> tuple[float, ...]:
        """The share of the sample that each table is counted in; nothing where tables are margins of one."""
        return tuple(table.share for table in self.tables if table.share is not None)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.below_k == "noise":
            check_closed(self.columns, 'below_k = "noise"')
        self._check_tables()
        if self.shares:
            self._check_shares()

    def _check_fresh(self) -> None:
        if len(self.tables) < 2:
            message = "fresh = true in [sampling] draws a sample for each of two or more tables, and there are fewer."
            raise refusal("fresh", message, "Add [[tables]], or remove fresh from [sampling].", "[sampling] fresh")

    def _check_everybody(self) -> None:
        """Refuse what a register cannot have: every cell of a closed domain is noisy, under a pure epsilon."""
        if self.epsilon is None or self.epsilon <= 0:
            message = "A table of everybody needs an epsilon above 0."
            raise refusal("everybody", message, "Add epsilon to [release], for example 1.0.", "[release] epsilon")
        check_closed(self.columns, "everybody = true")
        if self.rows_per_person is not None:
            check_names(self.columns, None, ("total",))
        if not self.cells_are_listed:
            message = f"A table of everybody publishes every cell, and this one has more than {MOST_CELLS_LISTED:,}."
            raise refusal("cells", message, "Publish fewer columns, or coarser classes.", "[columns]")

    def _check_design(self, design: Design) -> None:
        super()._check_design(design)
        name, noisy, problem = design.column.name, self.below_k == "noise", None
        without = next((table.name for table in self.tables if design.published and name not in table.columns), None)
        if without is not None:
            problem = f"Table {without!r} leaves {name!r} out, so that its counts would add people of different rates."
            remedy = f"Add {name!r} to its columns; readers add estimates up with `crowdblend read --margin`."
        elif noisy and not design.published:
            problem = f"Noise is certified where a class has one rate, and column {name!r} is not published."
            remedy = f'Publish {name!r}, or write below_k = "suppress".'
        elif noisy and self.epsilon is None:
            problem = "The noise of every stratum follows from epsilon, which is missing."
            remedy = "Add epsilon to [release]."
        elif noisy and not self.cells_are_listed:
            problem = f"Noise in strata is certified where every cell is shown, up to {MOST_CELLS_LISTED:,} cells."
            remedy = 'Publish fewer columns, or coarser classes, or write below_k = "suppress".'
        if problem is not None:
            raise refusal(design.key, problem, remedy, f"[sampling] {design.key}")

    def _people(self) -> dict[str, Any]:
        counts = {"rows_per_person": self.rows_per_person, "counts_people": self.count == "people"}
        return {**super()._people(), **counts}

    def _check_tables(self) -> None:
        names = [column.name for column in self.columns]
        if self.tables and self.below_k == "noise" and (self.show_from or not self.cells_are_listed):
            raise refusal(
                "margins-of-cut-cells",
                "[[tables]] would be sums of noisy cells that are shown from a threshold on, and these are too large.",
                'Remove show_from, name at most 1,000,000 cells, or write below_k = "suppress".',
                "[[tables]]",
            )
        seen: set[str] = set()
        for table in self.tables:
            if table.name.lower() in seen:
                raise refusal(
                    "table-twice", f"Two [[tables]] are called {table.name!r}.", "Rename one.", "[[tables]] name"
                )
            seen.add(table.name.lower())
            for name in table.columns:
                if name not in names:
                    message = f"Table {table.name!r} takes a column {name!r}, which [columns] does not declare."
                    raise refusal("unknown-column", message, did_you_mean(name, names), "[[tables]] columns")
        if self.rows_per_person is not None and "totals" in seen:
            message = "The file totals has the numbers of rows and people, so that no table can be called so."
            raise refusal("table-name", message, "Rename the table.", "[[tables]] name")

    def _check_shares(self) -> None:
        problem = None
        if len(self.shares) < len(self.tables):
            missing = next(table.name for table in self.tables if table.share is None)
            problem = f"Table {missing!r} has no share, and others have one."
        elif sum(map(Fraction, self.shares)) > 1 + Fraction(SHARES_ROUNDING):
            problem = "The shares of [[tables]] add up to more than 1: nobody is in two parts."
        elif len(self.shares) > MOST_PARTS:
            problem = f"A sample is divided into at most {MOST_PARTS} parts."
        if problem is not None:
            message = problem
            remedy = "Give every table a share so that they add up to at most 1, or none of them."
            raise refusal("table-shares", message, remedy, "[[tables]] share")
