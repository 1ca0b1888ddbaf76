"""A zero-knowledge guarantee for several people together, by whichever of the three propositions says most."""

from __future__ import annotations

from crowdblend.calculus.rules.zero_knowledge import group_by_chain, group_by_distance, group_by_samples
from crowdblend.calculus.theorem import Derivation, Rule
from crowdblend.errors import NotApplicable
from crowdblend.guarantees import ZeroKnowledge
from crowdblend.guarantees.guessing import right_conclusion


def for_group(guarantee: ZeroKnowledge, people: int) -> dict[str, ZeroKnowledge]:
    """Return the guarantee for `people` together by each rule that applies (ZKP Propositions 3, 4 and 5)."""
    made: dict[str, ZeroKnowledge] = {}
    for rule in (group_by_chain, group_by_distance, group_by_samples):
        try:
            made[rule.id] = rule.conclude(guarantee, people=people)
        except NotApplicable:
            continue
    return made


def best_for_group(guarantee: ZeroKnowledge, people: int) -> Rule:
    """Return the rule that moves an even chance least; where all allow certainty, the one with the smallest δ.

    >>> from crowdblend.guarantees import RandomSamples, Relation
    >>> one = ZeroKnowledge(0.001, 0.0, RandomSamples(1_000, 10_000_000), Relation.CONCEAL)
    >>> best_for_group(one, 2).id, best_for_group(one, 200).id
    ('zero-knowledge.group-samples', 'zero-knowledge.group-samples')
    """
    made = for_group(guarantee, people)
    best = min(made, key=lambda name: (right_conclusion(made[name]), made[name].delta, made[name].epsilon))
    return next(rule for rule in (group_by_chain, group_by_distance, group_by_samples) if rule.id == best)


def derived_for_group(guarantee: Derivation, people: int) -> Derivation:
    """Return the guarantee for a group, derived by the best rule."""
    return best_for_group(guarantee.conclusion, people)(guarantee, people=people)
