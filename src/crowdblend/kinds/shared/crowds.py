"""Crowds of at least k sampled people: how k, rate, ε and δ are planned, and what all plans of crowds share.

Every stratum of the sample has a mechanism with a k of its own; a sample without strata is one.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from crowdblend.errors import CrowdblendError, Infeasible
from crowdblend.kinds.shared.class_counts import ClassCountsPlan
from crowdblend.kinds.shared.delta_limit import check_delta, require_more_than_sampling, with_stated_delta
from crowdblend.kinds.shared.plan import Lines, Result
from crowdblend.methods.designs import Claims, Design, Stratum
from crowdblend.methods.planning.designs import survey_costs
from crowdblend.methods.planning.parts import PartBudget
from crowdblend.methods.planning.plan import SolvedPlan, answer
from crowdblend.methods.planning.request import Form, PlanRequest
from crowdblend.methods.planning.strata import plan_strata
from crowdblend.policies.crowd import CrowdPolicy
from crowdblend.policies.unit import ROWS, WHERE_ROWS
from crowdblend.trusted.guarantees.programme import PartOfSample
from crowdblend.trusted.numerics.search import first_true

if TYPE_CHECKING:
    from crowdblend.methods.mechanisms import PublishedClasses, SampledClasses

PolicyT = TypeVar("PolicyT", bound=CrowdPolicy)
MechanismT = TypeVar("MechanismT", bound=Claims)
CrowdsPlanT = TypeVar("CrowdsPlanT", bound="CrowdsPlan[Any, Any]")
# Crowds for several rows of a person are at most as many hundredths larger than for one.
_MOST_RAISED = 100_000


@dataclass(frozen=True, repr=False)
class CrowdsPlan(ClassCountsPlan[PolicyT], Generic[PolicyT, MechanismT]):
    """A policy with nothing left open: the k of every stratum, and what the certificate will say."""

    policy: PolicyT
    parameters: SolvedPlan

    @abstractmethod
    def mechanism_of(self, stratum: SolvedPlan) -> MechanismT:
        """Return the mechanism that runs on the sample of a stratum."""

    @property
    def mechanisms(self) -> tuple[MechanismT, ...]:
        return tuple(map(self.mechanism_of, self.parameters.each.values()))

    @property
    def stratum(self) -> str | None:
        """The published column whose labels are the strata; None where there are none."""
        return self.strata.column_name if self.strata is not None and self.strata.published else None

    @property
    def rate(self) -> float | None:
        """The rate at which people are, or were, sampled; None where there is no single one."""
        return self.parameters.rate

    @property
    def sample(self) -> Design:
        """The design of the sample, as it is drawn, at the planned rate where the policy leaves it open."""
        sampling = self.policy.sampling
        return (sampling.at_rate(self.parameters.rate) if sampling.rate is None else sampling).sample(self.strata)

    def crowd_facts(self) -> dict[str, Any]:
        """Return the common facts of all crowds, by field."""
        return self.common_facts() | {
            "epsilon": self.parameters.epsilon,
            "delta": self.parameters.delta,
            "releases": self.policy.releases,
        }

    def ran(self, publication: Result | None) -> tuple[Claims, ...]:
        """Return the mechanisms that ran, or would run."""
        return self.mechanisms if publication is None else publication.mechanisms

    def by_stratum(self, ran: Sequence[object]) -> dict[str, Any]:
        """Return what ran on the sample, by field of the facts: one, or one for every stratum."""
        if not self.sample.strata:
            (only,) = ran
            return {"mechanism": only}
        return {"strata": dict(zip(self.sample.strata, ran, strict=True))}

    def summary(self) -> dict[str, Any]:
        return {**self.parameters.summary(), **super().summary()}

    @property
    def crowd_size(self) -> str:
        """The size from which classes are shown, in words."""
        return "that k" if self.stratum is not None else f"k = {self.parameters.k}"

    def describe_sample(self) -> Lines:
        """Describe what would be read and sampled: of strata the k of each, of a survey the alternatives."""
        sample, policy = self.sample, self.policy
        strata = sample.strata.values()
        each = [f", k = {one.k}{_spread(own)}" for one, own in zip(self.parameters.each.values(), strata, strict=False)]
        lines = [*self.describe_reading(self.published_names), *sample.describe(each)]
        # Noise has other crowds, and hides no cell; several rows of a person, and a part that chooses, need others too.
        exact = self.parameters.noise_epsilon is None and not policy.unit.has_row_coins and not self.divides_people
        if sample.people and sample.of and exact and policy.epsilon and policy.delta:
            costs = survey_costs(sample.people, sample.of, policy.epsilon, policy.delta, policy.releases)
            lines += [("compared", line) for line in costs]
        return lines


def _spread(stratum: Stratum) -> str:
    """Return the possible error of a stratum's estimates that divide by one of several rates."""
    if stratum.rate is None or stratum.low == stratum.high:
        return ""
    most = max(stratum.rate / stratum.low, stratum.high / stratum.rate) - 1
    return f", estimates within ±{100 * most:.0f} % of the weights"


def internal_counts(sample: SampledClasses, classes: PublishedClasses) -> dict[str, float]:
    """Return the counts for the steward alone."""
    sampled, shown = sample.people, int(classes.counts.sum())
    return {
        "people_sampled": sampled,
        "classes_sampled": len(sample.counts),
        "classes_published": len(classes.counts),
        "published_total": shown,
        "difference": sampled - shown,
        "relative_difference": (sampled - shown) / sampled if sampled else 0.0,
    }


