"""Read the sections of a policy's TOML into keyword arguments; unknown keys are refused."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from crowdblend.policies.key import did_you_mean, keys_of, refusal
from crowdblend.policies.values import shown

PLACEHOLDER = "FILL_IN"


def read_keys(holder: type, table: Any, where: str, only: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """The values of one section by the name of their field; `where` names the section in messages.

    `only` restricts the keys to some fields, for sections of which a policy holds the keys itself.
    """
    if not isinstance(table, Mapping):
        raise refusal(
            "section",
            f"{where} is {shown(table)} instead of a table of keys.",
            "Write key = value lines below it.",
            where,
        )
    declared = {key.name: attribute for attribute, key in (only or keys_of(holder)).items()}
    for name in table:
        if name not in declared:
            raise refusal(
                "unknown-key", f"{where} has no key {name!r}.", did_you_mean(name, declared), f"{where} {name}"
            )
    return {declared[name]: value for name, value in table.items()}


def refuse_placeholder(where: str, value: Any) -> None:
    """Refuse a starter policy that was not completed."""
    if isinstance(value, Mapping):
        for name, item in value.items():
            refuse_placeholder(f"{where}.{name}" if where else name, item)
    elif isinstance(value, list):
        for item in value:
            refuse_placeholder(where, item)
    elif isinstance(value, str) and PLACEHOLDER in value:
        raise refusal("placeholder", f"{where} still says {PLACEHOLDER}.", "Write what you know beforehand.", where)
