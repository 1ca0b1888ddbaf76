"""Facts of microdata: recoded records of a sample, each of at least k people."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from crowdblend.mechanisms.suppression import SuppressedRecords
from crowdblend.releases.crowd_facts import CrowdFacts, by_stratum
from crowdblend.releases.facts import CellTable, Parameters


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
        sizes = {name: domain.number_of_labels for name, domain in self.columns.items()}
        shown_by = tuple(mechanism.law for mechanism in self.mechanisms)
        return {"data": CellTable(self.columns, self.laws(self.mechanisms[0], sizes), shown_by)}

    @property
    def crowds(self) -> Mapping[str, int]:
        return {} if self.mechanism is None else {"data": self.mechanism.k}

    @property
    def parameters(self) -> Parameters:
        return {**super().parameters, "k": max(mechanism.k for mechanism in self.mechanisms)}
