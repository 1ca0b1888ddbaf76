"""Read a policy from TOML. Numbers are exact decimals until they become parameters, so 0.1 in a domain is a tenth."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from decimal import Decimal
from importlib import import_module
from pathlib import Path
from typing import Any

from crowdblend.errors import InvalidInput
from crowdblend.policies.keys import PARTS, PARTS_OF, RELEASE, SECTIONS, did_you_mean, read_keys, refuse_placeholder

# The module of this package that reads the policy of a kind.
MODULES = {
    "table": "table",
    "microdata": "table",
    "points": "points",
    "outlier-table": "outlier_table",
    "statistics": "statistics_reading",
    "synopsis": "synopsis",
    "graph": "graph",
}


def load_policy(path: Path | str) -> Any:
    """Read a policy file; the paths in it are relative to its folder."""
    path = Path(path)
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise InvalidInput(
            f"the policy {path.name!r} must be a readable file ({error.strerror}). Check the path."
        ) from None
    except UnicodeDecodeError:
        raise InvalidInput(f"the policy {path.name!r} must be UTF-8 text, and is not. Save it as UTF-8.") from None
    return parse_policy(text, path.parent)


def parse_policy(text: str, folder: Path | str = ".") -> Any:
    """Read a policy from its text; the paths in it are relative to `folder`.

    Its type is that of the kind it publishes: `Policy` for tables and microdata.
    """
    try:
        parts = tomllib.loads(text, parse_float=Decimal)
    except (ValueError, RecursionError, ArithmeticError) as error:
        raise InvalidInput(f"the policy must be TOML, and is not: {error}. Correct that line.") from None
    for name in parts:
        if name not in PARTS:
            raise InvalidInput(f"the policy has no section {name!r}. {did_you_mean(name, PARTS)}")
    for name in ("data", "release"):
        if name not in parts:
            raise InvalidInput(f"the policy must have a section [{name}], and it is missing. Add it.")
    refuse_placeholder("", parts)
    kind = read_keys("[release]", RELEASE, parts["release"])["kind"]
    _refuse_foreign(parts, kind)
    return import_module(f"crowdblend.policies.{MODULES[kind]}").read_policy(parts, Path(folder))


def _refuse_foreign(parts: dict[str, Any], kind: str) -> None:
    """Refuse what says nothing about this kind of release: it would be ignored."""
    foreign = [(f"the section {name!r}", kinds) for name, kinds in PARTS_OF.items() if name in parts]
    for name, keys in SECTIONS.items():
        given = parts.get(name)
        given = given if isinstance(given, Mapping) else {}
        foreign += [(f"{key.name} in [{name}]", key.kinds) for key in keys if key.kinds and key.name in given]
    for what, kinds in foreign:
        if kind not in kinds:
            *first, last = (f'"{one}"' for one in kinds)
            known = f"{', '.join(first)} or {last}" if first else last
            raise InvalidInput(f'{what} must come with kind = {known}, got "{kind}". Remove it, or change kind.')
