"""Facts of outlier-private tables: the noise by the size of the bin, and the sample if there is one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from crowdblend.kinds.shared.crowd_facts import by_law, check_strata, laws_of
from crowdblend.kinds.shared.facts import CellTable, Parameters, contradiction
from crowdblend.kinds.shared.series import RepeatedFacts
from crowdblend.methods.designs.design import differential_claim
from crowdblend.methods.mechanisms.outliers import OutlierHistogram
from crowdblend.methods.recoding.domain import Domain
from crowdblend.trusted.calculus import Derivation


class OutlierTableFacts(RepeatedFacts, frozen=True, kw_only=True, tag="outlier-table"):
    """Facts of an outlier-private table."""

    rows_are_counted = True
    mechanism: OutlierHistogram
    columns: dict[str, Domain]

    @property
    def domains(self) -> Mapping[str, Domain]:
        return self.columns

    @property
    def mechanisms(self) -> tuple[OutlierHistogram]:
        return (self.mechanism,)

    def check(self) -> None:
        check_strata(self.design, self.columns)

    def check_among_others(self, epsilon: float, delta: float) -> None:
        super().check_among_others(epsilon, delta)
        if self.mechanism.factor != OutlierHistogram.usual_factor:
            raise contradiction("it states a guarantee by the size of crowds, which no programme has")

    def derivations(self) -> tuple[Derivation, ...]:
        """Outlier privacy of the table, and what sampling makes of the largest loss on its curve."""
        self.check()
        (claimed,) = self.claims
        loss = self.design.loss_of(differential_claim(claimed))
        return self.in_series(self.design.derivations((claimed,), loss))

    @property
    def counting_note(self) -> str | None:
        return self.unit.in_classes()

    @property
    def meanings(self) -> Mapping[str, tuple[str, str]]:
        return self.unit.meanings

    @property
    def tables(self) -> Mapping[str, CellTable]:
        sizes = {name: domain.number_of_labels for name, domain in self.columns.items()}
        laws = laws_of(self.design, (self.mechanism.law,), sizes)
        laws = replace(laws, repeated=self.unit.counts_people)
        return {"data": CellTable(self.columns, laws, by_law(self.design, (self.mechanism.law,)))}

    @property
    def largest_epsilon(self) -> float:
        """The epsilon of the smallest bins, after sampling."""
        return float(self.derivations()[0].conclusion.epsilon)

    @property
    def own_parameters(self) -> Parameters:
        found: Parameters = {"noise_epsilon": self.mechanism.epsilon, "limit": self.mechanism.limit}
        return found | {"transition": self.mechanism.transition} | ({} if self.rate is None else {"rate": self.rate})

    @property
    def parameters(self) -> Parameters:
        noise = self.mechanism
        curve = {"transition": noise.transition, "limit": noise.limit, "factor": noise.factor}
        rate: Parameters = {} if self.rate is None else {"rate": self.rate}
        spent: Parameters = {"epsilon": self.largest_epsilon, "noise_epsilon": noise.epsilon}
        return {**spent, **curve, **rate, **self.series_parameters}
