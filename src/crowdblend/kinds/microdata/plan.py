"""Microdata: recoded records, one row for each person whose record at least k sampled people have."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from crowdblend.kinds.microdata.facts import MicrodataFacts
from crowdblend.kinds.microdata.policy import MicrodataPolicy
from crowdblend.kinds.shared.class_counts import ClassCountsReading
from crowdblend.kinds.shared.crowd_classes import CrowdClassesPlan, plan_recoded, state_facts
from crowdblend.kinds.shared.crowds import enough_for_rows, internal_counts, plan_in_part
from crowdblend.kinds.shared.method import Method
from crowdblend.kinds.shared.outputs import RecordsOutput
from crowdblend.kinds.shared.plan import Lines, Result
from crowdblend.methods.mechanisms.histograms import SuppressedRecords
from crowdblend.methods.mechanisms.strata import publish_classes
from crowdblend.methods.planning.parts import PartBudget
from crowdblend.methods.planning.plan import SolvedPlan
from crowdblend.sources.engines.engine import Progress
from crowdblend.trusted.guarantees.programme import PartInCrowds
from crowdblend.trusted.randomness import ReleaseKey


@dataclass(frozen=True, repr=False)
class MicrodataPlan(CrowdClassesPlan[MicrodataPolicy, SuppressedRecords]):
    """The plan of recoded records."""

    def mechanism_of(self, stratum: SolvedPlan) -> SuppressedRecords:
        return SuppressedRecords(stratum.k)

    def facts(self, publication: Result | None = None) -> MicrodataFacts:
        return state_facts(MicrodataFacts(**self.recoded_facts(publication)))

    def describe(self) -> Lines:
        rows = ("would publish", f"rows, exact from {self.crowd_size}, suppressed below")
        return [*self.describe_sample(), rows, *self.describe_choice()]

    def publish(self, reading: ClassCountsReading, key: ReleaseKey, progress: Progress | None = None) -> Result:
        sample, chosen = self.sample_of(reading, key, progress)
        published = publish_classes(self.mechanisms, sample, self.stratum, key)
        output = RecordsOutput(self.policy.file, published)
        return Result((output,), self.mechanisms, chosen, internal_counts(sample, published))


class RecordsMethod(Method[MicrodataPolicy]):
    """Recoded records of crowds."""

    def plan(self) -> MicrodataPlan:
        """Plan the one of k, rate, ε and δ that is left open, or check that all four can be guaranteed."""
        return enough_for_rows(MicrodataPlan(self.policy, plan_recoded(self.policy, "records")))

    def plan_part(self, budget: PartBudget) -> MicrodataPlan:
        return MicrodataPlan(*plan_in_part(self.policy, budget, "records", partial(PartInCrowds, budget.share)))


method = RecordsMethod
