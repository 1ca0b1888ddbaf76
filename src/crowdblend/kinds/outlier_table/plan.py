"""Outlier-private tables: every bin noisy, the more the smaller it is (NOTES 3)."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

from crowdblend.errors import InvalidInput
from crowdblend.kinds.outlier_table.facts import OutlierTableFacts
from crowdblend.kinds.outlier_table.policy import OutlierTablePolicy
from crowdblend.kinds.shared.class_counts import ClassCountsPlan, ClassCountsReading
from crowdblend.kinds.shared.delta_limit import check_delta
from crowdblend.kinds.shared.method import Method
from crowdblend.kinds.shared.outputs import CountsOutput, describe_shown
from crowdblend.kinds.shared.plan import Lines, Result
from crowdblend.kinds.shared.series import one_of_series, series_of
from crowdblend.methods.mechanisms import OutlierHistogram
from crowdblend.methods.mechanisms.histograms import threshold_for
from crowdblend.methods.planning.outliers import OutlierPlan, curve_sizes, plan_outliers
from crowdblend.methods.planning.parts import PartBudget
from crowdblend.sources.engines.engine import Progress
from crowdblend.trusted.guarantees.wording import at_most, three_digits
from crowdblend.trusted.randomness import ReleaseKey
from crowdblend.trusted.randomness.noise import SMALLEST_EPSILON


@dataclass(frozen=True, repr=False)
class OutlierTablePlan(ClassCountsPlan[OutlierTablePolicy]):
    """A policy with nothing left open: the planned parameters, and what the certificate will say."""

    policy: OutlierTablePolicy
    parameters: OutlierPlan

    @property
    def mechanisms(self) -> tuple[OutlierHistogram]:
        return (self.mechanism,)

    @property
    def mechanism(self) -> OutlierHistogram:
        """The noise on every bin by its size."""
        show_from = threshold_for(self.policy.publication.show_from, self.policy.cells, self.parameters.loss(0))
        plan = self.parameters
        return OutlierHistogram(plan.epsilon, plan.transition, plan.limit, show_from, plan.factor)

    def facts(self, publication: Result | None = None) -> OutlierTableFacts:
        (mechanism,) = self.mechanisms if publication is None else publication.mechanisms
        assert isinstance(mechanism, OutlierHistogram)
        return OutlierTableFacts(
            **self.common_facts(),
            mechanism=mechanism,
            series=series_of(self.policy, self.parameters.delta),
        )

    def summary(self) -> dict[str, Any]:
        return {**self.parameters.to_dict(), **super().summary()}

    def describe(self) -> Lines:
        return [*self.describe_reading(), *self.sample.describe(), *self._describe_bins(guaranteed=True)]

    def describe_publication(self) -> Lines:
        """Describe the publication; the programme describes the guarantee."""
        return self._describe_bins(guaranteed=False)

    def _describe_bins(self, *, guaranteed: bool) -> Lines:
        policy, plan, mechanism = self.policy, self.parameters, self.mechanism
        flat = plan.limit - plan.transition
        lines: Lines = [
            ("would publish", f"a table of {policy.cells:,} bins, all of them noisy, less from {flat} people on"),
            ("", describe_shown(mechanism, policy.cells, "bins")),
        ]
        for size in curve_sizes(plan.limit, plan.transition):
            kept = f", guaranteed e^{at_most(plan.factor * plan.loss(size))}" if guaranteed else ""
            lines.append(
                ("", f"a bin of {size}: off by {three_digits(mechanism.expected_error(size))} on average{kept}")
            )
        return lines

    def publish(self, reading: ClassCountsReading, key: ReleaseKey, progress: Progress | None = None) -> Result:
        (mechanism,) = self.mechanisms
        published = mechanism.publish(reading.sample, key)
        internal = {"people_sampled": reading.sample.people, "bins_published": len(published.counts)}
        output = CountsOutput(self.policy.file, published, self.facts().tables["data"].laws)
        return Result((output,), (mechanism,), internal=internal)


class OutlierMethod(Method[OutlierTablePolicy]):
    """Noise on every bin, the more the smaller it is."""

    def plan(self) -> OutlierTablePlan:
        """Find the transition for delta, or the delta of a transition; epsilon is what the release may cost anyone.

        Members of large bins lose factor times the loss of the noise, and sampling makes that smaller.
        """
        policy = self.policy
        if policy.releases > 1:
            return replace(OutlierMethod(one_of_series(policy)).plan(), policy=policy)
        sample, delta = policy.design, policy.delta
        spent = sample.largest_loss(policy.epsilon)
        if sample.people is not None and delta is not None:
            delta = sample.largest_delta(spent, delta)
        if policy.unit.several:
            spent, own = policy.unit.per_row(spent, delta or 0.0)
            delta = None if delta is None else own * (1 - 1e-9)
        loss = _part(spent, policy.publication.factor)
        planned = _plan_table(policy, loss, delta)
        while planned.facts().largest_epsilon > policy.epsilon:
            loss = math.nextafter(loss, 0.0)
            planned = replace(planned, parameters=replace(planned.parameters, epsilon=loss))
        return planned

    def plan_part(self, budget: PartBudget) -> OutlierTablePlan:
        """Plan the table of a part of a sample: the person is in it with the sample's rate, so that it amplifies."""
        policy, table = self.policy, self.policy.publication
        own = policy.replace(sampling=policy.sampling.thin_by(budget.share), accept_delta=True)
        delta = budget.own_delta if table.transition is None else None
        return _plan_table(own, _part(budget.noise, table.factor), delta)

    def plan_noisy(self, epsilon: float, delta: float) -> OutlierTablePlan:
        own, factor = self.policy.replace(accept_delta=True), self.policy.publication.factor
        epsilon, delta = own.unit.per_row(epsilon, delta)
        return _plan_table(own, _part(epsilon, factor), None if self.policy.delta is None else delta)


method = OutlierMethod


def _part(epsilon_spent: float, factor: float) -> float:
    """Return the loss of noise of which the factor times as much may be spent, rounded down."""
    part = epsilon_spent / factor
    return math.nextafter(part, 0.0) if factor * part > epsilon_spent else part


def _plan_table(policy: OutlierTablePolicy, loss: float, delta: float | None) -> OutlierTablePlan:
    planned = plan_outliers(
        epsilon=loss,
        limit=policy.publication.limit,
        factor=float(policy.publication.factor),
        transition=policy.publication.transition,
        delta=delta,
    )
    if planned.loss(0) < SMALLEST_EPSILON:
        raise InvalidInput(
            f"`epsilon = {policy.epsilon:g}` with transition {planned.transition} "
            f"and limit {planned.limit} leaves less "
            f"than {float(SMALLEST_EPSILON):.1g} to the noise on empty bins.",
            remedy="Raise epsilon.",
            where="`privacy.epsilon`",
            code="plan.epsilon-too-small",
        )
    check_delta(policy, planned.delta)
    return OutlierTablePlan(policy, planned)
