"""Tables with a threshold: noise on the cells that occur, shown from this many people on; labels need not be listed."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from crowdblend.errors import CrowdblendError, Infeasible
from crowdblend.kinds.shared.class_counts import ClassCountsPlan, ClassCountsReading
from crowdblend.kinds.shared.crowds import internal_counts
from crowdblend.kinds.shared.delta_limit import check_delta
from crowdblend.kinds.shared.method import Method
from crowdblend.kinds.shared.outputs import counts_output
from crowdblend.kinds.shared.plan import Lines, Result
from crowdblend.kinds.table.facts import ThresholdFacts
from crowdblend.kinds.table.policy import TablePolicy
from crowdblend.methods.mechanisms.everywhere import ThresholdHistogram
from crowdblend.methods.planning.parts import PartBudget
from crowdblend.sources.engines.engine import Progress
from crowdblend.trusted.guarantees.wording import three_digits
from crowdblend.trusted.numerics.search import first_true
from crowdblend.trusted.randomness import ReleaseKey
from crowdblend.trusted.randomness.noise import SMALLEST_EPSILON

# How often the range of what one of several releases may lose is halved, and the largest threshold that is tried.
_HALVINGS, _LARGEST = 12, 10**9


@dataclass(frozen=True, repr=False)
class ThresholdPlan(ClassCountsPlan[TablePolicy]):
    """The plan of a table with a threshold: its noise, and from which value on cells are shown."""

    policy: TablePolicy
    mechanism: ThresholdHistogram

    @property
    def mechanisms(self) -> tuple[ThresholdHistogram]:
        return (self.mechanism,)

    def facts(self, publication: Result | None = None) -> ThresholdFacts:
        (mechanism,) = self.mechanisms if publication is None else publication.mechanisms
        assert isinstance(mechanism, ThresholdHistogram)
        policy = self.policy
        assert policy.epsilon is not None, "a threshold has an epsilon"
        assert policy.delta is not None, "and a delta"
        return ThresholdFacts(
            **self.common_facts(),
            epsilon=policy.epsilon,
            delta=policy.delta,
            releases=policy.releases,
            mechanism=mechanism,
        )

    @property
    def keeps(self) -> bool:
        """True if the facts of the plan give what they state."""
        try:
            self.facts().derivations()
        except CrowdblendError:
            return False
        return True

    def alone(self) -> TablePolicy:
        return self.policy.replace(noise_epsilon=self.mechanism.noise_epsilon, show_from=self.mechanism.show_from)

    def describe(self) -> Lines:
        counted = "people" if self.sample.everybody else "sampled people"
        shown = f"the cells in which somebody is, with noise, where they reach {self.mechanism.show_from} {counted}"
        off = three_digits(self.mechanism.expected_error())
        return [
            *self.describe_reading(),
            *self.sample.describe(),
            ("would publish", f"a table of {shown}; labels that few people have do not appear"),
            ("", f"a cell that is shown is off by {off} on average, besides what it owes to having reached that"),
        ]

    def publish(self, reading: ClassCountsReading, key: ReleaseKey, progress: Progress | None = None) -> Result:
        published = self.mechanism.publish(reading.sample, key)
        output = counts_output(self.policy, published, self.facts())
        return Result((output,), self.mechanisms, internal=internal_counts(reading.sample, published))


class ThresholdMethod(Method[TablePolicy]):
    """Noise on the cells that occur, shown from a threshold on, so that labels need not be listed."""

    def plan(self) -> ThresholdPlan:
        """Return the plan with the least noise that epsilon allows and the smallest threshold that delta does."""
        policy = self.policy
        assert policy.epsilon is not None, "a threshold has an epsilon"
        assert policy.delta is not None, "and a delta"
        check_delta(policy, policy.delta)
        epsilon, delta, releases = policy.epsilon, policy.delta, policy.releases
        # Sums keep equal parts of both; by curves a release may lose more, and the other half of delta pays for it.
        part = epsilon / releases * (1 - 1e-12 * (releases > 1))
        found = _lower_loss(_plan_threshold(policy, part, delta / releases))
        if releases > 1 and policy.publication.noise_epsilon is None:
            curved = _by_curves(policy, epsilon, delta)
            found = min(found, curved, key=lambda one: (not one.keeps, one.mechanism.show_from))
        if not found.keeps:
            raise Infeasible(
                f"`epsilon = {epsilon:g}` and `delta = {delta:g}` cannot be guaranteed with "
                f"`noise_epsilon = {found.mechanism.noise_epsilon:g}` and `show_from = {found.mechanism.show_from}`.",
                remedy="Leave noise_epsilon and show_from out to be planned, or raise epsilon or delta.",
                where="`publish.show_from`",
                code="plan.threshold-out-of-reach",
            )
        return found

    def plan_part(self, budget: PartBudget) -> ThresholdPlan:
        drawn = self.policy.sampling.thin_by(budget.share)
        return _plan_within(
            self.policy.replace(sampling=drawn, accept_delta=True, releases=1), budget.noise, budget.own_delta
        )

    def plan_noisy(self, epsilon: float, delta: float) -> ThresholdPlan:
        return _plan_within(self.policy, *self.policy.unit.per_row(epsilon, delta))


def _by_curves(policy: TablePolicy, epsilon: float, delta: float) -> ThresholdPlan:
    """The plan of one of several releases, which are composed by their curves: the least noise, then the threshold."""
    low, high, releases = epsilon / policy.releases, epsilon, policy.releases
    found = _plan_threshold(policy, low, delta / (2 * releases))
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        tried = _plan_threshold(policy, middle, delta / (2 * releases))
        if tried.keeps:
            low, found = middle, tried
        else:
            high = middle
    if policy.publication.show_from is not None or not found.keeps:
        return found

    def at(show_from: int) -> ThresholdPlan:
        return replace(found, mechanism=ThresholdHistogram(found.mechanism.noise_epsilon, show_from))

    return at(first_true(lambda show_from: at(show_from).keeps, 1, found.mechanism.show_from))


def _plan_within(policy: TablePolicy, loss: float, delta: float) -> ThresholdPlan:
    """The plan with noise of this loss and what it may take of delta, both before sampling."""
    if loss < 2 * SMALLEST_EPSILON:
        message = f"epsilon leaves less than {float(2 * SMALLEST_EPSILON):.1g} to the noise on a number."
        raise Infeasible(message, remedy="Raise epsilon.", where="`privacy.epsilon`", code="plan.epsilon-too-small")
    table = policy.publication
    loss = table.noise_epsilon or loss
    return ThresholdPlan(policy, ThresholdHistogram(loss, table.show_from or smallest_threshold(loss, delta)))


def smallest_threshold(loss: float, delta: float) -> int:
    """Return the smallest threshold that someone who is alone in a cell reaches with probability delta at most.

    >>> smallest_threshold(1.0, 1e-6), smallest_threshold(2.9, 1e-5)
    (15, 5)
    """

    def keeps(show_from: int) -> bool:
        return bool(ThresholdHistogram(loss, show_from).claim().conclusion.delta <= delta)

    guess = 1 - math.log(delta * (1 + math.exp(-loss))) / loss
    try:
        return first_true(keeps, 1, max(1, math.ceil(guess)), _LARGEST)
    except LookupError:
        message = f"No threshold up to {_LARGEST:,} keeps `delta = {delta:g}` with noise of loss {loss:.2g}."
        raise Infeasible(
            message, remedy="Raise epsilon or delta.", where="`privacy.epsilon`", code="plan.no-threshold"
        ) from None


def _plan_threshold(policy: TablePolicy, epsilon: float, delta: float) -> ThresholdPlan:
    """Return the noise and the threshold that come to this epsilon and delta in one release, about."""
    sample = policy.design
    loss = sample.largest_loss(epsilon)
    return _plan_within(policy, *policy.unit.per_row(loss, sample.largest_delta(loss, delta)))


def _lower_loss(plan: ThresholdPlan) -> ThresholdPlan:
    """Return the plan with a hair less of loss, and a higher threshold, where rounding or a survey needs that."""
    policy = plan.policy
    for step in range(8):
        if plan.keeps:
            return plan
        loss, show_from = plan.mechanism.noise_epsilon, plan.mechanism.show_from
        less = policy.publication.noise_epsilon or math.nextafter(loss, 0.0)
        plan = replace(plan, mechanism=ThresholdHistogram(less, policy.publication.show_from or show_from + (step > 3)))
    return plan
