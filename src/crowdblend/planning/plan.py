"""`plan`: leave one of k, rate, epsilon and delta out, and it is solved for on the safe side."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

from crowdblend.calculus import Assumption, Certificate, Derivation
from crowdblend.calculus.rules import blending, choice, composition, profiles, sampling
from crowdblend.errors import CrowdblendError, NotApplicable, NotProved
from crowdblend.planning import series
from crowdblend.planning.bounds import BOUNDS, LARGEST_COMPARED, Bound, PlannedMechanism, noise_loss
from crowdblend.planning.claims import CrowdMechanism
from crowdblend.planning.question import Question
from crowdblend.planning.solve import solve


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
    question: Question

    def to_dict(self) -> dict[str, Any]:
        """The plan as JSON-ready data."""
        shown: dict[str, Any] = {"k": self.k, "rate": self.rate, "epsilon": self.epsilon, "delta": self.delta}
        shown |= {"solved": self.solved, "rule": self.rule, "bounds": dict(self.bounds)}
        shown["blend_epsilon"] = self.question.blend_epsilon
        if self.question.noisy:
            shown |= {"below_k": "noise", "flag": self.question.flag, "noise_epsilon": self.noise_epsilon}
        if self.question.kind == "points":
            shown |= {"noise_epsilon": self.noise_epsilon}
        if self.question.biased:
            shown |= self.question.sampling(None)
        if self.question.releases > 1:
            shown["releases"] = self.question.releases
        return shown

    @property
    def noise_epsilon(self) -> float | None:
        """The loss of the noise below k, or of the noise on points, if there is any."""
        if self.question.kind == "points":
            return self.question.noise_epsilon
        return noise_loss(self.question, self.rate, self.epsilon) if self.question.noisy else None

    @property
    def sampled_with(self) -> float:
        """The largest sampling probability of anybody protected; a δ as large guarantees nothing beyond sampling."""
        return self.rate if self.rate is not None and not self.question.biased else self.question.protected_rate

    @property
    def mechanism(self) -> PlannedMechanism:
        """The planned mechanism, of which only the parameters are known."""
        return PlannedMechanism(self.question, self.k, self.noise_epsilon)

    def certificate(self, stated: tuple[Assumption, ...] = (), facts: Mapping[str, Any] | None = None) -> Certificate:
        """What sampling and a mechanism with these parameters guarantee, before anything is released.

        Of several releases it is what they guarantee together.
        """
        if self.question.releases > 1:
            return Certificate(self.together(), stated, facts or {})
        return self.certify(self.mechanism, stated, facts)

    def together(self) -> tuple[Derivation, ...]:
        """What all planned releases guarantee together."""
        if self.rule == series.RULES[series.ADDED]:
            one = answer_alone(series.share_of(self.question))
            _, once, *_ = one.derivations(one.mechanism)
            return (composition.differential_releases_add_up(*[once] * self.question.releases),)
        profile = series.profile_together(self.question, self.k, self.rate)
        if self.solved == "delta":
            found = profiles.profile_at_epsilon(profile, epsilon=self.epsilon)
        else:
            found = profiles.profile_at_delta(profile, delta=self.delta)
        self._require_planned(found)
        return profiles.profile_is_zero_knowledge(profile, epsilon=found.conclusion.epsilon), found

    def certify(
        self,
        mechanism: CrowdMechanism,
        stated: tuple[Assumption, ...] = (),
        facts: Mapping[str, Any] | None = None,
    ) -> Certificate:
        """What sampling and this very mechanism guarantee."""
        return Certificate(self.derivations(mechanism), stated, facts or {})

    def derivations(self, mechanism: CrowdMechanism) -> tuple[Derivation, ...]:
        """What sampling and this very mechanism guarantee: every derivation starts from its own claim.

        A mechanism that guarantees less than the plan is refused.
        """
        claim = mechanism.claim()
        if self.question.biased:
            parameters = {**self.question.sampling(None), "epsilon": self.epsilon}
            differential = blending.robust_sampling_is_differential(claim, **parameters)
            strongest = blending.robust_sampling_is_zero_knowledge(claim, **parameters)
        else:
            sampled = self.under_sampling(mechanism)
            differential = sampling.sampled_release_is_differential(sampled)
            strongest = sampling.sampled_release_is_zero_knowledge(sampled)
        self._require_planned(differential)
        replaced = sampling.replacing_is_removing_and_adding(differential)
        return strongest, differential, replaced, claim

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
        for bound in _applicable(self.question):
            if bound.rule.premises and not (bound.compared and self.k > LARGEST_COMPARED):
                try:
                    found.append(bound.rule(claim, **self.question.sampling(self.rate), epsilon=self.epsilon))
                except NotApplicable:
                    continue
        return found

    def _require_planned(self, derived: Derivation) -> None:
        if derived.conclusion.epsilon > self.epsilon or derived.conclusion.delta > self.delta:
            raise NotProved("the mechanism guarantees less than its plan. Plan the release again.")


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
    releases: int = 1,
) -> Plan:
    """Solve for the one of k, rate, epsilon and delta that is left out: the smallest k, epsilon or delta, or the
    largest rate, for which the guarantee is proved.

    >>> plan(rate=0.1, k=20, epsilon=0.5).delta
    2.631783466225066e-11
    >>> plan(rate=0.5, epsilon=1.0, delta=1e-6).k
    35
    >>> plan(rate=0.1, epsilon=1.0, delta=1e-6, releases=20).k
    10
    """
    question = Question(
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
        releases,
    )
    return answer(question)


def answer(question: Question) -> Plan:
    """The plan for a question."""
    return answer_alone(question) if question.releases == 1 else answer_together(question)


def answer_together(question: Question) -> Plan:
    """The plan for several releases, by their profiles and by shares of epsilon and delta, whichever says more."""
    bounds: dict[str, float] = {}
    refusals: list[CrowdblendError] = []
    asked, alone = question, None
    question = series.with_noise(question)
    try:
        with suppress(CrowdblendError):
            alone = getattr(answer_alone(replace(question, releases=1)), question.unknown)
        bounds[series.PROFILE] = series.solve_together(question, alone)
    except CrowdblendError as refused:
        refusals.append(refused)
    try:
        share = answer_alone(series.share_of(asked))
        bounds[series.ADDED] = series.added_up(asked, getattr(share, asked.unknown))
    except CrowdblendError as refused:
        refusals.append(refused)
    if not bounds or (question.noisy and series.PROFILE not in bounds):
        raise refusals[0]
    # Shares would have other noise below k.
    return _planned(question, bounds, series.RULES, series.PROFILE if question.noisy else None)


def answer_alone(question: Question) -> Plan:
    """The plan for one release."""
    bounds, refusals = _solve_all(question)
    if not bounds:
        raise refusals[0]
    return _planned(question, bounds, {bound.name: bound.rule.id for bound in BOUNDS})


def _planned(question: Question, bounds: dict[str, float], rules: Mapping[str, str], best: str | None = None) -> Plan:
    solved = question.unknown
    best = best or (max if solved == "rate" else min)(bounds, key=lambda name: bounds[name])
    values: dict[str, Any] = {name: getattr(question, name) for name in ("k", "rate", "epsilon", "delta")}
    values[solved] = bounds[best]
    return Plan(**values, solved=solved, rule=rules[best], bounds=bounds, question=question)


def _solve_all(question: Question) -> tuple[dict[str, float], list[CrowdblendError]]:
    """The answer under every applicable rule, and why the others have none."""
    bounds: dict[str, float] = {}
    refusals: list[CrowdblendError] = []
    for bound in _applicable(question):
        try:
            bounds[bound.name] = solve(bound, question, bounds.get("exact"))
        except CrowdblendError as refused:
            refusals.append(refused)
    return bounds, refusals


def _applicable(question: Question) -> list[Bound]:
    return [bound for bound in BOUNDS if bound.applies(question)]
