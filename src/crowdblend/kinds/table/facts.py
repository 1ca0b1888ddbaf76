"""Facts of tables: of a sample, of its strata, and of registers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Literal

import msgspec

from crowdblend.calculus import Derivation
from crowdblend.designs.design import Claims, SeveralRows
from crowdblend.mechanisms.everywhere import GaussianEverywhere, NoiseEverywhere, NoisyTotal, ThresholdHistogram
from crowdblend.mechanisms.histograms import NoisyHistogram, SuppressedHistogram
from crowdblend.releases.crowd_facts import CrowdFacts, by_law, by_stratum
from crowdblend.releases.facts import (
    DATA,
    CellTable,
    Parameters,
    check_budget,
    contradiction,
    people_in_classes,
    rows_left_out,
)
from crowdblend.releases.series import check_totals

TOTALS = "totals"
# What is noisy whatever its size, so that it needs no sample.
AnyNoise = NoiseEverywhere | GaussianEverywhere | ThresholdHistogram
# Intervals where a part of the sample chose the labels.
_CHOSEN_ENDS = {
    name: ("integer", f"The {end} end of the interval that has 95 % coverage for labels that were fixed beforehand.")
    for name, end in (("low", "lower"), ("high", "upper"))
}


class TableFacts(CrowdFacts, frozen=True, kw_only=True, tag="table"):
    """Facts of a release of tables; `count` says what the rows of a register count."""

    rows_are_counted = True
    loss_follows_from_domains = False
    mechanism: SuppressedHistogram | NoisyHistogram | AnyNoise | None = None
    strata: dict[str, SuppressedHistogram | NoisyHistogram] = msgspec.field(default_factory=dict)
    totals: tuple[NoisyTotal, ...] = ()
    count: Literal["rows", "people"] = "rows"

    @property
    def publishes(self) -> str | None:
        if isinstance(self.mechanism, ThresholdHistogram):
            return "Counts by class, with noise, of the classes that enough people have."
        return "Counts by class, with noise." if isinstance(self.mechanism, AnyNoise) else None

    @property
    def rows_in_cells(self) -> int | None:
        """The largest number of rows counted per person where every cell has noise; None where everybody has one."""
        return self.mechanism.rows_per_person if isinstance(self.mechanism, NoiseEverywhere) else None

    @property
    def counting_note(self) -> str | None:
        rows = self.rows_in_cells
        if rows is None:
            return super().counting_note
        if self.count == "people":
            return f"{people_in_classes(rows)} The number of people is in the table totals."
        return (
            f"Counts are rows about everybody in the table: of each person at most {rows} random ones. The number of "
            "people is in the table totals. Rows that were left out are in none of the numbers, and in no interval. "
            f"{rows_left_out(rows)}"
        )

    @property
    def meanings(self) -> Mapping[str, tuple[str, str]]:
        if self.rows_in_cells is None:
            return _CHOSEN_ENDS if self.chosen_by_the_sample else super().meanings
        count = "The published number of rows that were kept, or of what the column total names."
        if self.count == "people":
            count = "The published number of people who count in the class, or of what the column total names."
        return {
            "count": ("integer", count),
            "estimate": ("number", "The estimate of that number without the noise."),
            "low": ("integer", "The lower end of the 95 % interval for the number without the noise."),
            "high": ("integer", "The upper end of the 95 % interval for the number without the noise."),
        }

    @property
    def mechanisms(
        self,
    ) -> tuple[SuppressedHistogram | NoisyHistogram | AnyNoise | NoisyTotal, ...]:
        if isinstance(self.mechanism, AnyNoise) and self.recoding is not None:
            raise contradiction("its mechanism is not one for its design")
        return *by_stratum(self.mechanism, self.strata, self.design), *self.totals

    @property
    def claims(self) -> tuple[Claims, ...]:
        rows = self.rows_per_person
        if rows is None or self.rows_have_coins:
            return self.mechanisms
        return tuple(SeveralRows(one, rows) for one in self.mechanisms)

    def derivations(self) -> tuple[Derivation, ...]:
        if not self.design.everybody:
            return super().derivations()
        self.check()
        if self.delta and not isinstance(self.mechanism, ThresholdHistogram):
            raise contradiction("a register has no delta, unless for a threshold")
        derived = self.design.derivations(self.claims, self.epsilon)
        check_budget(derived[0], self.epsilon, self.delta)
        check_totals(derived[0], self.releases, self.epsilon, self.delta)
        return derived

    def check_among_others(self, epsilon: float, delta: float) -> None:
        super().check_among_others(epsilon, delta)
        if self.rows_in_cells is not None:
            raise contradiction("people with several rows are counted in one publication alone")

    def check(self) -> None:
        """Refuse totals other than those of a register whose people have several rows: each adds this many to each."""
        super().check()
        rows = self.rows_in_cells
        wanted = [] if rows is None else [("rows", rows), ("people", 1)]
        if self.rows_per_person is not None and isinstance(self.mechanism, NoiseEverywhere | GaussianEverywhere):
            raise contradiction("several rows of a person are counted by a threshold or by crowds")
        if [(total.name, total.rows_per_person) for total in self.totals] != wanted:
            raise contradiction("its totals are not those of its rows")

    @property
    def tables(self) -> Mapping[str, CellTable]:
        mechanisms = self.mechanisms[: len(self.mechanisms) - len(self.totals)]
        flagged = isinstance(self.mechanism, NoisyHistogram) and self.mechanism.flag
        laws = self.laws
        if self.rows_in_cells is not None and self.count == "people":
            laws = replace(laws, repeated=True)
        return {DATA: CellTable(self.columns, laws, by_law(self.design, [one.law for one in mechanisms]), flagged)}

    @property
    def crowds(self) -> Mapping[str, int]:
        found = self.mechanism
        return {DATA: found.k} if isinstance(found, SuppressedHistogram | NoisyHistogram) else {}

    @property
    def parameters(self) -> Parameters:
        found = super().parameters
        sizes = [one.k for one in self.mechanisms if isinstance(one, SuppressedHistogram | NoisyHistogram)]
        found |= {"k": max(sizes)} if sizes else {}
        found |= {"sigma": self.mechanism.sigma} if isinstance(self.mechanism, GaussianEverywhere) else {}
        noisy = (NoisyHistogram, NoiseEverywhere, ThresholdHistogram)
        losses = [one.noise_epsilon for one in self.mechanisms if isinstance(one, noisy)]
        found |= {"noise_epsilon": max(losses)} if losses else {}
        found |= {"show_from": self.mechanism.show_from} if isinstance(self.mechanism, ThresholdHistogram) else {}
        return found | ({"rows_per_person": self.rows_in_cells} if self.rows_in_cells else {})
