"""A zero-knowledge guarantee for several people together, by whichever of ZKP Propositions 3, 4 and 5 says most."""

from __future__ import annotations

from contextlib import suppress
from operator import itemgetter

from crowdblend.errors import NotApplicable
from crowdblend.trusted.calculus.rules.zero_knowledge import group_by_chain, group_by_distance, group_by_samples
from crowdblend.trusted.calculus.theorem import Rule
from crowdblend.trusted.guarantees.guessing import right_conclusion
from crowdblend.trusted.guarantees.privacy import ZeroKnowledge


def best_for_group(guarantee: ZeroKnowledge, people: int) -> Rule:
    """Return the rule that moves an even chance least; where all allow certainty, the one with the smallest δ.

    >>> from crowdblend.trusted.guarantees.aggregates import RandomSamples
    >>> from crowdblend.trusted.guarantees.privacy import Relation
    >>> one = ZeroKnowledge(0.001, 0.0, RandomSamples(1_000, 10_000_000), Relation.CONCEAL)
    >>> best_for_group(one, 2).id, best_for_group(one, 200).id
    ('zero-knowledge.group-samples', 'zero-knowledge.group-samples')
    """
    found = []
    for rule in (group_by_chain, group_by_distance, group_by_samples):
        with suppress(NotApplicable):
            together = rule.conclude(guarantee, people=people)
            found.append(((right_conclusion(together), together.delta, together.epsilon), rule))
    return min(found, key=itemgetter(0))[1]
