"""Every kind of release, each in a module of its own that is loaded when a policy asks for it.

A module has two functions:

    read_policy(parts, folder)   the policy, from the parts of its TOML; paths in it are relative to the folder
    promise(policy)              the policy with nothing left open, see `Promised`
"""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any, Protocol, cast

from crowdblend.release.kind import AnyPolicy, Promised

MODULES = {
    "table": "classes",
    "microdata": "classes",
    "synopsis": "synopsis",
}


class KindModule(Protocol):
    """What the module of a kind offers."""

    def read_policy(self, parts: dict[str, Any], folder: Path) -> AnyPolicy:
        """The policy."""

    def promise(self, policy: Any) -> Promised:
        """What it promises."""


def module_of(kind: str) -> KindModule:
    """The module that knows a kind."""
    return cast(KindModule, import_module(f"{__name__}.{MODULES[kind]}"))


def promise(policy: AnyPolicy) -> Promised:
    """Plan what the policy leaves open, or check that what it states can be promised."""
    return module_of(policy.kind).promise(policy)
