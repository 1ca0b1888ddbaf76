"""What tables and microdata share: classes of at least k sampled people, and how k, rate, ε and δ are planned."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from crowdblend.calculus import Derivation
from crowdblend.calculus.profiles import profile_of
from crowdblend.calculus.rules import profiles, recoding, sampling
from crowdblend.engines.engine import Engine, Progress
from crowdblend.errors import Infeasible
from crowdblend.kinds.class_counts import ClassCountsPlan, ClassCountsReading, unpublished_design
from crowdblend.kinds.delta_limit import check_delta, with_stated_delta
from crowdblend.kinds.kind import Outcome, software
from crowdblend.planning import Plan
from crowdblend.planning.plan import CrowdMechanism, answer
from crowdblend.planning.request import PlanRequest
from crowdblend.policies.columns import Column
from crowdblend.policies.table import Table

if TYPE_CHECKING:
    from crowdblend.kinds.recoding_choice import ChoiceReading
    from crowdblend.mechanisms import PublishedClasses, SampledClasses
    from crowdblend.policies.choosing import Choosing
    from crowdblend.policies.microdata import Microdata
    from crowdblend.randomness import ReleaseKey
    from crowdblend.selection import ChosenRecoding, RecodingChoice, Score


@dataclass(frozen=True)
class CrowdClassesPlan(ClassCountsPlan["ClassCountsReading | ChoiceReading"]):
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
        from crowdblend.policies.offered import lattice_of  # noqa: PLC0415  only where a recoding is chosen

        assert self.policy.recoding is not None
        return self.policy.recoding.choice(lattice_of(self.policy.columns), self.score)

    def derivations(self, mechanisms: tuple[CrowdMechanism, ...]) -> tuple[Derivation, ...]:
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

    def facts(self, outcome: Outcome = None) -> dict[str, Any]:
        """What a reader needs to know of the release, none of it read off the data but the chosen recoding."""
        chosen = chosen_of(outcome)
        policy, choosing = self.policy, self.policy.recoding
        facts: dict[str, Any] = {
            "kind": policy.kind,
            "below_k": policy.below_k,
            "already_drawn": policy.sampling.already_drawn,
            "person": policy.data.person,
            "tables": {table.name: list(table.columns) for table in policy.tables},
            "parameters": {**self.parameters.to_dict()},
            **unpublished_design(self.design),
            "columns": _domains(policy.columns, chosen),
            "software": software(),
        }
        if choosing is not None:
            from crowdblend.kinds.outcome import choice_facts  # noqa: PLC0415  only where a recoding is chosen

            whole = self._with_choice(choosing, self.mechanisms[0]).conclusion.epsilon
            facts["parameters"] |= {"epsilon": whole, "rate": self.rate, "released_epsilon": self.parameters.epsilon}
            facts["recoding"] = choice_facts(choosing, policy.columns, self.choice, chosen)
        return facts

    def describe_sample(self) -> list[tuple[str, str]]:
        """What would be read and sampled."""
        policy = self.policy
        drawn = "was already drawn at an assumed" if policy.sampling.already_drawn else "will be drawn at"
        rate = self.rate if self.rate is not None else "between low and high"
        columns = ", ".join(column.name for column in policy.columns)
        sample = "a fresh sample for every table" if policy.sampling.fresh else "the sample"
        return [
            ("would read", f"{columns} from {policy.data.name}"),
            ("would sample", f"{sample} {drawn} rate {rate}"),
        ]

    def describe_choice(self) -> list[tuple[str, str]]:
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
        self, engine: Engine, key: ReleaseKey, progress: Progress | None = None
    ) -> ClassCountsReading | ChoiceReading:
        """Count the sample's classes; where the data choose the recoding, count those who decide as well."""
        if self.policy.recoding is None:
            return self.count(engine, key, progress)
        from crowdblend.kinds.recoding_choice import read_choice  # noqa: PLC0415  only where a recoding is chosen

        names = [column.name for column in self.policy.columns]
        with engine.open(self.policy.data, names, self.policy.resources, progress) as source:
            return read_choice(self.policy, self.draw_rate, source, key)

    def sample_of(
        self, reading: ClassCountsReading | ChoiceReading, key: ReleaseKey, progress: Progress | None
    ) -> tuple[SampledClasses, ChosenRecoding | None]:
        """The sample in the recoding in which it is published; where that is chosen, the choice is made here."""
        choosing = self.policy.recoding
        if choosing is None:
            assert isinstance(reading, ClassCountsReading)
            return reading.sample, None
        from crowdblend.kinds.recoding_choice import ChoiceReading, choose_recoding, recode  # noqa: PLC0415

        assert isinstance(reading, ChoiceReading)
        if progress:
            progress("choosing", 0)
        columns = self.policy.columns
        chosen = choose_recoding(self.choice, columns, reading.deciding, key)
        return recode(columns, reading.released, chosen.node), chosen


def chosen_of(outcome: Outcome) -> ChosenRecoding | None:
    """The recoding that was chosen; None where it was fixed, or is not chosen yet."""
    if outcome is None:
        return None
    from crowdblend.selection import ChosenRecoding  # noqa: PLC0415  only where a recoding is chosen

    return outcome if isinstance(outcome, ChosenRecoding) else None


def internal_counts(sample: SampledClasses, published: PublishedClasses) -> dict[str, Any]:
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
    if planned.k == 1:
        raise Infeasible(
            "k = 1 hides nobody: sampling alone guarantees as much.",
            remedy="Lower delta, or state a larger k.",
            where="[release] k",
            code="plan.crowd-of-one",
        )
    if not policy.planned:
        assert policy.delta is not None
        remedy = "Raise k, epsilon or delta, or lower the rate; or leave one of them out to be planned."
        planned = with_stated_delta(planned, policy.delta, "k, rate and epsilon", remedy)
    check_delta(policy, planned.delta)
    return planned


def _domains(columns: tuple[Column, ...], chosen: ChosenRecoding | None) -> dict[str, Any]:
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
