"""What tables and microdata share: classes of at least k sampled people, and how k, rate, ε and δ are planned."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

from msgspec.structs import replace

from crowdblend.designs import Biased, Poisson
from crowdblend.designs.draw import Draw
from crowdblend.engines.engine import Engine, Progress
from crowdblend.guarantees import PartInCrowds
from crowdblend.kinds.class_counts import ChoiceReading, ClassCountsPlan, ClassCountsReading, one_sample
from crowdblend.kinds.crowd_facts import CrowdFacts, RecodingFacts
from crowdblend.kinds.delta_limit import check_delta, refuse_crowd_of_one, with_stated_delta
from crowdblend.kinds.kind import Lines, Misfit, Outcome, Result, software
from crowdblend.kinds.table.policy import TablePolicy
from crowdblend.lazy import lazy
from crowdblend.planning import Plan
from crowdblend.planning.part_budget import PartBudget
from crowdblend.planning.plan import answer
from crowdblend.planning.request import PlanRequest
from crowdblend.policies.crowd import CrowdPolicy
from crowdblend.randomness import ReleaseKey
from crowdblend.recoding.domain import Domain

if TYPE_CHECKING:
    from crowdblend.kinds import recoding_choice
    from crowdblend.kinds.microdata.policy import MicrodataPolicy
    from crowdblend.mechanisms import PublishedClasses, SampledClasses
    from crowdblend.selection import ChosenRecoding, RecodingChoice, Score
else:
    # A choice of the recoding loads SciPy.
    recoding_choice = lazy("crowdblend.kinds.recoding_choice")


CrowdFactsT = TypeVar("CrowdFactsT", bound=CrowdFacts)
CrowdPolicyT = TypeVar("CrowdPolicyT", bound=CrowdPolicy)


@dataclass(frozen=True)
class CrowdClassesPlan(ClassCountsPlan["TablePolicy | MicrodataPolicy"]):
    """A policy with nothing left open: the planned parameters, and what the certificate will say."""

    policy: TablePolicy | MicrodataPolicy
    parameters: Plan

    @property
    def rate(self) -> float | None:
        """The rate at which people are, or were, sampled; a part of them may choose the recoding."""
        split = self.policy.recoding is not None and self.policy.recoding.share is not None
        return self.policy.sampling.rate if split else self.parameters.rate

    @property
    def divides_people(self) -> bool:
        return self.policy.recoding is not None and self.policy.recoding.share is not None

    @cached_property
    def score(self) -> Score:
        """What the choice of the recoding goes by."""
        assert self.policy.recoding is not None
        assert self.rate is not None
        return self.policy.recoding.score_for(self.parameters.k, self.rate)

    @cached_property
    def choice(self) -> RecodingChoice:
        """The choice of the recoding: the one that runs is the one that is certified."""
        return recoding_choice.choice_of(self.policy, self.score)

    @property
    def sample(self) -> Poisson | Biased:
        """How people are sampled, as it is drawn."""
        design = self.policy.design
        found = one_sample(self.parameters.design, design, already_drawn=self.policy.sampling.already_drawn)
        return found if self.rate is None or isinstance(found, Biased) else type(found)(self.rate)

    def common_facts(self, chosen: ChosenRecoding | None) -> dict[str, Any]:
        """What the facts of tables and microdata have in common, by field."""
        return {
            "software": software(),
            "person": self.policy.data.person,
            "epsilon": self.parameters.epsilon,
            "delta": self.parameters.delta,
            "releases": self.policy.releases,
            "design": self.sample,
            "columns": self.domains(chosen),
            "recoding": self.recoding_facts(chosen),
        }

    def recoding_facts(self, chosen: ChosenRecoding | None) -> RecodingFacts | None:
        """How the recoding is chosen, and once it is, which; None where it is fixed."""
        if self.policy.recoding is None:
            return None
        released = self.parameters.epsilon
        return recoding_choice.choice_facts(self.policy.recoding, self.policy.columns, self.choice, chosen, released)

    def domains(self, chosen: ChosenRecoding | None) -> dict[str, Domain]:
        """Every column's declared domain; of a column whose recoding is chosen, all that it offers until it is."""
        columns = self.policy.columns
        if chosen is not None:
            levels = zip(columns, chosen.node, strict=True)
            return {column.name: column.recodings[level].domain() for column, level in levels}
        return {
            column.name: Domain(recodings=tuple(recoding.domain() for recoding in column.recodings))
            if column.chooses
            else column.recoding.domain()
            for column in columns
        }

    def summary(self) -> dict[str, Any]:
        """The plan with all its bounds, and what the facts say beside it."""
        return {**self.parameters.to_dict(), **super().summary()}

    def describe_sample(self) -> Lines:
        """What would be read and sampled."""
        drawn = "was already drawn at an assumed" if self.policy.sampling.already_drawn else "will be drawn at"
        rate = self.rate if self.rate is not None else "between low and high"
        return [self.describe_reading(self.published_names), ("would sample", f"the sample {drawn} rate {rate}")]

    def describe_choice(self) -> Lines:
        """How the recoding would be chosen; nothing where it is fixed."""
        choosing = self.policy.recoding
        if choosing is None:
            return []
        who = "everybody" if choosing.share is None else f"a share of {choosing.share} of the sample"
        lattice, steps = self.choice.lattice, self.choice.search.steps
        how = f", in {steps} steps" if steps > 1 else ""
        spent = f"decided by {who}{how}, with {choosing.epsilon} of epsilon"
        lines = [("would choose", f"one of {lattice.size:,} recodings, {spent}")]
        if choosing.show_epsilon is not None:
            lines.append(("would show", f"noisy scores around the choice, with {choosing.show_epsilon} of epsilon"))
        return lines

    def read(
        self, engine: Engine, key: ReleaseKey, progress: Progress | None = None, drawn: Draw | None = None
    ) -> ClassCountsReading:
        """Count the sample's classes; where the data choose the recoding, count those who decide as well."""
        if self.policy.recoding is None:
            return super().read(engine, key, progress, drawn)
        with engine.open(self.policy.data, self.published_names, self.policy.resources, progress) as source:
            return recoding_choice.read_choice(
                self.policy, None if self.sample.drawn_before else self.rate, source, key
            )

    def sample_of(
        self, reading: ClassCountsReading, key: ReleaseKey, progress: Progress | None
    ) -> tuple[SampledClasses, ChosenRecoding | None]:
        """The sample in the recoding in which it is published; where that is chosen, the choice is made here."""
        if not isinstance(reading, ChoiceReading):
            return reading.sample, None
        if progress:
            progress("choosing", 0)
        columns = self.policy.columns
        chosen = recoding_choice.choose_recoding(self.choice, columns, reading.deciding, key)
        return recoding_choice.recode(columns, reading.released, chosen.node), chosen


