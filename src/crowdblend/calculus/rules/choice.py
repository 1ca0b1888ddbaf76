"""Taking the best of several derivations is itself a visible step."""

from __future__ import annotations

from dataclasses import replace
from typing import TypeVar

from crowdblend.calculus.description import same_release
from crowdblend.calculus.theorem import rule
from crowdblend.errors import InvalidInput
from crowdblend.guarantees.privacy import Differential, DifferentialUnderSampling, ZeroKnowledge

Chosen = TypeVar("Chosen", DifferentialUnderSampling, Differential, ZeroKnowledge)

_STATEMENT = "When several derivations of the same guarantee differ only in δ, the smallest δ holds."
_SOURCE = "each derivation is a proof"


@rule("choice.sampling", source=_SOURCE, statement=_STATEMENT, about=same_release())
def best_under_sampling(*premises: DifferentialUnderSampling) -> DifferentialUnderSampling:
    """The smallest δ of several true statements."""
    return _smallest(premises)


@rule("choice.differential", source=_SOURCE, statement=_STATEMENT, about=same_release())
def best_differential(*premises: Differential) -> Differential:
    """The smallest δ of several true statements."""
    return _smallest(premises)


@rule("choice.zero-knowledge", source=_SOURCE, statement=_STATEMENT, about=same_release())
def best_zero_knowledge(*premises: ZeroKnowledge) -> ZeroKnowledge:
    """The smallest δ of several true statements."""
    return _smallest(premises)


def _smallest(premises: tuple[Chosen, ...]) -> Chosen:
    best = min(premises, key=lambda premise: premise.delta)
    if any(replace(premise, delta=best.delta) != best for premise in premises):
        raise InvalidInput(
            "The derivations to choose from must guarantee the same but for delta; compare like with like."
        )
    return best
