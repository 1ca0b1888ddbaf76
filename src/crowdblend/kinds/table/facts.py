"""Facts of tables, a class for each method: crowds, noise everywhere, and noise from a threshold on.

Which of them a certificate has follows from the mechanism that it names.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import msgspec

from crowdblend.kinds.shared.crowd_facts import CrowdFacts, by_law, by_stratum
from crowdblend.kinds.shared.facts import (
    DATA,
    CellTable,
    Parameters,
    ReleaseFacts,
    check_budget,
    contradiction,
)
from crowdblend.kinds.shared.series import check_totals
from crowdblend.methods.designs.design import Claims
from crowdblend.methods.mechanisms.everywhere import GaussianEverywhere, NoiseEverywhere, NoisyTotal, ThresholdHistogram
from crowdblend.methods.mechanisms.histograms import NoisyHistogram, SuppressedHistogram
from crowdblend.policies.unit import Unit
from crowdblend.trusted.calculus import Derivation

TOTALS = "totals"
# Intervals where a part of the sample chose the labels.
_CHOSEN_ENDS = {
    name: ("integer", f"The {end} end of the interval that has 95 % coverage for labels that were fixed beforehand.")
    for name, end in (("low", "lower"), ("high", "upper"))
}


class CountsFacts(CrowdFacts, frozen=True, kw_only=True):
    """Facts of counts by class, whatever the method."""

    rows_are_counted = True
    loss_follows_from_domains = False

    @classmethod
    def class_of(cls, document: Mapping[str, Any]) -> type[ReleaseFacts]:
        mechanism = document.get("mechanism")
        name = mechanism.get("mechanism") if isinstance(mechanism, Mapping) else None
        return _BY_MECHANISM.get(name, cls) if isinstance(name, str) else cls

    @property
    def totals(self) -> tuple[NoisyTotal, ...]:
        """The numbers that are published beside the cells."""
        return ()

    @property
    def meanings(self) -> Mapping[str, tuple[str, str]]:
        return _CHOSEN_ENDS if self.chosen_by_the_sample else super().meanings

    @property
    def tables(self) -> Mapping[str, CellTable]:
        shown_by = by_law(self.design, [one.law for one in self.mechanisms])
        return {DATA: CellTable(self.columns, self.laws, shown_by, self.flagged)}

    @property
    def flagged(self) -> bool:
        """True if the table says which of its cells are exact."""
        return False


class TableFacts(CountsFacts, frozen=True, kw_only=True, tag="table"):
    """Facts of a table of crowds: exact from k on, suppressed or noisy below."""

    mechanism: SuppressedHistogram | NoisyHistogram | None = None
    strata: dict[str, SuppressedHistogram | NoisyHistogram] = msgspec.field(default_factory=dict)

    @property
    def mechanisms(self) -> tuple[SuppressedHistogram | NoisyHistogram, ...]:
        return by_stratum(self.mechanism, self.strata, self.design)

    @property
    def flagged(self) -> bool:
        return isinstance(self.mechanism, NoisyHistogram) and self.mechanism.flag

    @property
    def crowds(self) -> Mapping[str, int]:
        return {} if self.mechanism is None else {DATA: self.mechanism.k}

    @property
    def parameters(self) -> Parameters:
        found = super().parameters | {"k": max(one.k for one in self.mechanisms)}
        losses = [one.noise_epsilon for one in self.mechanisms if isinstance(one, NoisyHistogram)]
        return found | ({"noise_epsilon": max(losses)} if losses else {})


class NoisyTableFacts(CountsFacts, frozen=True, kw_only=True):
    """Facts of a table that is noisy whatever the size of its cells, so that it needs no sample."""

    def check(self) -> None:
        super().check()
        if self.recoding is not None:
            raise contradiction("its mechanism is not one for its design")

    def derivations(self) -> tuple[Derivation, ...]:
        if not self.design.everybody:
            return super().derivations()
        self.check()
        derived = self.design.derivations(self.claims, self.epsilon)
        check_budget(derived[0], self.epsilon, self.delta)
        check_totals(derived[0], self.releases, self.epsilon, self.delta)
        return derived


class EverywhereFacts(NoisyTableFacts, frozen=True, kw_only=True, tag="table"):
    """Facts of a table with noise on every cell; `count` says what the rows of a register count."""

    mechanism: NoiseEverywhere | GaussianEverywhere
    totals: tuple[NoisyTotal, ...] = ()
    count: Literal["rows", "people"] = "rows"

    @property
    def mechanisms(self) -> tuple[NoiseEverywhere | GaussianEverywhere | NoisyTotal, ...]:
        return self.mechanism, *self.totals

    @property
    def publishes(self) -> str:
        return "Counts by class, with noise."

    @property
    def unit(self) -> Unit:
        rows = self.mechanism.rows_per_person if isinstance(self.mechanism, NoiseEverywhere) else None
        return Unit(rows, self.one_row).counted(self.count)

    @property
    def claims(self) -> tuple[Claims, ...]:
        # They are about all rows of a person.
        return self.mechanisms

    @property
    def counting_note(self) -> str | None:
        unit = self.unit
        if not unit.several:
            return super().counting_note
        totals = " The number of people is in the table totals." if self.totals else ""
        if self.count == "people":
            return f"{unit.in_classes()}{totals}"
        many = self.counted.many
        return (
            f"Counts are {many} about everybody in the table: of each person at most {unit.most} random ones.{totals} "
            f"{many.capitalize()} that were left out are in none of the numbers, and in no interval. "
            f"{unit.left_out(many)}"
        )

    @property
    def meanings(self) -> Mapping[str, tuple[str, str]]:
        if not self.unit.several:
            return super().meanings
        count = f"The published number of {self.counted.many} that were kept, or of what the column total names."
        if self.count == "people":
            count = "The published number of people who count in the class, or of what the column total names."
        return {
            "count": ("integer", count),
            "estimate": ("number", "The estimate of that number without the noise."),
            "low": ("integer", "The lower end of the 95 % interval for the number without the noise."),
            "high": ("integer", "The upper end of the 95 % interval for the number without the noise."),
        }

    def check(self) -> None:
        """Refuse totals other than those of a register whose people have several rows: each adds this many to each."""
        super().check()
        wanted = [("rows", self.unit.most), ("people", 1)] if self.unit.several else []
        if self.rows_per_person is not None:
            raise contradiction("several rows of a person are counted by a threshold or by crowds")
        if self.totals and [(total.name, total.rows_per_person) for total in self.totals] != wanted:
            raise contradiction("its totals are not those of its rows")
        if self.design.strata and isinstance(self.mechanism, GaussianEverywhere):
            raise contradiction("its mechanisms are not those of its strata")

    def derivations(self) -> tuple[Derivation, ...]:
        if self.delta and self.design.everybody:
            raise contradiction("a register has no delta, unless for a threshold")
        return super().derivations()

    @property
    def tables(self) -> Mapping[str, CellTable]:
        return {DATA: CellTable(self.columns, self.laws, by_law(self.design, [self.mechanism.law]))}

    @property
    def parameters(self) -> Parameters:
        found = super().parameters
        if isinstance(self.mechanism, GaussianEverywhere):
            return found | {"sigma": self.mechanism.sigma}
        found |= {"noise_epsilon": self.mechanism.noise_epsilon}
        return found | ({"rows_per_person": self.unit.most} if self.unit.several else {})


class ThresholdFacts(NoisyTableFacts, frozen=True, kw_only=True, tag="table"):
    """Facts of a table with noise on the cells that occur, shown from a threshold on."""

    mechanism: ThresholdHistogram

    @property
    def mechanisms(self) -> tuple[ThresholdHistogram]:
        return (self.mechanism,)

    @property
    def publishes(self) -> str:
        return f"Counts by class, with noise, of the classes that enough {self.counted.many} have."

    @property
    def parameters(self) -> Parameters:
        noise = self.mechanism
        return super().parameters | {"noise_epsilon": noise.noise_epsilon, "show_from": noise.show_from}


_BY_MECHANISM: dict[str, type[CountsFacts]] = {
    **{str(one.__struct_config__.tag): EverywhereFacts for one in (NoiseEverywhere, GaussianEverywhere)},
    str(ThresholdHistogram.__struct_config__.tag): ThresholdFacts,
}
