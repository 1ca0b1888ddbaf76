"""`plan`: leave one of k, rate, epsilon and delta out, and it is solved for on the safe side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, Protocol

from crowdblend.calculus import Certificate, Derivation
from crowdblend.calculus.rules import blending, choice, composition, profiles, sampling
from crowdblend.errors import CrowdblendError, NotApplicable, NotProved
from crowdblend.guarantees.parameters import check
from crowdblend.planning import series
from crowdblend.planning.bounds import BOUNDS, LARGEST_COMPARED, Bound, PlannedMechanism, noise_loss
from crowdblend.planning.parts import derive_parts, equal_shares, smallest_thresholds
from crowdblend.planning.request import PlanRequest
from crowdblend.planning.solve import solve


class Claims(Protocol):
    """A mechanism with parameters; what it guarantees follows from them and from nothing else."""

    def claim(self) -> Derivation:
        """What the mechanism guarantees to the people it is run on."""


class CrowdMechanism(Claims, Protocol):
    """A mechanism that blends people into crowds of at least k."""

    def claim_under_sampling(self, *, rate: float, epsilon: float) -> Derivation | None:
        """What it guarantees after sampling, by a theorem about this mechanism; None where only its crowds count."""


@dataclass(frozen=True)
class Plan:
    """The four parameters, which of them was solved for, by which rule, and what every other rule would give."""

    k: int
    rate: float | None
    epsilon: float
    delta: float
    solved: str
    rule: str
    bounds: Mapping[str, float]
    request: PlanRequest
    thresholds: tuple[int, ...] = ()
    """With several tables, the k of each; `k` is the largest of them."""

    def to_dict(self) -> dict[str, Any]:
        """The plan as JSON-ready data."""
        shown: dict[str, Any] = {"k": self.k, "rate": self.rate, "epsilon": self.epsilon, "delta": self.delta}
        shown |= {"solved": self.solved, "rule": self.rule, "bounds": dict(self.bounds)}
        shown["blend_epsilon"] = self.request.blend_epsilon
        if self.request.noisy:
            shown |= {"below_k": "noise", "flag": self.request.flag, "noise_epsilon": self.noise_epsilon}
        if self.request.kind == "points":
            shown |= {"noise_epsilon": self.noise_epsilon}
        if self.request.shares:
            shown |= {"parts": len(self.request.shares)}
        if self.request.biased:
            shown |= self.request.sampling(None)
        if self.request.releases > 1:
            shown["releases"] = self.request.releases
        return shown

    @property
    def noise_epsilon(self) -> float | None:
        """The loss of the noise below k, or of the noise on points, if there is any."""
        if self.request.kind == "points":
            return self.request.noise_epsilon
        return noise_loss(self.request, self.rate, self.epsilon) if self.request.noisy else None

    @property
    def sampled_with(self) -> float:
        """The largest sampling probability of anybody protected; a δ as large guarantees nothing beyond sampling."""
        return self.rate if self.rate is not None and not self.request.biased else self.request.protected_rate

    @property
    def mechanism(self) -> PlannedMechanism:
        """The planned mechanism, of which only the parameters are known."""
        return PlannedMechanism(self.request, self.k, self.noise_epsilon)

    def certificate(self) -> Certificate:
        """What sampling and a mechanism with these parameters guarantee, before anything is released.

        Of several releases it is what they guarantee together.
        """
        return Certificate(self.together() if self.request.releases > 1 else self.planned_derivations())

    def planned_derivations(self) -> tuple[Derivation, ...]:
        """What sampling and mechanisms with these parameters guarantee."""
        if self.request.shares:
            return self.derivations_of_parts(tuple(PlannedMechanism(self.request, k, None) for k in self.thresholds))
        return self.derivations(self.mechanism)

    def together(self) -> tuple[Derivation, ...]:
        """What all planned releases guarantee together."""
        if self.rule == series.RULES[series.ADDED]:
            one = answer_alone(series.share_of(self.request))
            _, once, *_ = one.planned_derivations()
            return (composition.differential_releases_add_up(*[once] * self.request.releases),)
        profile = series.profile_together(self.request, self.k, self.rate)
        if self.solved == "delta":
            found = profiles.profile_at_epsilon(profile, epsilon=self.epsilon)
        else:
            found = profiles.profile_at_delta(profile, delta=self.delta)
        self._require_planned(found)
        return profiles.profile_is_zero_knowledge(profile, epsilon=found.conclusion.epsilon), found

    def derivations(self, mechanism: CrowdMechanism) -> tuple[Derivation, ...]:
        """What sampling and this very mechanism guarantee: every derivation starts from its own claim.

        A mechanism that guarantees less than the plan is refused.
        """
        claim = mechanism.claim()
        if self.request.biased:
            parameters = {**self.request.sampling(None), "epsilon": self.epsilon}
            differential = blending.robust_sampling_is_differential(claim, **parameters)
            strongest = blending.robust_sampling_is_zero_knowledge(claim, **parameters)
        else:
            sampled = self.under_sampling(mechanism)
            differential = sampling.sampled_release_is_differential(sampled)
            strongest = sampling.sampled_release_is_zero_knowledge(sampled)
        self._require_planned(differential)
        replaced = sampling.replacing_is_removing_and_adding(differential)
        return strongest, differential, replaced, claim

    def derivations_of_parts(self, mechanisms: Sequence[CrowdMechanism]) -> tuple[Derivation, ...]:
        """What sampling and these very mechanisms, each on its part of the sample, guarantee together.

        None of them speaks of the whole sample, so no crowd is listed.
        """
        assert self.rate is not None, "parts are of a sample at one rate"
        claims = (mechanism.claim() for mechanism in mechanisms)
        sampled = derive_parts(claims, self.request.shares, self.rate, self.epsilon)
        self._require_planned(sampled)
        differential = sampling.sampled_release_is_differential(sampled)
        strongest = sampling.sampled_release_is_zero_knowledge(sampled)
        return strongest, differential, sampling.replacing_is_removing_and_adding(differential)

    def derivations_of_fresh_samples(self, mechanisms: Sequence[CrowdMechanism]) -> tuple[Derivation, ...]:
        """What these very mechanisms, each on a fresh sample of its own, guarantee together by their profiles."""
        assert self.rate is not None, "fresh samples are drawn at one rate"
        profile = profiles.profiles_compose(
            *(profiles.profile_of_crowds(mechanism.claim(), rate=self.rate) for mechanism in mechanisms)
        )
        # Where more such releases follow, epsilon is theirs and delta is what this one adds.
        if self.solved == "delta" or self.request.releases > len(mechanisms):
            differential = profiles.profile_at_epsilon(profile, epsilon=self.epsilon)
        else:
            differential = profiles.profile_at_delta(profile, delta=self.delta)
        self._require_planned(differential)
        epsilon = differential.conclusion.epsilon
        strongest = profiles.profile_is_zero_knowledge(profile, epsilon=epsilon)
        return strongest, differential, profiles.profile_of_replacing(profile, epsilon=2 * epsilon)

    def under_sampling(self, mechanism: CrowdMechanism) -> Derivation:
        """What the mechanism guarantees after sampling, by the best of the applicable theorems."""
        assert self.rate is not None, "a rate is planned or given unless sampling is biased"
        # What is chosen from starts from one leaf, and no rule about crowds beats one about the mechanism itself.
        own = mechanism.claim_under_sampling(rate=self.rate, epsilon=self.epsilon)
        best = choice.best_under_sampling(*([own] if own is not None else self._by_crowds(mechanism.claim())))
        self._require_planned(best)
        return best

    def _by_crowds(self, claim: Derivation) -> list[Derivation]:
        """Every applicable theorem about crowds, applied to a claim."""
        found = []
        for bound in _applicable(self.request):
            if bound.rule.premises and not (bound.compared and self.k > LARGEST_COMPARED):
                try:
                    found.append(bound.rule(claim, **self.request.sampling(self.rate), epsilon=self.epsilon))
                except NotApplicable:
                    continue
        return found

    def _require_planned(self, derived: Derivation) -> None:
        if derived.conclusion.epsilon > self.epsilon or derived.conclusion.delta > self.delta:
            raise NotProved(
                "The mechanism guarantees less than its plan.",
                remedy="Plan the release again.",
                where="epsilon",
                code="plan.mechanism-differs",
            )


def plan(
    *,
    rate: float | None = None,
    k: int | None = None,
    epsilon: float | None = None,
    delta: float | None = None,
    blend_epsilon: float = 0.0,
    low: float | None = None,
    high: float | None = None,
    exceptions: int = 0,
    max_rate: float | None = None,
    kind: str = "table",
    below_k: str = "suppress",
    noise_epsilon: float | None = None,
    flag: bool = False,
    parts: int = 1,
    releases: int = 1,
) -> Plan:
    """Solve for the one of k, rate, epsilon and delta that is left out: the smallest k, epsilon or delta, or the
    largest rate, for which the guarantee is proved. With `parts`, for as many tables from equal parts of one sample.

    >>> plan(rate=0.1, k=20, epsilon=0.5).delta
    2.631783466225066e-11
    >>> plan(rate=0.5, epsilon=1.0, delta=1e-6).k
    35
    >>> plan(rate=0.5, epsilon=1.0, delta=1e-6, parts=10).k
    16
    >>> plan(rate=0.1, epsilon=1.0, delta=1e-6, releases=20).k
    10
    """
    check("parts", parts)
    request = PlanRequest(
        rate,
        k,
        epsilon,
        delta,
        blend_epsilon,
        low,
        high,
        exceptions,
        max_rate,
        kind,
        below_k,
        noise_epsilon,
        flag,
        equal_shares(parts),
        releases,
    )
    return answer(request)


def answer(request: PlanRequest) -> Plan:
    """The plan for a request."""
    return answer_alone(request) if request.releases == 1 else answer_together(request)


def answer_together(request: PlanRequest) -> Plan:
    """The plan for several releases, by their profiles and by shares of epsilon and delta, whichever says more."""
    bounds: dict[str, float] = {}
    refusals: list[CrowdblendError] = []
    asked, alone = request, None
    request = series.with_noise(request)
    chooses = request.choice_epsilon is not None
    try:
        with suppress(CrowdblendError):
            # One release says nothing of releases that also choose their recoding.
            alone = None if chooses else getattr(answer_alone(replace(request, releases=1)), request.unknown)
        bounds[series.PROFILE] = series.solve_together(request, alone)
    except CrowdblendError as refused:
        refusals.append(refused)
    try:
        if not chooses:
            share = answer_alone(series.share_of(asked))
            bounds[series.ADDED] = series.added_up(asked, getattr(share, asked.unknown))
    except CrowdblendError as refused:
        refusals.append(refused)
    if not bounds or (request.noisy and series.PROFILE not in bounds):
        raise refusals[0]
    # Shares would have other noise below k.
    return _planned(request, bounds, series.RULES, series.PROFILE if request.noisy else None)


def answer_alone(request: PlanRequest) -> Plan:
    """The plan for one release."""
    bounds, refusals = _solve_all(request)
    if not bounds:
        raise refusals[0]
    return _planned(request, bounds, {bound.name: bound.rule.id for bound in BOUNDS})


def _planned(request: PlanRequest, bounds: dict[str, float], rules: Mapping[str, str], best: str | None = None) -> Plan:
    solved = request.unknown
    best = best or (max if solved == "rate" else min)(bounds, key=lambda name: bounds[name])
    values: dict[str, Any] = {name: getattr(request, name) for name in ("k", "rate", "epsilon", "delta")}
    values[solved] = bounds[best]
    return Plan(
        **values,
        solved=solved,
        rule=rules[best],
        bounds=bounds,
        request=request,
        thresholds=_thresholds(request, values),
    )


def _thresholds(request: PlanRequest, values: Mapping[str, Any]) -> tuple[int, ...]:
    """The k of every table: as given for all of them, or the smallest for each; one for all in a series."""
    if request.k is not None or request.releases > 1 or not request.shares:
        return (int(values["k"]),) * len(request.shares)
    return smallest_thresholds(request.shares, values["rate"], values["epsilon"], values["delta"])


def _solve_all(request: PlanRequest) -> tuple[dict[str, float], list[CrowdblendError]]:
    """The answer under every applicable rule, and why the others have none."""
    bounds: dict[str, float] = {}
    refusals: list[CrowdblendError] = []
    for bound in _applicable(request):
        try:
            bounds[bound.name] = solve(bound, request, bounds.get("exact"))
        except CrowdblendError as refused:
            refusals.append(refused)
    return bounds, refusals


def _applicable(request: PlanRequest) -> list[Bound]:
    return [bound for bound in BOUNDS if bound.applies(request)]
