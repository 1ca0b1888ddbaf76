"""A zero-knowledge promise for several people together, by whichever of the three propositions says most."""

from __future__ import annotations

import math

from crowdblend.calculus.rules.zero_knowledge import group_by_chain, group_by_distance, group_by_samples
from crowdblend.calculus.theorem import Derivation
from crowdblend.errors import NotApplicable
from crowdblend.guarantees import ZeroKnowledge

_RULES = (group_by_chain, group_by_distance, group_by_samples)


def for_group(promise: Derivation, people: int) -> list[Derivation]:
    """The promise to `people` together by each proposition that applies (ZKP Propositions 3, 4 and 5)."""
    made = []
    for rule in _RULES:
        try:
            made.append(rule(promise, people=people))
        except NotApplicable:
            continue
    return made


def best_for_group(promise: Derivation, people: int) -> Derivation:
    """The one that moves an even chance least: e^ε/2 + δ is smallest. Where all allow certainty, the smallest δ."""
    return min(for_group(promise, people), key=lambda made: _said(made.conclusion))


def _said(promise: ZeroKnowledge) -> tuple[float, float, float]:
    return even_chance(promise), promise.delta, promise.epsilon


def even_chance(promise: ZeroKnowledge) -> float:
    """How likely, at most, something becomes that had an even chance without the release."""
    if promise.epsilon > math.log(2):
        return 1.0
    return min(1.0, math.exp(promise.epsilon) / 2 + promise.delta)
