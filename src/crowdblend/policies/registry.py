"""The seven kinds of release and the class of each one's policy, loaded when it is asked for."""

from __future__ import annotations

from importlib import import_module

from crowdblend.policies.policy import Policy, parts_of, sections_of

CLASSES = {
    "table": "Table",
    "microdata": "Microdata",
    "points": "Points",
    "outlier-table": "OutlierTable",
    "statistics": "Statistics",
    "synopsis": "Synopsis",
    "graph": "Graph",
}
KINDS = tuple(CLASSES)


def policy_class(kind: str) -> type[Policy]:
    """The class of policies of a kind; its module is called as the kind is."""
    module = import_module(f"crowdblend.policies.{kind.replace('-', '_')}")
    found: type[Policy] = getattr(module, CLASSES[kind])
    return found


def sections(kind: str) -> dict[str, tuple[str, ...]]:
    """The sections of a kind's policy, each with the names of its keys; [columns] has columns instead."""
    policy = policy_class(kind)
    found = {name: [key.name for key in keys.values()] for name, keys in sections_of(policy).items()}
    found.setdefault("release", []).insert(0, "kind")
    for declared in parts_of(policy).values():
        from crowdblend.policies.key import keys_of  # noqa: PLC0415

        found[declared.name] = [key.name for key in keys_of(declared.holder).values()]
    if has_columns(policy):
        found["columns"] = []
    return {name: tuple(names) for name, names in found.items()}


def has_columns(policy: type[Policy]) -> bool:
    """Whether a policy declares columns of people."""
    return "columns" in policy.__dataclass_fields__


def kinds_with(section: str, key: str | None = None) -> list[str]:
    """The kinds whose policies have a section, or a key of it."""
    return [
        kind
        for kind in KINDS
        if section in (found := sections(kind)) and (key is None or section == "columns" or key in found[section])
    ]
