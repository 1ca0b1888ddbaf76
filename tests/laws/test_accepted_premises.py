"""Which guarantees every rule takes for its premises: to groups, under the other relation, with δ, after sampling.

A rule that takes another one than its theorem is about would be wrong, so what each takes is written down here. What is
not in the table is refused.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from crowdblend.errors import CrowdblendError
from crowdblend.trusted.calculus import RULES
from crowdblend.trusted.guarantees.privacy import Differential, Relation
from crowdblend.trusted.guarantees.profiles import Profile

from .examples import EXAMPLES

# By rule and place of the premise.
ACCEPTED: dict[str, dict[int, str]] = {
    "sampling.amplification": {0: "delta"},
    "differential.replace": {0: "group sampled"},
    "differential.group": {0: "relation delta sampled"},
    "choice.differential": {0: "", 1: "delta", 2: "delta"},
    "composition.differential": {0: "sampled", 1: "delta sampled", 2: "delta"},
    "composition.adaptive": {0: "delta", 1: "delta", 2: "delta"},
    "composition.blending-differential": {1: ""},
    "composition.blending-differential-both": {1: "", 2: ""},
    "differential.zero-knowledge": {0: "group delta sampled"},
    "sample-and-sanitize.plain": {0: ""},
    "sample-and-sanitize.doubled": {0: ""},
    "sample-and-sanitize.linear": {0: ""},
    "sample-and-sanitize.sharp": {0: ""},
    "sample-and-sanitize.differential": {0: ""},
    "blending.differential": {0: ""},
    "programme.part-private": {0: ""},
    "recoding.population": {0: "sampled"},
    "recoding.split": {0: ""},
    "profile.steps": {0: "", 1: ""},
    "profile.one-sample": {0: ""},
    "profile.one-unequal-sample": {0: ""},
    "profile.amplified": {0: ""},
    "profile.differential": {0: "group relation"},
    "profile.recoding-population": {0: "sampled", 1: "unsampled"},
    "profile.recoding-split": {0: ""},
    "profile.replaced": {0: "unsampled"},
    "composition.profiles": {0: "unsampled", 1: "unsampled"},
    "composition.repeated": {0: "group relation unsampled"},
    "profile.delta": {0: "group relation unsampled"},
    "profile.epsilon": {0: "group relation unsampled"},
    "profile.zero-knowledge": {0: "unsampled"},
    "profile.replace": {0: "unsampled"},
    "profile.group": {0: "relation unsampled"},
    "strata.copies": {0: ""},
    "rows.per-person": {0: "delta"},
    "rows.own-coins": {0: ""},
    "survey.profile": {0: "unsampled"},
    "survey.strata-profile": {0: "unsampled"},
    "survey.groups-profile": {0: "unsampled"},
    "survey.zero-knowledge": {0: "unsampled"},
    "profile.strata": {0: "", 1: "", 2: ""},
}


def other(relation: Relation) -> Relation:
    return Relation.REPLACE if relation is Relation.ADD_REMOVE else Relation.ADD_REMOVE


def strangers(premise: Any) -> Iterator[tuple[str, Any]]:
    """The premise with one thing changed that theorems are about."""
    changes: dict[str, dict[str, Any]] = {"group": {"people": 2}, "relation": {"relation": other(premise.relation)}}
    if isinstance(premise, Differential):
        changes |= {"delta": {"delta": 1e-6}, "sampled": {"samplings": 1}}
    else:
        changes |= {"unsampled": {"samplings": 0}, "sampled": {"samplings": 1}}
    for name, changed in changes.items():
        try:
            stranger = replace(premise, **changed)
        except CrowdblendError:
            continue
        if stranger != premise:
            yield name, stranger


def accepted(rule_id: str) -> dict[int, str]:
    """For every premise with a relation what may be different about it."""
    example, found = EXAMPLES[rule_id][0], {}
    for place, premise in enumerate(example.premises):
        if not isinstance(premise, Differential | Profile):
            continue
        names = []
        for name, stranger in strangers(premise):
            premises = (*example.premises[:place], stranger, *example.premises[place + 1 :])
            try:
                RULES[rule_id].conclude(*premises, **example.parameters)
            except CrowdblendError:
                continue
            names.append(name)
        found[place] = " ".join(names)
    return found


def test_every_rule_takes_what_its_theorem_is_about_and_nothing_else() -> None:
    found = {rule_id: accepted(rule_id) for rule_id in RULES}
    assert {rule_id: places for rule_id, places in found.items() if places} == ACCEPTED
