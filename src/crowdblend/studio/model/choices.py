"""A policy in the making: what was chosen so far, key by key, as the texts that were typed.

The texts become a policy through the same keys as a TOML file, so whatever is wrong with them is refused in the same
words. Keys that the kind does not have are kept out of the policy.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from crowdblend.errors import InvalidInput
from crowdblend.policies.columns import Column, read_columns
from crowdblend.policies.domains import DOMAINS, AxisDomain, Domain
from crowdblend.policies.key import Key, keys_of, parts_of, sections_of
from crowdblend.policies.load import read_policy
from crowdblend.policies.policy import Policy, has_columns
from crowdblend.policies.registry import KINDS, policy_class
from crowdblend.policies.starter import designs_of
from crowdblend.studio.model.typed import typed_text, typed_value

Texts = dict[str, str]
WAY = "way"

# What is filled in at the start, and of which kinds, where it is not of all; everything else is the steward's to say.
_START: tuple[tuple[str, str, str, tuple[str, ...]], ...] = (
    ("release", "epsilon", "1", ()),
    ("release", "delta", "1e-6", ("table", "microdata", "points", "outlier-table")),
    ("sampling", "rate", "0.1", ("table", "microdata", "points")),
    ("release", "noise_epsilon", "1", ("points",)),
    ("synopsis", "conjunctions", "2", ("synopsis",)),
)
# What a design writes into [sampling]; with everybody there is no rate, no k and no delta.
_DESIGNED = {"sample": {"already_drawn": "true"}, "draw": {}, "everybody": {"everybody": "true"}}
_NOT_OF_EVERYBODY = {"sampling": ("rate", "low", "high", "exceptions", "max_rate"), "release": ("k", "delta")}


@dataclass(frozen=True)
class Choices:
    """What was chosen: the kind, the design, keys by section, repeated sections, and the columns with their domains."""

    kind: str = "table"
    design: str = "draw"
    sections: Mapping[str, Texts] = field(default_factory=dict)
    lists: Mapping[str, list[Texts]] = field(default_factory=dict)
    columns: Mapping[str, Texts] = field(default_factory=dict)

    def text(self, section: str, key: str) -> str:
        """Return what was typed for a key; blank where nothing was."""
        return self.sections.get(section, {}).get(key, "")

    def with_texts(self, section: str, texts: Mapping[str, str]) -> Choices:
        """Return the same with other texts for some keys of a section; a blank text takes a key out."""
        changed = {name: text for name, text in {**self.sections.get(section, {}), **texts}.items() if text.strip()}
        if changed == self.sections.get(section, {}):
            return self
        return replace(self, sections={**self.sections, section: changed})

    def with_column(self, name: str, texts: Mapping[str, str]) -> Choices:
        """Return the same with another domain for a column; without a way the column is not published."""
        kept = {key: text for key, text in texts.items() if text.strip()}
        return replace(self, columns={**self.columns, name: kept if kept.get(WAY) else {}})

    def with_list(self, section: str, items: list[Texts]) -> Choices:
        """Return the same with other repeated sections; an item in which nothing was typed is dropped."""
        kept = [{key: text for key, text in item.items() if text.strip()} for item in items]
        return replace(self, lists={**self.lists, section: [item for item in kept if item]})

    @property
    def used(self) -> tuple[str, ...]:
        """The columns that have a domain, in the order of the data."""
        return tuple(name for name, texts in self.columns.items() if texts.get(WAY))


def declared_keys(kind: str) -> dict[str, dict[str, Key]]:
    """Return the keys of every section that a kind has once, by their names in TOML."""
    policy = policy_class(kind)
    found: dict[str, dict[str, Key]] = {
        name: {key.name: key for key in keys.values()} for name, keys in sections_of(policy).items()
    }
    for part in parts_of(policy).values():
        if not part.many:
            found[part.name] = {key.name: key for key in keys_of(part.holder).values()}
    return found


def declared_lists(kind: str) -> dict[str, dict[str, Key]]:
    """Return the keys of every section that a kind may have several of, by their names in TOML."""
    parts = parts_of(policy_class(kind)).values()
    return {part.name: {key.name: key for key in keys_of(part.holder).values()} for part in parts if part.many}


def ways_of(kind: str) -> dict[str, dict[str, Key]]:
    """The ways to declare the domain of a column, each with its keys; axes for points, numbers for statistics."""
    if not has_columns(policy_class(kind)):
        return {}
    ways: dict[str, type[Domain]] = dict(DOMAINS)
    policy = policy_class(kind)
    if policy.has_axes:
        ways["resolution"] = AxisDomain
    elif not policy.has_numbers:
        del ways["resolution"]
    return {way: {key.name: key for key in keys_of(domain).values()} for way, domain in ways.items()}


def with_kind(choices: Choices, kind: str) -> Choices:
    """The same choices for another kind: what it does not have is dropped, and what it starts with is filled in."""
    if kind not in KINDS:
        raise InvalidInput(
            f"There is no kind {kind[:60]!r}.", remedy=f"Use {', '.join(KINDS)}.", where="kind", code="policy.kind"
        )
    declared, listed = declared_keys(kind), declared_lists(kind)
    sections = {
        section: {name: text for name, text in texts.items() if name in declared[section]}
        for section, texts in choices.sections.items()
        if section in declared
    }
    lists = {
        name: items
        for name, items in choices.lists.items()
        if name in listed and all(set(item) <= set(listed[name]) for item in items)
    }
    columns = _columns_of(kind, choices.columns)
    changed = replace(choices, kind=kind, sections=sections, lists=lists, columns=columns)
    designs = designs_of(kind)
    return with_design(changed, choices.design if choices.design in designs else designs[0])


def with_design(choices: Choices, design: str) -> Choices:
    """Return the same choices for data that are a sample, that a sample is drawn from, or that are of everybody."""
    if design not in designs_of(choices.kind):
        raise InvalidInput(
            f"kind = {choices.kind!r} has no design {design[:60]!r}.",
            remedy=f"Use {' or '.join(designs_of(choices.kind))}.",
            where="design",
            code="init.design",
        )
    declared = declared_keys(choices.kind)
    flags: Texts = {name: "" for name in ("already_drawn", "everybody") if name in declared.get("sampling", {})}
    changed = replace(choices, design=design).with_texts("sampling", {**flags, **_DESIGNED[design]})
    if design == "sample" and choices.design != "sample":
        changed = changed.with_texts("sampling", {"rate": ""})
    for section, name, text, kinds in _START:
        if kinds and choices.kind not in kinds:
            continue
        # The rate of a sample that was taken is for the steward to say.
        if not changed.text(section, name) and not (design == "sample" and name == "rate"):
            changed = changed.with_texts(section, {name: text})
    if design == "everybody":
        for section, names in _NOT_OF_EVERYBODY.items():
            changed = changed.with_texts(section, dict.fromkeys(names, ""))
    return changed


def start(kind: str = "table") -> Choices:
    """Nothing chosen but the kind, and what it starts with."""
    return with_kind(Choices(), kind)


def _columns_of(kind: str, columns: Mapping[str, Texts]) -> dict[str, Texts]:
    ways = ways_of(kind)
    return {
        name: {key: text for key, text in texts.items() if key == WAY or key in ways[texts[WAY]]}
        if texts.get(WAY) in ways
        else {}
        for name, texts in columns.items()
    }


def toml_parts(choices: Choices) -> dict[str, object]:
    """Return the choices as the sections of a policy, with their values."""
    declared, listed = declared_keys(choices.kind), declared_lists(choices.kind)
    parts: dict[str, Any] = {}
    for section, texts in choices.sections.items():
        keys = declared.get(section, {})
        values = {name: typed_value(keys[name].kind, text) for name, text in texts.items() if name in keys}
        if values:
            _put(parts, section, values)
    for section, items in choices.lists.items():
        keys = listed.get(section, {})
        tables = [{name: typed_value(keys[name].kind, text) for name, text in item.items()} for item in items]
        if tables:
            _put(parts, section, tables)
    parts.setdefault("release", {})["kind"] = choices.kind
    if has_columns(policy_class(choices.kind)):
        parts["columns"] = {name: domain_table(choices, name) for name in choices.used}
    return parts


def paths_of(choices: Choices) -> list[str]:
    """Return the files that the choices name beside the source: hierarchies, rates of strata, people of a network."""
    keys, ways = declared_keys(choices.kind), ways_of(choices.kind)
    typed = [
        (keys.get(section, {}).get(name), text)
        for section, texts in choices.sections.items()
        for name, text in texts.items()
        if (section, name) != ("data", "source")
    ]
    for texts in choices.columns.values():
        typed += [(ways.get(texts.get(WAY, ""), {}).get(name), text) for name, text in texts.items()]
    values = [typed_value(key.kind, text) for key, text in typed if key is not None and key.kind in ("path", "rates")]
    return [value for value in values if isinstance(value, str)]


def settled(choices: Choices) -> Choices:
    """Return the choices without what others of them rule out: strata have rates of their own."""
    return choices.with_texts("sampling", {"rate": ""}) if choices.text("sampling", "stratum") else choices


def domain_table(choices: Choices, name: str) -> dict[str, object]:
    """Return the domain of a column as a policy writes it."""
    texts = choices.columns[name]
    keys = ways_of(choices.kind).get(texts.get(WAY, ""), {})
    return {key: typed_value(keys[key].kind, text) for key, text in texts.items() if key in keys}


def _put(parts: dict[str, Any], section: str, value: Any) -> None:
    """A section in its place; `graph.statistics` lies in `graph`."""
    outer, _, inner = section.partition(".")
    if inner:
        parts.setdefault(outer, {})[inner] = value
    elif isinstance(value, dict):
        parts.setdefault(outer, {}).update(value)
    else:
        parts[outer] = value


def policy_of(choices: Choices, folder: Path | str = ".") -> Policy:
    """The policy that the choices make, or a refusal that says what is missing; paths are relative to `folder`."""
    made: Policy = read_policy(toml_parts(choices), folder)
    return made


def column_of(choices: Choices, name: str, folder: Path | str = ".") -> Column:
    """Return one column with its recodings, or a refusal that says what its domain lacks."""
    table = {name: domain_table(choices, name)}
    domain = read_columns(table, Path(folder), axes=policy_class(choices.kind).has_axes)[name]
    if not isinstance(domain, AxisDomain) and hasattr(domain, "bounds"):
        domain.bounds()
    return Column.of(name, domain)


def choices_of(policy: Policy, columns: tuple[str, ...] = ()) -> Choices:
    """Return the choices that make a policy; `columns` are all of the data, of which the policy publishes some."""
    kind = policy.kind
    sections: dict[str, Texts] = {}
    lists: dict[str, list[Texts]] = {}
    for section, keys in sections_of(type(policy)).items():
        sections[section] = _texts(policy, keys)
    for attribute, part in parts_of(type(policy)).items():
        value = getattr(policy, attribute)
        if part.many:
            lists[part.name] = [_texts(item, keys_of(type(item))) for item in value]
        elif value is not None:
            sections[part.name] = _texts(value, keys_of(type(value)))
    published = {
        column.name: {WAY: column.domain.way, **_texts(column.domain, keys_of(type(column.domain)))}
        for column in getattr(policy, "columns", ())
        if column.domain is not None
    }
    sampling = sections.get("sampling", {})
    design = "everybody" if sampling.get("everybody") else "sample" if sampling.get("already_drawn") else "draw"
    named = {name: published.get(name, {}) for name in columns}
    return Choices(kind, design, sections, lists, {**named, **published})


def _texts(holder: object, keys: Mapping[str, Key]) -> Texts:
    """Return the keys that do not have their default, as texts."""
    values = ((key, getattr(holder, attribute)) for attribute, key in keys.items())
    return {key.name: typed_text(key.kind, value) for key, value in values if key.is_given(value)}
