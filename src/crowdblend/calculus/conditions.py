"""Conditions of theorems on their premises, refused alike by every rule."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum

from crowdblend.errors import NotApplicable
from crowdblend.guarantees.privacy import Differential, Guarantee, Relation, ZeroKnowledge
from crowdblend.guarantees.profiles import Profile


class Unmet(NotApplicable):
    """A condition that is not met, as a sentence without its subject: the rule that is applied puts its id there."""


def require(premise: Guarantee, remedy: str, **expectation: object) -> None:
    """Refuse a premise that has other values than these."""
    if any(getattr(premise, name) != value for name, value in expectation.items()):
        needed = " and ".join(f"{name} = {_show(value)}" for name, value in expectation.items())
        given = " and ".join(f"{name} = {_show(getattr(premise, name))}" for name in expectation)
        raise Unmet(f"needs {needed}, got {given}. {remedy}")


def require_one_person(premise: Differential | Profile, remedy: str) -> None:
    """Refuse a guarantee that is not for one person more or less."""
    require(premise, remedy, relation=Relation.ADD_REMOVE, people=1)


def require_unsampled(premise: Differential | Profile) -> None:
    """Refuse a guarantee that relies on sampling already: its sample is not the one that the rule draws."""
    if premise.samplings > 0:
        raise Unmet(
            f"needs a mechanism that has not sampled yet, got samplings = {premise.samplings}. "
            "Start from the guarantee of the mechanism that runs on the sample."
        )


def require_alike(premises: Sequence[Differential | Profile | ZeroKnowledge]) -> None:
    """Refuse to add guarantees of which one is about other neighbours than another."""
    if len({(premise.relation, premise.people) for premise in premises}) > 1:
        raise Unmet(
            "adds guarantees under one relation and for one group size. "
            "Convert them first (differential.replace, profile.replaced, differential.group)."
        )


def _show(value: object) -> str:
    return str(value.value) if isinstance(value, Enum) else f"{value:g}" if isinstance(value, float) else str(value)
