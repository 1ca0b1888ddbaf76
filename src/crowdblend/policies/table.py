"""The policy of tables: counts by class, exact from k on, suppressed or noisy below."""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal

from crowdblend.policies.crowd import check_closed, check_names
from crowdblend.policies.key import Section, did_you_mean, key, refusal
from crowdblend.policies.policy import part
from crowdblend.policies.recoded import RecodedPolicy

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*")


@dataclass(frozen=True)
class NamedTable(Section):
    """One of several tables: from the same sample, from a part of it, or from a fresh sample of its own."""

    section = "[[tables]]"

    name: str = key("The table's name, also its file name.", required=True)
    columns: tuple[str, ...] = key("The columns of the table, all named in [columns].", required=True)
    share: float | None = key(
        "The share of the sample that this table is counted in, and no other table; all tables have one, or none.",
        ranged=True,
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if not _NAME.fullmatch(self.name) or len(self.name) > 100:
            raise refusal(
                "table-name",
                f"name in [[tables]] is {self.name[:60]!r}, which cannot be a file name.",
                "Use at most 100 letters, digits, - and _.",
                "[[tables]] name",
            )
        if not self.columns or len(set(self.columns)) < len(self.columns):
            raise refusal(
                "table-columns",
                f"Table {self.name!r} names {'a column twice' if self.columns else 'no column'}.",
                "Name at least one column, each once.",
                "[[tables]] columns",
            )


@dataclass(frozen=True, kw_only=True)
class Table(RecodedPolicy):
    """Counts by class; several tables are margins of the finest one, or each is of a share or of a fresh sample.

    `noise_epsilon` None means the loss that fits epsilon, `show_from` None that every cell is shown where it can be.
    """

    kind = "table"
    reserved = ("count", "exact", "estimate", "low", "high")

    below_k: Literal["suppress", "noise"] = key("What happens to classes below k.", default="suppress")
    flag: bool = key("Say which cells are exact; needs a larger k.", default=False)
    noise_epsilon: float | None = key("The privacy loss of the noise below k, before sampling.", ranged=True)
    show_from: int | None = key(
        "With noise: show only cells from this value on; all are shown unless there are over 1,000,000.",
        between=(1, 10**15),
    )
    rows_per_person: int | None = key(
        "With everybody = true: how many rows a person may have; of more, as many random ones are kept.",
        section="data",
        ranged=True,
    )
    count: Literal["rows", "people"] = key(
        'With rows_per_person: "rows" counts every row that is kept; "people" counts each person once in every class, '
        "in at most rows_per_person random ones.",
        section="data",
        default="rows",
    )
    tables: tuple[NamedTable, ...] = part("tables", NamedTable, "Several tables.", many=True)

    @property
    def shares(self) -> tuple[float, ...]:
        """The share of the sample that each table is counted in; nothing where tables are margins of one."""
        return tuple(table.share for table in self.tables if table.share is not None)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.rows_per_person is not None and (not self.sampling.everybody or self.person is None):
            raise refusal(
                "rows-per-person",
                "rows_per_person in [data] needs a person column and everybody = true in [sampling].",
                'Use duplicates = "one" for tables of a sample.',
                "[data] rows_per_person",
            )
        if self.count == "people" and self.rows_per_person is None:
            raise refusal(
                "count",
                'count = "people" in [data] needs rows_per_person: in how many classes a person may be counted.',
                "Add rows_per_person, or remove count; where people have one row each, rows are people.",
                "[data] count",
            )
        if self.count == "people" and self.tables:
            raise refusal(
                "count",
                "[[tables]] are sums of classes, and a person may be counted in several classes.",
                'Publish one table with count = "people", or count rows.',
                "[data] count",
            )
        if self.below_k == "noise":
            check_closed(self.columns, 'below_k = "noise"')
        else:
            self._refuse_noise()
        self._check_tables()
        if self.shares:
            self._check_shares()

    def _check_fresh(self) -> None:
        """Several tables, each suppressed below k in a sample of its own."""
        for name, given in (
            ("fewer than two [[tables]]", len(self.tables) < 2),
            ("shares in [[tables]]", bool(self.shares)),
            ('below_k = "noise"', self.below_k == "noise"),
            ("[recoding]", self.recoding is not None),
        ):
            if given:
                raise refusal(
                    "fresh",
                    f"fresh = true counts two or more tables, suppressed below k, with a sample for each, not {name}.",
                    "Correct [[tables]] and [release], or remove fresh from [sampling].",
                    "[sampling] fresh",
                )

    def _check_everybody(self) -> None:
        """A register: every cell of a closed domain is noisy, under a pure epsilon."""
        given = {
            "k": self.k,
            "delta": self.delta,
            "recoding": self.recoding,
            "shares in [[tables]]": self.shares or None,
        }
        given |= {"noise_epsilon": self.noise_epsilon, "show_from": self.show_from, "flag": self.flag or None}
        given |= {"releases": self.releases if self.releases > 1 else None}
        given |= {'below_k = "noise"': True if self.below_k == "noise" else None}
        unused = [name for name, value in given.items() if value is not None]
        if unused:
            raise refusal(
                "everybody",
                f"A table of everybody has noise on every cell and no {unused[0]}.",
                f"Remove {', '.join(unused)}, or everybody from [sampling].",
                "[sampling] everybody",
            )
        if self.epsilon is None or self.epsilon <= 0:
            raise refusal(
                "everybody",
                "A table of everybody needs an epsilon above 0.",
                "Add epsilon to [release], for example 1.0.",
                "[release] epsilon",
            )
        if self.rows_per_person is not None and self.duplicates == "one":
            raise refusal(
                "rows-per-person",
                'rows_per_person and duplicates = "one" say two things about people with several rows.',
                "Remove one of them.",
                "[data] rows_per_person",
            )
        if self.rows_per_person is not None and any(table.name.lower() == "totals" for table in self.tables):
            raise refusal(
                "table-name",
                "A table of everybody with rows_per_person has a file of its own called totals.",
                "Rename the table.",
                "[[tables]] name",
            )
        check_closed(self.columns, "everybody = true")
        self._refuse_names_of_totals()
        if not self._listed:
            raise refusal(
                "cells",
                "A table of everybody publishes every cell, and this one has more than 1,000,000.",
                "Publish fewer columns, or coarser classes.",
                "[columns]",
            )

    def _refuse_names_of_totals(self) -> None:
        """The numbers of rows and people are in a file `totals` with a column `total`."""
        if self.rows_per_person is None:
            return
        check_names(self.columns, None, ("total",))
        if any(table.name.lower() == "totals" for table in self.tables):
            raise refusal(
                "table-name",
                "The file totals has the numbers of rows and people, so that no table can be called so.",
                "Rename the table.",
                "[[tables]] name",
            )

    def _people(self) -> dict[str, Any]:
        counts = {"rows_per_person": self.rows_per_person, "counts_people": self.count == "people"}
        return {**super()._people(), **counts}

    @property
    def _listed(self) -> bool:
        """Whether the cells are few enough for all of them to be shown."""
        from crowdblend.recoding.classes import MOST_CELLS_LISTED  # noqa: PLC0415  loads NumPy

        return self.cells is not None and self.cells <= MOST_CELLS_LISTED

    def _refuse_noise(self) -> None:
        for name in ("flag", "noise_epsilon", "show_from"):
            if getattr(self, name):
                raise refusal(
                    "needs-noise",
                    f'{name} in [release] needs below_k = "noise".',
                    f"Remove {name}, or add noise.",
                    f"[release] {name}",
                )

    def _check_tables(self) -> None:
        names = [column.name for column in self.columns]
        seen: set[str] = set()
        if self.tables and self.flag:
            raise refusal(
                "flag-of-margins",
                "Cells of [[tables]] are sums of shown cells and not exact, so that flag has no meaning.",
                "Remove flag, or [[tables]].",
                "[release] flag",
            )
        if self.tables and self.below_k == "noise" and (self.show_from or not self._listed):
            raise refusal(
                "margins-of-cut-cells",
                "[[tables]] would be sums of noisy cells that are shown from a threshold on, and these are too large.",
                'Remove show_from, name at most 1,000,000 cells, or write below_k = "suppress".',
                "[[tables]]",
            )
        for table in self.tables:
            if table.name.lower() in seen:
                raise refusal(
                    "table-twice", f"Two [[tables]] are called {table.name!r}.", "Rename one.", "[[tables]] name"
                )
            seen.add(table.name.lower())
            for name in table.columns:
                if name not in names:
                    raise refusal(
                        "unknown-column",
                        f"Table {table.name!r} takes a column {name!r}, which [columns] does not declare.",
                        did_you_mean(name, names),
                        "[[tables]] columns",
                    )

    def _check_shares(self) -> None:
        from crowdblend.guarantees.parameters import MOST_PARTS, SHARES_ROUNDING  # noqa: PLC0415

        problem = None
        if len(self.shares) < len(self.tables):
            missing = next(table.name for table in self.tables if table.share is None)
            problem = f"Table {missing!r} has no share, and others have one."
        elif sum(map(Fraction, self.shares)) > 1 + Fraction(SHARES_ROUNDING):
            problem = "The shares of [[tables]] add up to more than 1: nobody is in two parts."
        elif len(self.shares) > MOST_PARTS:
            problem = f"A sample is divided into at most {MOST_PARTS} parts."
        if problem is not None:
            raise refusal(
                "table-shares",
                problem,
                "Give every table a share so that they add up to at most 1, or none of them.",
                "[[tables]] share",
            )
        for name, given in (
            ('below_k = "noise"', self.below_k == "noise"),
            ("[recoding]", self.recoding is not None),
            ("low and high", self.sampling.biased),
        ):
            if given:
                raise refusal(
                    "table-shares",
                    f"Tables with a share of the sample are certified for suppression at one rate, not for {name}.",
                    f"Remove {name}, or the shares.",
                    "[[tables]] share",
                )