def chosen_of(publication: Result | None) -> ChosenRecoding | None:
    """The recoding that was chosen; None where it was fixed, or is not chosen yet."""
    outcome: Outcome = None if publication is None else publication.outcome
    return None if isinstance(outcome, Misfit) else outcome


def internal_counts(sample: SampledClasses, published: PublishedClasses) -> dict[str, float]:
    """What the steward may want to know and nobody else may."""
    sampled, shown = sample.people, int(published.counts.sum())
    return {
        "people_sampled": sampled,
        "classes_sampled": len(sample.counts),
        "classes_published": len(published.counts),
        "published_total": shown,
        "difference": sampled - shown,
        "relative_difference": (sampled - shown) / sampled if sampled else 0.0,
    }


def plan_crowds(policy: TablePolicy | MicrodataPolicy) -> Plan:
    """Plan the one of k, rate, ε and δ that the policy leaves open, or check that all four can be guaranteed."""
    drawn, choosing = policy.sampling, policy.recoding
    rate, epsilon = drawn.rate, policy.epsilon
    together = choosing is not None and policy.releases > 1
    if choosing is not None and not together:
        epsilon = None if epsilon is None else choosing.left(epsilon, rate)
        rate = None if rate is None else choosing.released_rate(rate)
    request = PlanRequest(
        rate=rate,
        k=policy.k,
        epsilon=epsilon,
        delta=policy.delta if policy.planned else None,
        low=policy.rate_range[0],
        high=policy.rate_range[1],
        exceptions=drawn.exceptions,
        max_rate=policy.max_rate,
        form="histogram" if policy.rows_are_counted else "records",
        below_k=policy.below_k,
        noise_epsilon=policy.noise_epsilon,
        flag=policy.flag,
        releases=policy.releases,
        choice_epsilon=choosing.spent if together and choosing is not None else None,
        choosing_share=choosing.share if together and choosing is not None else None,
    )
    planned = answer(request)
    refuse_crowd_of_one(planned.k)
    if not policy.planned:
        assert policy.delta is not None
        remedy = "Raise k, epsilon or delta, or lower the rate; or leave one of them out to be planned."
        planned = with_stated_delta(planned, policy.delta, "k, rate and epsilon", remedy)
    check_delta(policy, planned.delta)
    return planned


def stated(facts: CrowdFactsT) -> CrowdFactsT:
    """The facts of a release whose recoding is chosen, with what choice and release lose together."""
    if facts.recoding is None:
        return facts
    whole = replace(facts, epsilon=math.inf).derivations()[0].conclusion.epsilon
    return replace(facts, epsilon=whole)


def placed(policy: CrowdPolicyT, budget: PartBudget, k: int, **changes: object) -> CrowdPolicyT:
    """The policy of a publication from a part of a sample: its own rate, and a k with which the part keeps to it.

    What the part guarantees by itself is not what the programme says, so that its delta is left open.
    """
    sampling = policy.sampling.at_rate(budget.own_rate)
    return policy.replace(sampling=sampling, k=k, epsilon=budget.epsilon, delta=None, accept_delta=True, **changes)


def suppressed_in_part(policy: CrowdPolicyT, budget: PartBudget) -> CrowdPolicyT:
    """The policy of tables or microdata that suppress below k, in a part of a sample."""
    k = budget.smallest_k(lambda size: PartInCrowds(budget.share, size, 0.0)) if policy.k is None else policy.k
    return placed(policy, budget, k, releases=1)