def crowd_request(policy: CrowdPolicy, form: Form, **more: Any) -> PlanRequest:
    """Return what a policy without published strata leaves open; `more` is what its kind adds, or has instead."""
    low, high = policy.rate_range
    drawn = {"samples": policy.sampling.people, "population": policy.sampling.population}
    rates = {**drawn, "low": low, "high": high, "exceptions": policy.sampling.exceptions, "max_rate": policy.max_rate}
    return PlanRequest(**{"rate": policy.sampling.rate, **rates, **_given_parameters(policy, form), **more})


def _given_parameters(policy: CrowdPolicy, form: Form) -> dict[str, Any]:
    delta = policy.delta if policy.planned_parameter else None
    return {
        "k": policy.publication.k,
        "epsilon": policy.epsilon,
        "delta": delta,
        "form": form,
        "releases": policy.releases,
    }


def plan_crowds(policy: CrowdPolicy, form: Form, **more: Any) -> SolvedPlan:
    """Plan the one of k, rate, ε and δ that the policy leaves open, or check that all four can be guaranteed.

    `more` are further parameters of the kind.
    """
    given = "k, rate, epsilon and noise_epsilon" if form == "moved" else "k, rate and epsilon"
    with _weights_too_far_apart(policy):
        if policy.strata is not None and policy.strata.published:
            given, planned = (
                "k and epsilon",
                plan_strata(_strata_of(policy), {**_given_parameters(policy, form), **more}),
            )
        else:
            planned = answer(crowd_request(policy, form, **more))
        require_more_than_sampling(planned)
    if not policy.planned_parameter:
        assert policy.delta is not None
        planned = with_stated_delta(planned, policy.delta, given)
    check_delta(policy, planned.delta)
    return planned


def enough_for_rows(plan: CrowdsPlanT) -> CrowdsPlanT:
    """Return the plan with the smallest crowds that hide all rows of a person; as it is where everybody has one."""
    policy = plan.policy
    if not policy.unit.has_row_coins:
        return plan

    def with_larger_crowds(hundredths: int) -> CrowdsPlanT:
        return replace(plan, parameters=plan.parameters.raise_k(hundredths))

    def keeps(hundredths: int) -> bool:
        try:
            with_larger_crowds(hundredths).facts().derivations()
        except CrowdblendError:
            return False
        return True

    try:
        return with_larger_crowds(first_true(keeps, 0, 0, _MOST_RAISED if policy.publication.k is None else 0))
    except LookupError:
        raise Infeasible(
            f"No crowds hide {policy.unit.most} rows of a person with `epsilon = {policy.epsilon:g}` and "
            f"`delta = {policy.delta:g}`.",
            remedy=f"Leave k out to be planned, raise epsilon or delta, or lower the rate or {ROWS}.",
            where=WHERE_ROWS,
            code="plan.no-k",
        ) from None


@contextmanager
def _weights_too_far_apart(policy: CrowdPolicy) -> Iterator[None]:
    """Say of design weights what helps, where those of one class differ too much for any k."""
    try:
        yield
    except Infeasible as error:
        if policy.strata is None or not policy.strata.weighted or policy.sampling.thin is not None:
            raise
        name = policy.sampling.weight
        raise Infeasible(
            f"Weights of column {name!r} that count together differ too much for `epsilon = {policy.epsilon:g}`: no k "
            "hides people whose probability of being sampled is so uncertain.",
            remedy=f"Publish classes of similar weights: declare {name!r} with breaks that each rise by a "
            "third or less, and publish it. Or add `sampling.thin = 0.8`, which rests on no weight.",
            where="`sampling.column`",
            code=error.code,
        ) from None


def plan_in_part(
    policy: PolicyT,
    budget: PartBudget,
    form: Form,
    part: Callable[[int, float], PartOfSample],
    noise: Callable[[PartBudget], float] | None = None,
    **more: Any,
) -> tuple[PolicyT, SolvedPlan]:
    """Plan crowds of a part of a sample: the policy at the rates of the part, and a k that keeps to the budget.

    `part` is the part by its k and the loss of its noise, 0 where there is none, and `noise` that loss, of people who
    are sampled at one rate. What the part guarantees by itself is not what the programme says, so that its delta is
    left open.
    """
    changes = {"sampling": policy.sampling.thin_by(budget.drawn), "epsilon": budget.epsilon, "delta": None}
    changes |= {"accept_delta": True, "releases": 1}
    if budget.ends is not None:
        loss = 0.0 if noise is None else noise(budget)
        k = budget.smallest_k(part, loss) if policy.publication.k is None else policy.publication.k
        below: dict[str, Any] = {} if noise is None else {"noise_epsilon": loss}
        own_policy = policy.replace(k=k, **changes, **below)
        return own_policy, answer(crowd_request(own_policy, form, **more, **below))
    strata, choosing = _strata_of(policy), policy.recoding
    planned: dict[str, SolvedPlan] = {}
    for label, one in strata.items():
        own = replace(budget, rate=one.high)
        loss = 0.0 if noise is None else noise(own)
        k = own.smallest_k(part, loss) if policy.publication.k is None else policy.publication.k
        below = {**more, **({} if noise is None else {"noise_epsilon": loss})}
        # By itself a part sees others at this rate.
        rate = own.own_rate if choosing is None else choosing.released_rate(own.rate * own.drawn)
        request = PlanRequest(rate=rate, k=k, epsilon=budget.epsilon, form=form, **below)
        planned[label] = answer(request)
    crowds = SolvedPlan.of_strata(planned)
    changes |= {} if noise is None else {"noise_epsilon": next(iter(planned.values())).crowd_loss}
    return policy.replace(k=crowds.k, **changes), crowds


def _strata_of(policy: CrowdPolicy) -> Mapping[str, Stratum]:
    """Return the strata of a policy with the rates of the coins that protect their people."""
    sample = policy.design
    return dict(zip(sample.strata or [""], sample.coins, strict=True))
