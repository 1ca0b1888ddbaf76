"""The theorems that relate crowd size, rate, ε and δ, each under the name that a plan shows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from crowdblend.calculus import Derivation, Rule
from crowdblend.calculus.rules import blending, mechanisms, sampling
from crowdblend.planning.question import Question


@dataclass(frozen=True)
class Bound:
    """One rule seen as a function from (k, rate, epsilon) to δ."""

    name: str
    rule: Rule
    applies: Callable[[Question], bool]

    def derive(self, question: Question, k: int, rate: float | None, epsilon: float) -> Derivation:
        """The promise at these parameters; raises NotApplicable outside the rule's own conditions."""
        return self.rule(crowd(question, k), **question.sampling(rate), epsilon=epsilon)

    def delta(self, question: Question, k: int, rate: float | None, epsilon: float) -> float:
        """The proved δ at these parameters."""
        promised: float = self.derive(question, k, rate, epsilon).conclusion.delta
        return promised


def crowd(question: Question, k: int) -> Derivation:
    """The crowd-blending mechanism that the question is about."""
    if question.blend_epsilon == 0:
        return mechanisms.histogram_suppressed(k=k)
    return mechanisms.blending_stated(k=k, blend_epsilon=question.blend_epsilon)


BOUNDS = (
    Bound("exact", sampling.suppression_exact, lambda q: q.blend_epsilon == 0 and not q.biased),
    Bound("published", sampling.suppression_published, lambda q: q.blend_epsilon == 0 and not q.biased),
    Bound("sharp", sampling.blending_sharp, lambda q: q.blend_epsilon > 0 and not q.biased),
    Bound("blending", blending.blending_explicit, lambda q: not q.biased),
    Bound("robust", blending.robust_sampling_is_differential, lambda q: q.biased),
)
