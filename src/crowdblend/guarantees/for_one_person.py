"""The guarantees for one person among several: the ones that are shown first, and that add up."""

from __future__ import annotations

from collections.abc import Iterable

from crowdblend.guarantees.aggregates import IidSampling
from crowdblend.guarantees.privacy import Differential, Guarantee, ZeroKnowledge
from crowdblend.guarantees.relations import Relation


def differential_for_one(
    guarantees: Iterable[Guarantee], relation: Relation = Relation.ADD_REMOVE
) -> Differential | None:
    """The differential guarantee for one person under a relation; None where there is none."""
    found = (made for made in guarantees if isinstance(made, Differential))
    return next((made for made in found if made.relation is relation and made.people == 1), None)


def zero_knowledge_for_one(guarantees: Iterable[Guarantee]) -> ZeroKnowledge | None:
    """The zero-knowledge guarantee for one person: relative to a sample of the others, or to any aggregate."""
    found = [made for made in guarantees if isinstance(made, ZeroKnowledge) and made.people == 1]
    return next((made for made in found if isinstance(made.aggregate, IidSampling)), found[0] if found else None)
