"""Common parts of tables and microdata: crowds whose recoding the data may choose."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from dataclasses import replace as replace_fields
from functools import cached_property, partial
from typing import Any, Generic, TypeVar

from msgspec.structs import replace

from crowdblend.errors import Infeasible
from crowdblend.kinds.shared.class_counts import (
    ChoiceReading,
    ClassCountsReading,
    check_survey,
    refusing_weights,
)
from crowdblend.kinds.shared.crowd_facts import CrowdFacts
from crowdblend.kinds.shared.crowds import CrowdsPlan, MechanismT, plan_crowds, plan_in_part
from crowdblend.kinds.shared.delta_limit import LARGEST_DELTA, check_delta
from crowdblend.kinds.shared.plan import Lines, Misfit, Outcome, Result
from crowdblend.methods.designs.design import differential_of
from crowdblend.methods.designs.draw import Draw, parts_of, shares_within
from crowdblend.methods.mechanisms.histograms import SuppressedHistogram
from crowdblend.methods.planning.parts import PartBudget, largest_noise
from crowdblend.methods.planning.plan import SolvedPlan
from crowdblend.methods.planning.request import Form
from crowdblend.methods.recoding.domain import Domain
from crowdblend.policies.choosing import Choosing
from crowdblend.policies.crowd import RecodedPolicy
from crowdblend.policies.refusals import refusal
from crowdblend.sources.engines.engine import Engine, Progress
from crowdblend.trusted.guarantees.programme import PartInCrowds
from crowdblend.trusted.guarantees.wording import at_most
from crowdblend.trusted.machine.lazy import lazy_imports
from crowdblend.trusted.randomness import ReleaseKey

with lazy_imports():
    # A choice of the recoding loads SciPy.
    from crowdblend.kinds.shared import recoding_choice
    from crowdblend.methods.mechanisms import SampledClasses
    from crowdblend.methods.selection.lattice import Node
    from crowdblend.methods.selection.scores import Score
    from crowdblend.methods.selection.search import RecodingChoice


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

    @cached_property
    def score(self) -> Score:
        """The score by which the recoding is chosen."""
        assert self.policy.recoding is not None
        return self.policy.recoding.score_for(self.parameters.k, self.rate or self.sample.largest_rate)

    @cached_property
    def choice(self) -> RecodingChoice:
        """The choice of the recoding: the one that runs is the one that is certified."""
        return recoding_choice.choice_of(self.policy, self.score)

    def recoded_facts(self, publication: Result | None) -> dict[str, Any]:
        """Return the common facts of tables and microdata, by field."""
        outcome: Outcome = None if publication is None else publication.outcome
        chosen = None if isinstance(outcome, Misfit) else outcome
        fields = {**self.crowd_facts(), **self.by_stratum(self.ran(publication))}
        choosing, columns = self.policy.recoding, self.policy.columns
        if choosing is not None:
            facts = recoding_choice.choice_facts(choosing, columns, self.choice, chosen, self.parameters.epsilon)
            fields["recoding"] = facts
        return fields | {"columns": self.domains_in(chosen)}

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
        if chooses_in_parts(self.policy):
            coin, shares = key.coin(), shares_within(1.0, self.policy.recoding.share)
            parts = parts_of(key.coin(b"choosing part"), shares)
            return self.read_parts(engine, key, progress, [self.sample.draw(coin, part) for part in parts])
        with engine.open(self.policy.data, self.published_names, self.policy.resources, progress) as source:
            return recoding_choice.read_choice(
                self.policy, None if self.sample.already_drawn else self.rate, source, key
            )

    @property
    def cells_are_apart(self) -> bool:
        return self.policy.recoding is None

    def read_parts(
        self, engine: Engine, key: ReleaseKey, progress: Progress | None, draws: Sequence[Draw]
    ) -> ClassCountsReading:
        """Count those who decide and those who are published, as parts of a larger sample."""
        if not self.divides_people:
            return super().read_parts(engine, key, progress, draws)
        choosing, published_draw = draws
        opened = engine.open(self.policy.data, self.published_names, self.policy.resources, progress)
        with opened as source, refusing_weights(self.strata):
            deciding, counted = (
                source.class_counts(self.policy.columns, drawn) for drawn in (choosing, published_draw)
            )
        check_survey(self.sample, counted, self.policy.unit)
        return ChoiceReading(counted, deciding.classes, counted.classes)

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


def plan_recoded(policy: RecodedPolicy, form: Form, **more: Any) -> SolvedPlan:
    """Plan crowds with what a choice of the recoding leaves of epsilon and of the sample."""
    choosing, rate = policy.recoding, policy.sampling.rate
    if choosing is None:
        return plan_crowds(policy, form, **more)
    if chooses_in_parts(policy):
        return _plan_in_parts(policy, choosing, form)
    if policy.releases > 1:
        return plan_crowds(policy, form, choice_epsilon=choosing.epsilon, choosing_share=choosing.share, **more)
    left = None if policy.epsilon is None else choosing.epsilon_left(policy.epsilon, rate)
    released = None if rate is None else choosing.released_rate(rate)
    return plan_crowds(policy, form, epsilon=left, rate=released, **more)


def chooses_in_parts(policy: RecodedPolicy) -> bool:
    """Return whether those who choose the recoding are one part of a sample that has more than one rate."""
    drawn = policy.sampling
    return policy.recoding is not None and (drawn.designed or drawn.biased or drawn.people is not None)


def _plan_in_parts(policy: RecodedPolicy, choosing: Choosing, form: Form) -> SolvedPlan:
    """Plan crowds beside a part that chooses their recoding: two parts of one sample share nobody."""
    sample = policy.design
    sample.require_parts()
    unseen = policy.strata is not None and not policy.strata.published
    if policy.releases > 1 or policy.epsilon is None or policy.data.person is None or unseen:
        message = "A choice of the recoding from a sample of different rates, or a survey, is certified for one release"
        remedy = "Give epsilon, name the column of ids as person, publish the strata, and plan one release."
        raise refusal("recoding", f"{message} with ids and an epsilon.", remedy, "`recoding`")
    shares, rate, most = shares_within(1.0, choosing.share), sample.largest_rate, policy.delta or 0.0
    check_choice_loss(choosing, shares, rate, policy.epsilon)
    choice = None
    for losses in sample.losses_before_asking(policy.epsilon, policy.delta or LARGEST_DELTA):
        budget = PartBudget(shares[-1], shares, rate, *losses, drawn=1.0, ends=sample.ends)
        _, crowds = plan_in_part(policy, budget, form, partial(PartInCrowds, budget.share))
        choice = recoding_choice.choice_of(policy, choosing.score_for(crowds.k, policy.sampling.rate or rate))
        mechanisms = [SuppressedHistogram(one.k) for one in crowds.each.values()]
        derived = sample.parts_derivations([(choice.certified_choice,), mechanisms], shares, policy.epsilon)
        delta = differential_of(derived).conclusion.delta
        if policy.delta is None or delta <= policy.delta:
            check_delta(policy, policy.delta or delta)
            return replace_fields(crowds, epsilon=policy.epsilon, delta=policy.delta or delta)
        most = delta
    message = f"`delta = {policy.delta:g}` cannot be guaranteed: with these k, rates and epsilon it is {at_most(most)}."
    remedy = "Raise k, epsilon or delta, or leave k out to be planned."
    raise Infeasible(message, remedy=remedy, where="`privacy.delta`", code="plan.delta-out-of-reach")


def check_choice_loss(choosing: Choosing | None, shares: Sequence[float], rate: float, epsilon: float) -> None:
    """Refuse a choice of the recoding that loses more than anyone in a part of the sample may lose."""
    if choosing is None or choosing.epsilon <= (most := largest_noise(shares, rate, epsilon)):
        return
    message = f"The recoding's choice loses {choosing.epsilon:g}; in a part of this sample {most:.3g} is allowed."
    remedy = "Lower `recoding.epsilon`, or raise `privacy.epsilon`."
    raise Infeasible(message, remedy=remedy, where="`recoding.epsilon`", code="plan.choice-costs-all")


def state_facts(facts: CrowdFactsT) -> CrowdFactsT:
    """Return the facts of a release whose recoding is chosen, with what choice and release lose together."""
    if facts.recoding is None or facts.chosen_in_parts:
        return facts
    whole = replace(facts, epsilon=math.inf).derivations()[0].conclusion.epsilon
    return replace(facts, epsilon=whole)
