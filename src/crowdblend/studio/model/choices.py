"""A policy in the making: what was chosen so far, key by key, as the texts that were typed.

It has one publication. The texts become a policy through the same keys as a TOML file, so whatever is wrong with them
is refused in the same words. Keys that the kind or the design does not have are kept out of the policy.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from crowdblend.errors import InvalidInput
from crowdblend.policies.columns import Column, read_columns
from crowdblend.policies.domains import DOMAINS, AxisDomain, Domain
from crowdblend.policies.key import Key, keys_of, sections_of
from crowdblend.policies.load import read_policy
from crowdblend.policies.policy import Policy
from crowdblend.policies.publication import Publication, own_keys, own_parts
from crowdblend.policies.publication_policy import has_columns
from crowdblend.policies.registry import KINDS, policy_class
from crowdblend.policies.schema import kind_lists, kind_sections
from crowdblend.policies.starter import check_design, usual
from crowdblend.policies.terms import Terms
from crowdblend.studio.model.typed import typed_text, typed_value

Texts = dict[str, str]
WAY = "way"
PUBLISH = "publish"


@dataclass(frozen=True)
class Choices:
    """What was chosen: the kind, the design, keys by section, repeated sections, and the columns with their domains.

    `design` is blank where the kind has none.
    """

    kind: str = "table"
    design: str = ""
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

    @property
    def declared(self) -> dict[str, dict[str, Key]]:
        """The keys that can be chosen once, by section and by their names in TOML."""
        return kind_sections(self.kind, self.design)

    @property
    def declared_lists(self) -> dict[str, dict[str, Key]]:
        """The keys of the sections that may be repeated, by section and by their names in TOML."""
        return kind_lists(self.kind, self.design)


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
    """The same choices for another kind: what it does not have is dropped, and what is usual is filled in."""
    if kind not in KINDS:
        raise InvalidInput(
            f"There is no kind {kind[:60]!r}.", remedy=f"Use {', '.join(KINDS)}.", where="kind", code="policy.kind"
        )
    designs = policy_class(kind).designs
    design = choices.design if choices.design in designs else next(iter(designs), "")
    columns = _columns_of(kind, choices.columns)
    return _settled(replace(choices, kind=kind, columns=columns), design)


def with_design(choices: Choices, design: str) -> Choices:
    """Return the same choices for people who come into the data in another way."""
    return _settled(choices, check_design(choices.kind, design))


def _settled(choices: Choices, design: str) -> Choices:
    """Return the choices without what kind and design do not have, and with what is usual where nothing was typed."""
    # A rate of another design would be another number.
    sections = {**choices.sections, **({"sampling": {}} if design != choices.design else {})}
    changed = replace(choices, design=design)
    declared, listed = changed.declared, changed.declared_lists
    kept = {
        section: {name: text for name, text in texts.items() if name in declared[section]}
        for section, texts in sections.items()
        if section in declared
    }
    lists = {
        name: items
        for name, items in choices.lists.items()
        if name in listed and all(set(item) <= set(listed[name]) for item in items)
    }
    changed = replace(changed, sections=kept, lists=lists)
    proposed = usual(choices.kind, design)
    for section, keys in declared.items():
        texts = {name: proposed[key.where] for name, key in keys.items() if key.where in proposed}
        changed = changed.with_texts(section, {**texts, **changed.sections.get(section, {})})
    return changed


def start(kind: str = "table") -> Choices:
    """Nothing chosen but the kind, and what is usual for it."""
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
    declared, listed = choices.declared, choices.declared_lists
    parts = {
        section: values
        for section, texts in choices.sections.items()
        if (values := _values(declared.get(section, {}), texts))
    }
    inside = {
        section.removeprefix(f"{PUBLISH}."): [_values(listed[section], item) for item in items]
        for section, items in choices.lists.items()
        if section in listed and items
    }
    publish = {"kind": choices.kind, **parts.pop(PUBLISH, {}), **inside}
    if choices.design:
        parts["sampling"] = {"design": choices.design, **parts.get("sampling", {})}
    if has_columns(policy_class(choices.kind)):
        parts["columns"] = {name: domain_table(choices, name) for name in choices.used}
    return {**parts, PUBLISH: [publish]}


def _values(keys: Mapping[str, Key], texts: Mapping[str, str]) -> dict[str, object]:
    return {name: typed_value(keys[name].kind, text) for name, text in texts.items() if name in keys}


def paths_of(choices: Choices) -> list[str]:
    """Return the files that the choices name beside the source: hierarchies, rates of strata, people of a network."""
    keys, ways = choices.declared, ways_of(choices.kind)
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


def domain_table(choices: Choices, name: str) -> dict[str, object]:
    """Return the domain of a column as a policy writes it."""
    texts = choices.columns[name]
    return _values(ways_of(choices.kind).get(texts.get(WAY, ""), {}), texts)


def policy_of(choices: Choices, folder: Path | str = ".") -> Policy:
    """The policy that the choices make, or a refusal that says what is missing; paths are relative to `folder`."""
    return read_policy(toml_parts(choices), folder)


def column_of(choices: Choices, name: str, folder: Path | str = ".") -> Column:
    """Return one column with its recodings, or a refusal that says what its domain lacks."""
    table = {name: domain_table(choices, name)}
    axes = None if policy_class(choices.kind).has_axes else ()
    domain = read_columns(table, Path(folder), axes=axes)[name]
    if not isinstance(domain, AxisDomain) and hasattr(domain, "bounds"):
        domain.bounds()
    return Column.of(name, domain)


def choices_of(policy: Policy, columns: Iterable[str] = ()) -> Choices:
    """Return the choices that make a policy; `columns` are all of the data, of which the policy publishes some."""
    if policy.is_programme:
        raise InvalidInput(
            f"This policy has {len(policy.publish)} publications, and the studio works on one at a time.",
            remedy="Publish it with crowdblend release, or open a policy with one [[publish]].",
            where="[[publish]]",
            code="studio.programme",
        )
    (publication,), terms = policy.publish, policy.terms
    sections = {section: _texts(terms, keys) for section, keys in sections_of(Terms).items()}
    for section, holder in (("sampling", terms.sampling), ("recoding", terms.recoding), ("about", terms.about)):
        sections[section] = {} if holder is None else _texts(holder, keys_of(type(holder)))
    texts, lists = _publication_texts(publication)
    published = {
        column.name: {WAY: column.domain.way, **_texts(column.domain, keys_of(type(column.domain)))}
        for column in policy.columns
        if column.domain is not None
    }
    design = policy.sampling.design if publication.policy.designs else ""
    named = {name: published.get(name, {}) for name in columns}
    return Choices(publication.kind, design, {**sections, PUBLISH: texts}, lists, {**named, **published})


def _publication_texts(publication: Publication) -> tuple[Texts, dict[str, list[Texts]]]:
    """Return what a publication says, and the sections inside it."""
    texts = {"name": publication.name or "", "columns": typed_text("texts", publication.columns)}
    lists: dict[str, list[Texts]] = {}
    for name, key in own_keys(publication.policy).items():
        if name in publication.keys:
            texts[key.name] = typed_text(key.kind, publication.keys[name])
    for name, part in own_parts(publication.policy).items():
        value = publication.keys.get(name)
        if part.many:
            lists[part.name] = [_texts(item, keys_of(type(item))) for item in value or ()]
        elif value is not None:
            texts |= _texts(value, keys_of(type(value)))
    return {name: text for name, text in texts.items() if text}, lists


def _texts(holder: object, keys: Mapping[str, Key]) -> Texts:
    """Return the keys that do not have their default, as texts."""
    values = ((key, getattr(holder, attribute)) for attribute, key in keys.items())
    return {key.name: typed_text(key.kind, value) for key, value in values if key.is_given(value)}
