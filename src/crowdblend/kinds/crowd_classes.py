"""What tables and microdata share: classes of at least k sampled people, and how k, rate, ε and δ are planned."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from crowdblend.calculus import Derivation
from crowdblend.calculus.profiles import profile_of
from crowdblend.calculus.rules import profiles, recoding, sampling
from crowdblend.engines.engine import Engine, Progress
from crowdblend.kinds.class_counts import ChoiceReading, ClassCountsPlan, ClassCountsReading
from crowdblend.kinds.delta_limit import check_delta, refuse_crowd_of_one, with_stated_delta
from crowdblend.kinds.kind import Facts, Lines, Misfit, Outcome
from crowdblend.lazy import lazy
from crowdblend.planning import Plan
from crowdblend.planning.plan import CrowdMechanism, answer
from crowdblend.planning.request import PlanRequest
from crowdblend.policies.choosing import Choosing
from crowdblend.policies.columns import Column
from crowdblend.policies.table import Table
from crowdblend.randomness import ReleaseKey

if TYPE_CHECKING:
    from crowdblend.kinds import recoding_choice
    from crowdblend.mechanisms import PublishedClasses, SampledClasses
    from crowdblend.policies.microdata import Microdata
    from crowdblend.selection import ChosenRecoding, RecodingChoice, Score
else:
    # A choice of the recoding loads SciPy.
    recoding_choice = lazy("crowdblend.kinds.recoding_choice")


@dataclass(frozen=True)
class CrowdClassesPlan(ClassCountsPlan["Table | Microdata"]):
    """A policy with nothing left open: the planned parameters, and what the certificate will say."""

    policy: Table | Microdata
    parameters: Plan

    @property
    def rate(self) -> float | None:
        """The rate at which people are, or were, sampled; a part of them may choose the recoding."""
        split = self.policy.recoding is not None and self.policy.recoding.share is not None
        return self.policy.sampling.rate if split else self.parameters.rate

    @property
    def draw_rate(self) -> float | None:
        """The rate at which the sample is drawn here; None when it was drawn before."""
        return self.rate if self.draws else None

    @property
    @abstractmethod
    def mechanisms(self) -> tuple[CrowdMechanism, ...]:
        """The one mechanism as planned, which blends people into crowds."""

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

    def derivations(self, mechanisms: Sequence[CrowdMechanism]) -> tuple[Derivation, ...]:
        """Sampling and suppression; where the recoding is chosen, choice and release together.

        That a release alone blends into crowds says nothing of the choice.
        """
        (mechanism,) = mechanisms
        choosing = self.policy.recoding
        if choosing is None:
            return self.parameters.derivations(mechanism)
        together = self._with_choice(choosing, mechanism)
        return together, sampling.replacing_is_removing_and_adding(together)

    def _with_choice(self, choosing: Choosing, mechanism: CrowdMechanism) -> Derivation:
        choice, epsilon = self.choice.claim(), self.parameters.epsilon
        if choosing.share is None:
            made = recoding.recoding_from_population(choice, self.parameters.under_sampling(mechanism))
        else:
            made = recoding.recoding_from_split(
                choice, mechanism.claim(), rate=self.rate, share=choosing.share, epsilon=epsilon
            )
        if self.policy.releases == 1:
            return made
        # In a series epsilon is for all releases, and the profile says what this one loses at it.
        return profiles.profile_at_epsilon(profile_of(made), epsilon=epsilon)

    def facts(self, outcome: Outcome = None) -> Facts:
        """What a reader needs to know of the release, none of it read off the data but the chosen recoding."""
        chosen = chosen_of(outcome)
        policy, choosing = self.policy, self.policy.recoding
        facts = {
            **self.common_facts(),
            "below_k": policy.below_k,
            "tables": {table.name: list(table.columns) for table in policy.tables},
            "parameters": self.parameters.to_dict(),
        }
        if choosing is not None:
            whole = self._with_choice(choosing, self.mechanisms[0]).conclusion.epsilon
            facts["parameters"] |= {"epsilon": whole, "rate": self.rate, "released_epsilon": self.parameters.epsilon}
            facts["recoding"] = recoding_choice.choice_facts(choosing, policy.columns, self.choice, chosen)
            facts["columns"] = _domains(policy.columns, chosen)
        return facts

    def describe_sample(self) -> Lines:
        """What would be read and sampled."""
        drawn = "was already drawn at an assumed" if self.policy.sampling.already_drawn else "will be drawn at"
        rate = self.rate if self.rate is not None else "between low and high"
        sample = "a fresh sample for every table" if self.policy.sampling.fresh else "the sample"
        return [self.describe_reading(self.published_names), ("would sample", f"{sample} {drawn} rate {rate}")]

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

    def read(self, engine: Engine, key: ReleaseKey, progress: Progress | None = None) -> ClassCountsReading:
        """Count the sample's classes; where the data choose the recoding, count those who decide as well."""
        if self.policy.recoding is None:
            return super().read(engine, key, progress)
        with engine.open(self.policy.data, self.published_names, self.policy.resources, progress) as source:
            return recoding_choice.read_choice(self.policy, self.draw_rate, source, key)

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


def chosen_of(outcome: Outcome) -> ChosenRecoding | None:
    """The recoding that was chosen; None where it was fixed, or is not chosen yet."""
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


def plan_crowds(policy: Table | Microdata) -> Plan:
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
        kind=policy.kind,
        below_k=policy.below_k,
        noise_epsilon=policy.noise_epsilon,
        flag=policy.flag,
        shares=policy.shares,
        releases=policy.releases * (len(policy.tables) if drawn.fresh else 1),
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


def _domains(columns: tuple[Column, ...], chosen: ChosenRecoding | None) -> Facts:
    """Every column's declared domain; of a column whose recoding is chosen, all that it offers until it is."""
    if chosen is not None:
        levels = zip(columns, chosen.node, strict=True)
        return {column.name: column.recodings[level].domain() for column, level in levels}
    return {
        column.name: {"recodings": [recoding.domain() for recoding in column.recodings]}
        if column.chooses
        else column.recoding.domain()
        for column in columns
    }
