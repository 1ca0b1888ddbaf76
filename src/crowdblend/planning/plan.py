"""`plan`: leave one of k, rate, epsilon and delta out, and it is solved for on the safe side."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from crowdblend.calculus import Assumption, Certificate, Derivation
from crowdblend.calculus.rules import blending, choice, sampling
from crowdblend.errors import CrowdblendError, NotApplicable
from crowdblend.planning.bounds import BOUNDS, LARGEST_COMPARED, Bound, crowd, noise_loss
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
        return shown

    @property
    def noise_epsilon(self) -> float | None:
        """The loss of the noise below k, or of the noise on points, if there is any."""
        if self.question.kind == "points":
            return self.question.noise_epsilon
        return noise_loss(self.question, self.rate, self.epsilon) if self.question.noisy else None

    @property
    def sampled_with(self) -> float:
        """The largest sampling probability of anybody protected; a δ as large promises nothing beyond sampling."""
        return self.rate if self.rate is not None and not self.question.biased else self.question.protected_rate

    def certificate(self, stated: tuple[Assumption, ...] = (), facts: Mapping[str, Any] | None = None) -> Certificate:
        """What sampling and releasing with these parameters promises, every applicable theorem shown."""
        mechanism = self.mechanism()
        if self.question.biased:
            parameters = {**self.question.sampling(None), "epsilon": self.epsilon}
            differential = blending.robust_sampling_is_differential(mechanism, **parameters)
            strongest = blending.robust_sampling_is_zero_knowledge(mechanism, **parameters)
        else:
            sampled = self.sampled()
            differential = sampling.sampled_release_is_differential(sampled)
            strongest = sampling.sampled_release_is_zero_knowledge(sampled)
        replaced = sampling.replacing_is_removing_and_adding(differential)
        return Certificate((strongest, differential, replaced, mechanism), stated, facts or {})

    def sampled(self) -> Derivation:
        """The release under sampling, by the best of the applicable theorems."""
        return choice.best_under_sampling(*self._derivations())

    def mechanism(self) -> Derivation:
        """The sanitizer itself."""
        return crowd(self.question, self.k, self.noise_epsilon)

    def _derivations(self) -> list[Derivation]:
        found = []
        # What is chosen from starts from one leaf, and no rule about crowds beats one about the mechanism itself.
        applicable = _applicable(self.question)
        for bound in [bound for bound in applicable if not bound.rule.premises] or applicable:
            if bound.compared and self.k > LARGEST_COMPARED:
                continue
            try:
                found.append(bound.derive(self.question, self.k, self.rate, self.epsilon))
            except NotApplicable:
                continue
        return found


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
) -> Plan:
    """Solve for the one of k, rate, epsilon and delta that is left out: the smallest k, epsilon or delta, or the
    largest rate, for which the promise is proved.

    >>> plan(rate=0.1, k=20, epsilon=0.5).delta
    2.631783466225066e-11
    >>> plan(rate=0.5, epsilon=1.0, delta=1e-6).k
    35
    """
    question = Question(
        rate, k, epsilon, delta, blend_epsilon, low, high, exceptions, max_rate, kind, below_k, noise_epsilon, flag
    )
    return answer(question)


def answer(question: Question) -> Plan:
    """The plan for a question."""
    bounds, refusals = _solve_all(question)
    if not bounds:
        raise refusals[0]
    solved = question.unknown
    best = (max if solved == "rate" else min)(bounds, key=lambda name: bounds[name])
    values: dict[str, Any] = {name: getattr(question, name) for name in ("k", "rate", "epsilon", "delta")}
    values[solved] = bounds[best]
    rule = next(bound.rule.id for bound in BOUNDS if bound.name == best)
    return Plan(**values, solved=solved, rule=rule, bounds=bounds, question=question)


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
