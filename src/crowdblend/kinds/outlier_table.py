"""Outlier-private tables: every bin noisy, the more the smaller it is (NOTES 3)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from crowdblend.calculus import Derivation
from crowdblend.calculus.rules import outliers, sampling
from crowdblend.engines.engine import Progress
from crowdblend.errors import InvalidInput
from crowdblend.guarantees.wording import at_most
from crowdblend.kinds.class_counts import ClassCountsPlan, ClassCountsReading
from crowdblend.kinds.delta_limit import check_delta
from crowdblend.kinds.kind import Facts, Lines, Outcome, Publication
from crowdblend.kinds.outputs import CountsOutput, describe_shown
from crowdblend.mechanisms import OutlierHistogram
from crowdblend.mechanisms.noisy import threshold_for
from crowdblend.planning.outliers import OutlierPlan, plan_outliers
from crowdblend.policies.outlier_table import OutlierTable
from crowdblend.randomness import ReleaseKey
from crowdblend.randomness.noise import SMALLEST_EPSILON


@dataclass(frozen=True)
class OutlierTablePlan(ClassCountsPlan[OutlierTable]):
    """A policy with nothing left open: the planned parameters, and what the certificate will say."""

    policy: OutlierTable
    parameters: OutlierPlan

    @property
    def draw_rate(self) -> float | None:
        """The rate at which the sample is drawn here; None when it was drawn before, or everybody is published."""
        return self.policy.sampling.rate if self.draws else None

    @property
    def draws(self) -> bool:
        """Whether a sample is drawn: without a rate everybody is published."""
        return super().draws and self.policy.sampling.rate is not None

    @property
    def mechanisms(self) -> tuple[OutlierHistogram]:
        return (self.mechanism,)

    @property
    def mechanism(self) -> OutlierHistogram:
        """The noise on every bin by its size."""
        show_from = threshold_for(self.policy.show_from, self.policy.cells, self.parameters.loss(0))
        plan = self.parameters
        return OutlierHistogram(plan.epsilon, plan.transition, plan.limit, show_from, plan.factor)

    def derivations(self, mechanisms: Sequence[OutlierHistogram]) -> tuple[Derivation, ...]:
        """Outlier privacy of the table, and what sampling makes of the largest loss on its curve."""
        (mechanism,) = mechanisms
        table = mechanism.claim()
        differential = outliers.outlier_private_is_differential(table)
        strongest = []
        if self.policy.sampling.rate is not None:
            sampled = sampling.sampling_amplifies(differential, rate=self.policy.sampling.rate)
            strongest.append(sampling.sampled_release_is_zero_knowledge(sampled))
            differential = sampling.sampled_release_is_differential(sampled)
        replaced = sampling.replacing_is_removing_and_adding(differential)
        return *strongest, differential, replaced, table

    def facts(self, outcome: Outcome = None) -> Facts:
        """What a reader needs to know of the release, none of it read off the data."""
        del outcome
        policy, mechanism = self.policy, self.mechanism
        return {
            **self.common_facts(),
            "parameters": {**self.parameters.to_dict(), "rate": policy.sampling.rate},
            "show_from": mechanism.show_from,
            "errors": {str(size): mechanism.expected_error(size) for size in self.parameters.sizes()},
        }

    def describe(self) -> Lines:
        """What would happen, from the policy alone."""
        policy, plan, mechanism = self.policy, self.parameters, self.mechanism
        rate = policy.sampling.rate
        drawn = "everybody" if rate is None else f"a sample at rate {rate}"
        if policy.sampling.already_drawn:
            drawn = f"the sample was already drawn at an assumed rate {rate}"
        flat = plan.limit - plan.transition
        return [
            self.describe_reading(),
            ("would sample", drawn),
            ("would publish", f"a table of {policy.cells:,} bins, all of them noisy, less from {flat} people on"),
            ("", describe_shown(mechanism, policy.cells, "bins")),
            *(
                (
                    "",
                    f"a bin of {size}: off by {mechanism.expected_error(size):.3g} on average, "
                    f"guaranteed e^{at_most(plan.factor * plan.loss(size))}",
                )
                for size in plan.sizes()
            ),
        ]

    def publish(self, reading: ClassCountsReading, key: ReleaseKey, progress: Progress | None = None) -> Publication:
        """Every bin of the sample, noisy."""
        del progress
        (mechanism,) = self.mechanisms
        published = mechanism.publish(reading.sample, key)
        internal = {"people_sampled": reading.sample.people, "bins_published": len(published.counts)}
        output = CountsOutput(f"data.{self.policy.format}", published, self.facts())
        return Publication((output,), (mechanism,), internal=internal)


def plan(policy: OutlierTable) -> OutlierTablePlan:
    """Find the transition for delta, or the delta of a transition."""
    planned = plan_outliers(
        epsilon=policy.epsilon,
        limit=policy.limit,
        factor=float(policy.factor),
        transition=policy.transition,
        delta=policy.delta,
    )
    if planned.loss(0) < SMALLEST_EPSILON:
        raise InvalidInput(
            f"epsilon = {planned.epsilon:g} with transition {planned.transition} and limit {planned.limit} leaves less "
            f"than {float(SMALLEST_EPSILON):.1g} to the noise on empty bins.",
            remedy="Raise epsilon.",
            where="[release] epsilon",
            code="plan.epsilon-too-small",
        )
    check_delta(policy, planned.delta)
    return OutlierTablePlan(policy, planned)
