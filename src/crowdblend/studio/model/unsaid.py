"""Policies that no form of the studio could say again: refused when they are opened, with the key."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from crowdblend.errors import CrowdblendError, InvalidInput
from crowdblend.policies.differences import first_difference
from crowdblend.policies.policy import Policy
from crowdblend.studio.model.choices import Choices, policy_of

# The longest text of a field.
LONGEST_TEXT = 200_000


def refuse_unsaid(policy: Policy, choices: Choices, folder: Path) -> None:
    """Refuse a policy unless its choices make an equal one; paths are equal where they lead to the same file."""
    where = next((where for where, text in _texts(choices) if len(text) > LONGEST_TEXT), None)
    if where is None:
        try:
            where = first_difference(policy, policy_of(choices, folder), _file)
        except CrowdblendError as refused:
            where = refused.refusal.where or "policy"
    if where is not None:
        message = f"The studio has no field for {where}, as this policy says it."
        raise InvalidInput(message, remedy="Use `crowdblend release` for it.", where=where, code="studio.unsaid")


def _file(place: str) -> str:
    return place if "://" in place else os.path.realpath(place)


def _texts(choices: Choices) -> Iterator[tuple[str, str]]:
    for section, texts in choices.sections.items():
        yield from ((f"`{section}.{key}`", text) for key, text in texts.items())
    for name, texts in choices.columns.items():
        yield from ((f"column {name!r} {key}", text) for key, text in texts.items())
    for one in choices.publish:
        for texts in (one.texts, *(item for items in one.lists.values() for item in items)):
            yield from ((f"`publish.{key}`", text) for key, text in texts.items())
