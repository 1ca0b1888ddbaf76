"""Facts of microdata: recoded records of a sample, each of at least k people."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from crowdblend.kinds.shared.crowd_facts import CrowdFacts, by_stratum
from crowdblend.kinds.shared.facts import DATA, CellTable, Parameters
from crowdblend.methods.mechanisms.histograms import SuppressedRecords


class MicrodataFacts(CrowdFacts, frozen=True, kw_only=True, tag="microdata"):
    """Facts of a release of microdata."""

    rows_are_counted = False
    loss_follows_from_domains = False
    mechanism: SuppressedRecords | None = None
    strata: dict[str, SuppressedRecords] = msgspec.field(default_factory=dict)

    @property
    def mechanisms(self) -> tuple[SuppressedRecords, ...]:
        return by_stratum(self.mechanism, self.strata, self.design)

    @property
    def tables(self) -> Mapping[str, CellTable]:
        return {DATA: CellTable(self.columns, self.laws, tuple(mechanism.law for mechanism in self.mechanisms))}

    @property
    def crowds(self) -> Mapping[str, int]:
        return {} if self.mechanism is None else {DATA: self.mechanism.k}

    @property
    def parameters(self) -> Parameters:
        return {**super().parameters, "k": max(mechanism.k for mechanism in self.mechanisms)}
