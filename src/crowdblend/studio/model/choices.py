"""A policy in the making: what was chosen so far, key by key, as the texts that were typed.

The texts become a policy through the same keys as a TOML file, so whatever is wrong with them is refused in the same
words. Keys that the kinds or the design do not have are kept out of the policy.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from crowdblend.errors import InvalidInput
from crowdblend.policies.columns import Column, read_columns
from crowdblend.policies.domains import DOMAINS, AxisDomain, Domain
from crowdblend.policies.key import Key, keys_of, parts_of, sections_of
from crowdblend.policies.load import read_policy, read_terms
from crowdblend.policies.policy import PROGRAMME, Policy
from crowdblend.policies.publication import Publication
from crowdblend.policies.registry import KINDS, publication_class
from crowdblend.policies.schema import kind_lists, kind_sections
from crowdblend.policies.source import PolicyFolder
from crowdblend.policies.starter import check_design, usual
from crowdblend.policies.terms import Terms
from crowdblend.studio.model.typed_values import typed_lines, typed_text, typed_value

Texts = dict[str, str]
WAY = "way"
PUBLISH = "publish"


@dataclass(frozen=True)
class PublicationChoices:
    """The choices for one publication: its kind, its keys, and its sections, such as statistics."""

    kind: str = "table"
    texts: Texts = field(default_factory=dict)
    lists: Mapping[str, list[Texts]] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """The name; blank where there is none."""
        return self.texts.get("name", "")

    @property
    def columns(self) -> list[str]:
        """The columns that it names; all are meant where it names none."""
        return typed_lines(self.texts.get("columns", ""))

    def saying(self, texts: Mapping[str, str], lists: Mapping[str, list[Texts]] | None = None) -> PublicationChoices:
        """Return the same with other texts; a blank text takes a key out, and so does an item without any."""
        items = {name: [_given_texts(item) for item in each] for name, each in (lists or {}).items()}
        kept = {name: [item for item in each if item] for name, each in items.items()}
        return replace(self, texts=_given_texts({**self.texts, **texts}), lists={**self.lists, **kept})


@dataclass(frozen=True)
class Choices:
    """The choices: publications, design, keys by section, and columns with their domains.

    `design` is blank where the kind has none, and `split` where it is planned how publications share the budget.
    """

    publish: tuple[PublicationChoices, ...] = (PublicationChoices(),)
    design: str = ""
    split: str = ""
    sections: Mapping[str, Texts] = field(default_factory=dict)
    columns: Mapping[str, Texts] = field(default_factory=dict)

    def text(self, section: str, key: str) -> str:
        """Return what was typed for a key; blank where nothing was."""
        return self.sections.get(section, {}).get(key, "")

    def value(self, section: str, key: str) -> str:
        """Return the text that is meant for a key that takes any text, or a path; blank where nothing was typed."""
        return str(typed_value("text", self.text(section, key)))

    def with_texts(self, section: str, texts: Mapping[str, str]) -> Choices:
        """Return the same with other texts for some keys of a section; a blank text takes a key out."""
        changed = _given_texts({**self.sections.get(section, {}), **texts})
        if changed == self.sections.get(section, {}):
            return self
        return replace(self, sections={**self.sections, section: changed})

    def with_column(self, name: str, texts: Mapping[str, str]) -> Choices:
        """Return the same with another domain for a column; without a way the column is not published."""
        kept = _given_texts(texts)
        return replace(self, columns={**self.columns, name: kept if kept.get(WAY) else {}})

    def with_publication(
        self, place: int, texts: Mapping[str, str], lists: Mapping[str, list[Texts]] | None = None
    ) -> Choices:
        """Return the same with other texts for one publication; keys that it does not have are left out."""
        one, listed = self.publish[place], self.declared_lists(place)
        texts = {key: text for key, text in texts.items() if key in self.declared_keys(place)}
        inside = {
            section: [{key: text for key, text in item.items() if key in listed[section]} for item in items]
            for section, items in (lists or {}).items()
            if section in listed
        }
        return replace(self, publish=_place_publication(self.publish, place, one.saying(texts, inside)))

    @property
    def several(self) -> bool:
        """True if there are several publications under one budget."""
        return len(self.publish) > 1

    @property
    def kind(self) -> str:
        """The kind of the one publication, or "programme" for several."""
        return PROGRAMME if self.several else self.publish[0].kind

    @property
    def designs(self) -> tuple[str, ...]:
        """The designs that all publications are certified for, the usual one first."""
        first, *others = (publication_class(one.kind).designs for one in self.publish)
        return tuple(name for name in first if all(name in one for one in others))

    @property
    def used_columns(self) -> tuple[str, ...]:
        """The columns that have a domain, in the order of the policy."""
        return tuple(name for name, texts in self.columns.items() if texts.get(WAY))

    @property
    def has_columns(self) -> bool:
        """True if some publication takes columns with a declared domain."""
        return any("columns" not in publication_class(one.kind).lacks for one in self.publish)

    @property
    def declared_by_section(self) -> dict[str, dict[str, Key]]:
        """The keys that can be chosen once, by section and by their names in TOML."""
        merged: dict[str, dict[str, Key]] = {}
        for one in self.publish:
            for section, keys in kind_sections(one.kind, self.design, texts=one.texts).items():
                if section != PUBLISH:
                    merged[section] = {**merged.get(section, {}), **keys}
        if self.several:
            # The budget is that of the programme, whatever its publications could say of one.
            merged["privacy"] = {key.name: key for key in sections_of(Terms)["privacy"].values()}
        return merged

    def declared_keys(self, place: int) -> dict[str, Key]:
        """Return the keys that can be chosen for a publication, by their names in TOML."""
        one = self.publish[place]
        return kind_sections(one.kind, self.design, several=self.several, texts=one.texts)[PUBLISH]

    def declared_lists(self, place: int) -> dict[str, dict[str, Key]]:
        """Return the keys of the sections inside a publication, by section and by their names in TOML."""
        inside = kind_lists(self.publish[place].kind, self.design)
        return {section.removeprefix(f"{PUBLISH}."): keys for section, keys in inside.items()}

    def ways(self, name: str) -> dict[str, dict[str, Key]]:
        """Return the ways to declare the domain of a column, with their keys: axes for points, numbers to average."""
        ways: dict[str, type[Domain]] = dict(DOMAINS) if self.has_columns else {}
        if self.is_axis(name):
            ways["resolution"] = AxisDomain
        elif not any(publication_class(one.kind).has_numbers for one in self.publish):
            ways.pop("resolution", None)
        return {way: {key.name: key for key in keys_of(domain).values()} for way, domain in ways.items()}

    def is_axis(self, name: str) -> bool:
        """Return whether some publication may take a column as an axis of its map."""
        maps = (one for one in self.publish if publication_class(one.kind).has_axes)
        return any(not one.columns or name in one.columns for one in maps)


def with_kind(choices: Choices, kind: str, place: int = 0) -> Choices:
    """Return the same with another kind of publication: what it does not have is dropped, what is usual filled in."""
    if kind not in KINDS:
        raise InvalidInput(
            f"There is no kind {kind[:60]!r}.", remedy=f"Use {', '.join(KINDS)}.", where="kind", code="policy.kind"
        )
    return _settle(
        replace(choices, publish=_place_publication(choices.publish, place, replace(choices.publish[place], kind=kind)))
    )


def with_design(choices: Choices, design: str) -> Choices:
    """Return the same choices for people who come into the data in another way."""
    for one in choices.publish:
        check_design(one.kind, design)
    return _settle(choices, design)


def with_another(choices: Choices, kind: str) -> Choices:
    """Return the same with one more publication; each has a name from now on."""
    every = [*choices.publish, PublicationChoices(kind)]
    for place, one in enumerate(every):
        taken = {other.name.lower() for other in every}
        names = (f"{one.kind}-{number}" if number > 1 else one.kind for number in range(1, len(every) + 2))
        if not one.name:
            every[place] = one.saying({"name": next(name for name in names if name not in taken)})
    return with_kind(replace(choices, publish=tuple(every)), kind, len(every) - 1)


def without(choices: Choices, place: int) -> Choices:
    """Return the same with one publication less; one alone has no share."""
    left = tuple(one for at, one in enumerate(choices.publish) if at != place)
    return _settle(replace(choices, publish=left or choices.publish))


def _settle(choices: Choices, design: str | None = None) -> Choices:
    """Return the choices without what kinds and design do not have, and with what is usual where nothing was typed."""
    offered, before = choices.designs, choices.design
    design = design or (before if before in offered else next(iter(offered), ""))
    # A rate of another design would be another number.
    sections = {**choices.sections, **({"sampling": {}} if design != before else {})}
    changed = replace(choices, design=design, split=choices.split if choices.several else "")
    declared = changed.declared_by_section
    kept = {
        section: {name: text for name, text in texts.items() if name in declared[section]}
        for section, texts in sections.items()
        if section in declared
    }
    changed = replace(changed, sections=kept)
    columns = {name: _domain_texts(changed, name, texts) for name, texts in choices.columns.items()}
    for one in changed.publish:
        for section, keys in kind_sections(one.kind, design, texts=one.texts).items():
            if section in declared:
                texts = _usual(one.kind, design, keys)
                changed = changed.with_texts(section, {**texts, **changed.sections.get(section, {})})
    publish = []
    for place, one in enumerate(changed.publish):
        keys, listed = changed.declared_keys(place), changed.declared_lists(place)
        texts = {name: text for name, text in one.texts.items() if name in keys}
        lists = {
            name: items
            for name, items in one.lists.items()
            if name in listed and all(set(item) <= set(listed[name]) for item in items)
        }
        publish.append(PublicationChoices(one.kind, {**_usual(one.kind, design, keys), **texts}, lists))
    return replace(changed, publish=tuple(publish), columns=columns)


def _usual(kind: str, design: str, keys: Mapping[str, Key]) -> Texts:
    proposed = usual(kind, design)
    return {name: proposed[key.path] for name, key in keys.items() if key.path in proposed}


def _domain_texts(choices: Choices, name: str, texts: Texts) -> Texts:
    ways = choices.ways(name)
    if texts.get(WAY) not in ways:
        return {}
    return {key: text for key, text in texts.items() if key == WAY or key in ways[texts[WAY]]}


def start(kind: str = "table") -> Choices:
    """Return choices with the kind alone, and its usual defaults."""
    return with_kind(Choices(), kind)


def toml_parts(choices: Choices) -> dict[str, object]:
    """Return the choices as the sections of a policy, with their values."""
    declared = choices.declared_by_section
    parts = {
        section: values
        for section, texts in choices.sections.items()
        if (values := _values(declared.get(section, {}), texts))
    }
    if choices.design:
        parts["sampling"] = {"design": choices.design, **parts.get("sampling", {})}
    if choices.split:
        parts["privacy"] = {**parts.get("privacy", {}), "split": choices.split}
    if choices.has_columns:
        parts["columns"] = {name: domain_table(choices, name) for name in choices.used_columns}
    publish = []
    for place, one in enumerate(choices.publish):
        listed = choices.declared_lists(place)
        inside = {
            section: [_values(listed[section], item) for item in items]
            for section, items in one.lists.items()
            if section in listed and items
        }
        publish.append({"kind": one.kind, **_values(choices.declared_keys(place), one.texts), **inside})
    return {**parts, PUBLISH: publish}


def _values(keys: Mapping[str, Key], texts: Mapping[str, str]) -> dict[str, object]:
    return {name: typed_value(keys[name].kind, text) for name, text in texts.items() if name in keys}


def _given_texts(texts: Mapping[str, str]) -> Texts:
    return {name: text for name, text in texts.items() if text.strip()}


def _place_publication(
    publish: tuple[PublicationChoices, ...], place: int, one: PublicationChoices
) -> tuple[PublicationChoices, ...]:
    return (*publish[:place], one, *publish[place + 1 :])


def paths_of(choices: Choices) -> list[str]:
    """Return the files that the choices name beside the source: hierarchies, rates of strata, people of a network."""
    said = [(choices.declared_by_section.get(section, {}), texts) for section, texts in choices.sections.items()]
    said += [(choices.declared_keys(place), one.texts) for place, one in enumerate(choices.publish)]
    said += [(choices.ways(name).get(texts.get(WAY, ""), {}), texts) for name, texts in choices.columns.items()]
    values = [
        typed_value(keys[name].kind, text)
        for keys, texts in said
        for name, text in texts.items()
        if name in keys and keys[name].kind in ("path", "paths", "rates") and keys[name].path != "data.source"
    ]
    every = [one for value in values for one in (value if isinstance(value, list) else [value])]
    return [value for value in every if isinstance(value, str)]


def domain_table(choices: Choices, name: str) -> dict[str, object]:
    """Return the domain of a column as a policy writes it."""
    texts = choices.columns[name]
    return _values(choices.ways(name).get(texts.get(WAY, ""), {}), texts)


def policy_of(choices: Choices, folder: Path | str = ".") -> Policy:
    """The policy that the choices make, or a refusal that says what is missing; paths are relative to `folder`."""
    return read_policy(toml_parts(choices), folder)


def terms_of(choices: Choices, folder: Path | str = ".") -> Terms:
    """Return the source, the people and the columns, whether or not what is published is complete."""
    return read_terms(toml_parts(choices), folder)


def column_of(choices: Choices, name: str, folder: Path | str = ".") -> Column:
    """Return one column with its recodings, or a refusal that says what its domain lacks."""
    table = {name: domain_table(choices, name)}
    domain = read_columns(table, PolicyFolder(Path(folder)), axes=(name,) if choices.is_axis(name) else ())[name]
    if not isinstance(domain, AxisDomain) and hasattr(domain, "bounds"):
        domain.bounds()
    return Column.of(name, domain)


def choices_of(policy: Policy, columns: Iterable[str] = ()) -> Choices:
    """Return the choices that make a policy; `columns` are all of the data, of which the policy publishes some."""
    sections = {section: _texts(policy, keys) for section, keys in sections_of(Terms).items()}
    sampling = policy.sampling if policy.gives("sampling") else None
    for section, holder in (("sampling", sampling), ("recoding", policy.recoding), ("about", policy.about)):
        sections[section] = {} if holder is None else _texts(holder, keys_of(type(holder)))
    published = {
        column.name: {WAY: column.domain.way, **_texts(column.domain, keys_of(type(column.domain)))}
        for column in policy.columns
        if column.domain is not None
    }
    design = "" if sampling is None else sampling.design
    publish = tuple(map(_publication_choices, policy.publish))
    unpublished: dict[str, Texts] = {name: {} for name in columns if name not in published}
    return Choices(publish, design, policy.split or "", sections, {**published, **unpublished})


def _publication_choices(publication: Publication) -> PublicationChoices:
    """Return what a publication says, and the sections inside it."""
    texts = _texts(publication, keys_of(type(publication)))
    lists: dict[str, list[Texts]] = {}
    for name, part in parts_of(type(publication)).items():
        value = getattr(publication, name)
        if part.inline:
            texts |= _texts(value, keys_of(type(value)))
        else:
            lists[part.name.removeprefix(f"{PUBLISH}.")] = [_texts(item, keys_of(type(item))) for item in value]
    return PublicationChoices(publication.kind, _given_texts(texts), lists)


def _texts(holder: object, keys: Mapping[str, Key]) -> Texts:
    """Return the keys that do not have their default, as texts."""
    values = ((key, getattr(holder, attribute)) for attribute, key in keys.items())
    return {key.name: typed_text(key.kind, value) for key, value in values if key.is_given(value)}
