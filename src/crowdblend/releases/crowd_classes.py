"""Common parts of tables and microdata: crowds whose recoding the data may choose."""

from __future__ import annotations

import math
from functools import cached_property
from typing import Any, Generic, TypeVar

from msgspec.structs import replace

from crowdblend.designs import Biased, Poisson, Strata
from crowdblend.designs.draw import Draw
from crowdblend.engines.engine import Engine, Progress
from crowdblend.frozen import dataclass
from crowdblend.lazy import lazy_imports
from crowdblend.planning.request import Form
from crowdblend.planning.strata import CrowdPlan
from crowdblend.policies.crowd import RecodedPolicy
from crowdblend.randomness import ReleaseKey
from crowdblend.recoding.domain import Domain
from crowdblend.releases.class_counts import ChoiceReading, ClassCountsReading
from crowdblend.releases.crowd_facts import CrowdFacts, RecodingFacts
from crowdblend.releases.crowds import CrowdsPlan, MechanismT, plan_crowds
from crowdblend.releases.plan import Lines, Misfit, Outcome, Result

with lazy_imports():
    # A choice of the recoding loads SciPy.
    from crowdblend.mechanisms import SampledClasses
    from crowdblend.releases import recoding_choice
    from crowdblend.selection.lattice import Node
    from crowdblend.selection.recoding_choice import RecodingChoice
    from crowdblend.selection.scores import Score


CrowdFactsT = TypeVar("CrowdFactsT", bound=CrowdFacts)
RecodedT = TypeVar("RecodedT", bound=RecodedPolicy)


@dataclass(frozen=True, repr=False)
class CrowdClassesPlan(CrowdsPlan[RecodedT, MechanismT], Generic[RecodedT, MechanismT]):
    """A plan of classes in a recoding that is fixed, or chosen by the data."""

    @property
    def rate(self) -> float | None:
        """The rate at which people are, or were, sampled; a part of them may choose the recoding."""
        return self.policy.sampling.rate if self.divides_people else self.parameters.rate

    @property
    def divides_people(self) -> bool:
        return self.policy.recoding is not None and self.policy.recoding.share is not None

    @property
    def sample(self) -> Poisson | Biased | Strata:
        """The design of the sample, as it is drawn."""
        found = super().sample
        return type(found)(self.rate) if self.divides_people and isinstance(found, Poisson) and self.rate else found

    @cached_property
    def score(self) -> Score:
        """The score by which the recoding is chosen."""
        assert self.policy.recoding is not None
        assert self.rate is not None
        return self.policy.recoding.score_for(self.parameters.k, self.rate)

    @cached_property
    def choice(self) -> RecodingChoice:
        """The choice of the recoding: the one that runs is the one that is certified."""
        return recoding_choice.choice_of(self.policy, self.score)

    def recoded_facts(self, publication: Result | None) -> dict[str, Any]:
        """Return the common facts of tables and microdata, by field."""
        chosen = chosen_of(publication)
        fields = {**self.common_facts(), **self.by_stratum(self.ran(publication))}
        return fields | {"columns": self.domains_in(chosen), "recoding": self.recoding_facts(chosen)}

    def recoding_facts(self, choice: Node | None) -> RecodingFacts | None:
        """Return how the recoding is chosen, and the chosen one if any; None where it is fixed."""
        if self.policy.recoding is None:
            return None
        released = self.crowds.epsilon
        return recoding_choice.choice_facts(self.policy.recoding, self.policy.columns, self.choice, choice, released)

    def domains_in(self, choice: Node | None) -> dict[str, Domain]:
        """Every column's declared domain; of a column whose recoding is chosen, all that it offers until it is."""
        columns = self.policy.columns
        if choice is not None:
            levels = zip(columns, choice, strict=True)
            return {column.name: column.recodings[level].domain() for column, level in levels}
        return {
            column.name: Domain(recodings=tuple(recoding.domain() for recoding in column.recodings))
            if column.chooses
            else column.recoding.domain()
            for column in columns
        }

    def describe_choice(self) -> Lines:
        """Describe how the recoding would be chosen; nothing where it is fixed."""
        choosing = self.policy.recoding
        if choosing is None:
            return []
        who = "everybody" if choosing.share is None else f"a share of {choosing.share} of its sample"
        lattice, steps = self.choice.lattice, self.choice.search.steps
        how = f", in {steps} steps" if steps > 1 else ""
        spent = f"decided by {who}{how}, with epsilon = {choosing.epsilon}"
        return [("would choose", f"one of {lattice.size:,} recodings, {spent}")]

    def read(
        self, engine: Engine, key: ReleaseKey, progress: Progress | None = None, draw: Draw | None = None
    ) -> ClassCountsReading:
        """Count the sample's classes; where the data choose the recoding, count those who decide as well."""
        if self.policy.recoding is None:
            return super().read(engine, key, progress, draw)
        with engine.open(self.policy.data, self.published_names, self.policy.resources, progress) as source:
            return recoding_choice.read_choice(
                self.policy, None if self.sample.drawn_before else self.rate, source, key
            )

    def read_parts(
        self, engine: Engine, progress: Progress | None, choosing: Draw, published_draw: Draw
    ) -> ClassCountsReading:
        """Count those who decide and those who are published, as parts of a larger sample."""
        with engine.open(self.policy.data, self.published_names, self.policy.resources, progress) as source:
            return recoding_choice.read_parts(self.policy, source, choosing, published_draw)

    def sample_of(
        self, reading: ClassCountsReading, key: ReleaseKey, progress: Progress | None
    ) -> tuple[SampledClasses, Node | None]:
        """Return the sample in the recoding in which it is published; where that is chosen, the choice is made here."""
        if not isinstance(reading, ChoiceReading):
            return reading.sample, None
        if progress:
            progress("choosing", 0)
        columns = self.policy.columns
        chosen = recoding_choice.choose_recoding(self.choice, columns, reading.deciding, key)
        return recoding_choice.recode(columns, reading.released, chosen), chosen


def chosen_of(publication: Result | None) -> Node | None:
    """Return the recoding that was chosen; None where it was fixed, or is not chosen yet."""
    outcome: Outcome = None if publication is None else publication.outcome
    return None if isinstance(outcome, Misfit) else outcome


def plan_recoded(policy: RecodedPolicy, form: Form, **more: Any) -> CrowdPlan:
    """Plan crowds with what a choice of the recoding leaves of epsilon and of the sample."""
    choosing, rate = policy.recoding, policy.sampling.rate
    if choosing is None:
        return plan_crowds(policy, form, **more)
    if policy.releases > 1:
        return plan_crowds(policy, form, choice_epsilon=choosing.epsilon, choosing_share=choosing.share, **more)
    left = None if policy.epsilon is None else choosing.epsilon_left(policy.epsilon, rate)
    released = None if rate is None else choosing.released_rate(rate)
    return plan_crowds(policy, form, epsilon=left, rate=released, **more)


def state_facts(facts: CrowdFactsT) -> CrowdFactsT:
    """Return the facts of a release whose recoding is chosen, with what choice and release lose together."""
    if facts.recoding is None:
        return facts
    whole = replace(facts, epsilon=math.inf).derivations()[0].conclusion.epsilon
    return replace(facts, epsilon=whole)
