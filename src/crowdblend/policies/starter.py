"""A first policy for a data file, made from the names and types of its columns and from nothing else.

Categories and ranges in the data are themselves facts about people: a policy that copied them would publish them. So
every domain is left as a placeholder, and the policy is refused until the steward has filled it in. Which keys are
needed, and what they mean, comes from the declarations of the kind and of the design.
"""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import islice, pairwise
from pathlib import Path

from crowdblend.errors import InvalidInput
from crowdblend.notation import TOML, spell
from crowdblend.policies.code_book import Entry, read_code_book
from crowdblend.policies.header import ColumnKind, Header, read_header
from crowdblend.policies.key import Key
from crowdblend.policies.load import PLACEHOLDER
from crowdblend.policies.proposals import (
    AMOUNTS,
    AXIS,
    FILL,
    WEIGHTS,
    area_of,
    coordinates,
    preset_of,
    proposed_domain,
    proposed_measure,
    proposed_pair,
    proposed_person,
)
from crowdblend.policies.proposed import check_proposed_design
from crowdblend.policies.refusals import did_you_mean
from crowdblend.policies.registry import KINDS, publication_class
from crowdblend.policies.sampling import DESIGNS
from crowdblend.policies.schema import kind_lists, kind_sections
from crowdblend.policies.write import toml_name, toml_text, toml_value
from crowdblend.trusted.guarantees.parameters import check_type

Columns = Sequence[tuple[str, ColumnKind]]
# A publication as it is written: its kind, its keys, and the keys of the section inside it, if it needs one.
Proposal = tuple[str, Mapping[str, str], Mapping[str, str]]

_HEAD = f"""\
# A crowdblend policy. Lines with {PLACEHOLDER} must be completed before anything is published.
#
# Only the names and types of the columns were looked at. Write every category and range from what you know beforehand
# (the questionnaire, the code book, the law), not from the rows: a domain read off the data tells who is in them.
# Kinds and designs are on docs/release.md, and all other keys on docs/policy.md, both at
# https://github.com/crowdblend/crowdblend. crowdblend check shows you alone which rows do not fit.
"""
# What is usual, of any kind and design that has the key, and of some of them.
_USUAL = {"privacy.epsilon": "1.0", "privacy.delta": "1e-6"}
_USUAL_OF = {
    "poisson": {"sampling.rate": "0.5"},
    "points": {"publish.noise_epsilon": "1.0"},
    "synopsis": {"publish.conjunctions": "2"},
    "synthetic": {"publish.rows": "100000"},
    **{
        f"{kind} of a {design}": {"sampling.thin": "0.8"}
        for kind in ("table", "microdata", "points")
        for design in ("survey", "weights")
    },
}
# What only the steward knows and the kind or the design cannot do without.
_ASKED = {
    "survey": ("sampling.people", "sampling.of"),
    "biased": ("sampling.rate",),
    "graph": ("publish.statistics.samples",),
}
_NO_PERSON = f"{FILL}   # the column that tells people apart, which is deleted below; or rows_are_people = true"
_CHECK_PERSON = "# Proposed by its name. Make sure that it tells people apart, the same way in every table:\n"
_ROW_NUMBERS = '"table"   # person numbers the rows; leave this out if other tables call the same people so'
# Of samples by coins rows and medians are proposed too.
_WITH_MEDIANS = ("poisson", "coins")
# This many tables of a register are proposed.
_MOST_TABLES = 3
_COLUMNS = (
    "[columns]   # delete every column that need not be published, here and in [[publish]]\n"
    "# Nothing in a person's row may be computed from other people's rows (a rank, a household's mean or size).\n"
)
_SEVERAL = "# Each publication has its part of the guarantee. Add others, or delete what you do not need.\n"


def usual(kind: str, design: str) -> dict[str, str]:
    """Return what is usual for a kind and a design, as TOML writes it, by the place of the key.

    >>> usual("table", "poisson")
    {'privacy.epsilon': '1.0', 'privacy.delta': '1e-6', 'sampling.rate': '0.5'}
    """
    both = _USUAL_OF.get(f"{kind} of a {design}", {})
    return {**_USUAL, **_USUAL_OF.get(kind, {}), **_USUAL_OF.get(design, {}), **both}


def init_policy(
    data_path: Path | str,
    *,
    design: str | None = None,
    person: str | None = None,
    delimiter: str | None = None,
    encoding: str | None = None,
    folder: Path | str | None = None,
    kind: str | None = None,
    preset: str | None = None,
    codebook: Path | str | None = None,
    book: Mapping[str, Entry] | None = None,
    header: Header | None = None,
    more: Mapping[str, str] | None = None,
) -> str:
    """Return a policy to fill in for a CSV or Parquet file, or a folder or pattern of such files.

    `design` says how people come into the data, as [sampling] does: a register, or a sample. Without `kind` the policy
    publishes what goes with the columns: tables, and of a sample microdata and medians too. `person` names the column
    that tells people apart; without it one is proposed by its name. `folder` is where the policy will lie, and the
    source is then written relative to it. `codebook` is a file that says which values columns can have: a code book, a
    list of the values of one column, or an earlier policy. `preset` is one of `PRESETS`.

    `book` has the entries of a code book that was read already: those of a proposal, whose folder `codebook` then is.
    `header` has the columns of a source that is no file, and `more` what [data] says of it.
    """
    check_type("init_policy", data_path, (str, os.PathLike), "a path")
    given = preset_of(preset)
    kind, design = kind or given.kind, design or given.design
    if kind is not None and kind not in KINDS:
        raise InvalidInput(
            f"kind is {kind!r}.", remedy=did_you_mean(str(kind), KINDS), where="`--kind`", code="init.kind"
        )
    found = read_header(Path(data_path), delimiter, encoding) if header is None else header
    who = _person(found.columns, person)
    design = check_design(kind or "table", design)
    if book is not None:
        check_proposed_design(design)
    weight = next((name for name, _ in found.columns if WEIGHTS.fullmatch(name.strip())), None)
    left_out = {name for name, type_ in found.columns if type_ == "row number"}
    left_out |= {weight} if weight is not None and design != "weights" else set()
    places = coordinates(found.columns) if kind is None else set()
    left_out |= places
    columns = [(name, type_) for name, type_ in found.columns if name != who and name not in left_out]
    if book is not None and kind is None:  # several publications do not go with proposed domains
        kind = "table"
    if kind is None and design in _WITH_MEDIANS:
        columns = [
            (name, "number" if type_ == "whole" and AMOUNTS.fullmatch(name.strip()) else type_)
            for name, type_ in columns
        ]
    offered: list[Proposal] = [(kind, {}, {})] if kind is not None else list(_programme(columns, design))
    chosen = given.choose_columns([name for name, _ in columns]) if given.columns else []
    if chosen:
        offered = [(offered[0][0], {"columns": toml_value(chosen)}, {})]
    policies = [publication_class(one) for one, *_ in offered]
    pair = proposed_pair(found.columns if policies[0].rows_are_links else columns, links=policies[0].rows_are_links)
    held = area_of([name for name, _ in columns]) if design == "strata" else weight if design == "weights" else None
    known = {
        "data.source": toml_text(_locate(data_path, folder) if header is None else str(data_path)),
        "data.format": found.format and toml_text(found.format),
        "data.delimiter": found.delimiter and toml_text(found.delimiter),
        "data.encoding": encoding and toml_text(encoding),
        "data.person": _NO_PERSON if who is None else toml_text(who),
        "data.ids": _ROW_NUMBERS if (who, "row number") in found.columns else None,
        "data.population": toml_text(population_name(data_path, more)),
        **{f"data.{name}": toml_text(value) for name, value in (more or {}).items()},
        "privacy.proposed": toml_value([_locate(codebook, folder)]) if book is not None and codebook else None,
        "sampling.column": held and toml_text(held),
        "publish.source": toml_text(pair[0]) if pair else FILL,
        "publish.target": toml_text(pair[1]) if pair else FILL,
        "publish.statistics.name": None if policies[0].rows_are_links else '"count"',
        "publish.statistics.count": f"{{ {toml_name(columns[0][0]) if columns else PLACEHOLDER} = {FILL} }}",
    }
    asked = {where: FILL for name in (*(one for one, *_ in offered), design) for where in _ASKED.get(name, ())}
    usually = {**usual(offered[0][0], design), **given.said}
    said = {where: text for where, text in {**usually, **asked, **known}.items() if text}
    blocks = _sections([one for one, *_ in offered], design, said)
    if person is None and who is not None:
        blocks["data"] = blocks["data"].replace("\nperson = ", f"\n{_CHECK_PERSON}person = ")
    if "columns" not in policies[0].lacks:
        if book is None:
            book = {} if codebook is None else read_code_book(Path(codebook), Path(data_path))
        axes = (pair or ()) if policies[0].has_axes else ()
        domains = {name: proposed_domain(name, type_, book.get(name)) for name, type_ in columns}
        domains |= {
            name: proposed_measure(book.get(name))
            for name, type_ in columns
            if type_ == "number" and any(inside for *_, inside in offered)
        }
        domains |= dict.fromkeys(axes, AXIS)
        used = set(axes) or _used_columns(offered, columns)
        lines = [f"{'' if name in used else '# '}{toml_name(name)} = {domain}\n" for name, domain in domains.items()]
        lines += [
            f"# {toml_name(name)} is left out: {_why(name, weight, places)}\n" for name in sorted(left_out - {who})
        ]
        blocks["columns"] = _COLUMNS + "".join(lines)
    order = dict.fromkeys(["data", "sampling", "privacy", "columns", *blocks])
    publish = [_publication(one, design, said) for one in offered]
    publish[0] = (_SEVERAL if len(publish) > 1 else "") + publish[0]
    return _HEAD + "\n" + "\n".join([*(blocks[name] for name in order if name in blocks), *publish])


def check_design(kind: str, design: str | None) -> str:
    """Return a design that publications of a kind are certified for; refuses another, and none where there are some."""
    offered = publication_class(kind).designs
    if design is None and len(offered) < 2:
        return next(iter(offered), "")
    if design not in offered:
        unsaid = "How people come into the data is not said: a register, or a sample?"
        raise InvalidInput(
            unsaid if design is None else f'`publish.kind = "{kind}"` has no design {str(design)[:60]!r}.',
            remedy=f"Use --design {' or '.join(offered)}." if offered else "Leave the design out.",
            where="`--design`",
            code="init.design",
        )
    return design


def _person(columns: Columns, person: str | None) -> str | None:
    """Return the column that tells people apart: the given one, one that is called so, or one that numbers the rows."""
    names = [name for name, _ in columns]
    if person is not None and person not in names:
        message = f"The data have no column {person!r}."
        raise InvalidInput(message, remedy="Use a name from the first line.", where="`--person`", code="init.person")
    return person or proposed_person(columns) or next((name for name, type_ in columns if type_ == "row number"), None)


def _programme(columns: Columns, design: str) -> Iterator[Proposal]:
    """Yield what goes with the columns: tables, and of a sample rows for researchers and medians too."""
    classes = [name for name, type_ in columns if type_ != "number"]
    measures = [name for name, type_ in columns if type_ == "number"]
    if design == "everybody" and len(classes) > 2:
        for one, other in islice(pairwise(classes), _MOST_TABLES):
            yield "table", {"name": _publication_name(one, other), "columns": toml_value([one, other])}, {}
    elif design in _WITH_MEDIANS and len(classes) > 1 and (len(classes) > 2 or measures):
        yield "table", {"name": _publication_name(*classes[:2]), "columns": toml_value(classes[:2])}, {}
        if len(classes) > 2:
            yield "microdata", {"name": '"rows"', "columns": toml_value(classes)}, {}
        for name in measures:
            inside = {"name": toml_text(name), "median": toml_text(name), "by": toml_value(classes[:1])}
            yield "statistics", {"name": _publication_name("median", name)}, inside
    else:
        yield "table", {}, {}


def _publication_name(*words: str) -> str:
    """Return a name for a publication, and for its file."""
    return toml_text(re.sub(r"[^A-Za-z0-9]+", "-", "-".join(words)).strip("-")[:100].lower() or "table")


def _used_columns(proposals: Sequence[Proposal], columns: Columns) -> set[str]:
    """Return the columns that some publication takes: those that nothing uses are refused."""
    kind, _, inside = proposals[-1]
    if publication_class(kind).has_numbers and not inside:
        return {name for name, _ in columns[:1]}  # statistics begin with one about the first column
    every = {toml_text(name): name for name, _ in columns}
    return {name for text, name in every.items() if any(text in keys.get("columns", text) for _, keys, _ in proposals)}


def _why(name: str, weight: str | None, places: Collection[str]) -> str:
    if name == weight:
        return "it may be design weights; see --design weights."
    return "it says where people are; see --kind points." if name in places else "it numbers the rows."


def _sections(kinds: Sequence[str], design: str, known_values: Mapping[str, str]) -> dict[str, str]:
    """Return what is said once, by section: the keys that are needed, and those that something is known for."""
    merged: dict[str, dict[str, Key]] = {}
    for kind in kinds:
        for section, keys in kind_sections(kind, design).items():
            if section not in ("publish", "recoding", "about", "columns"):
                merged[section] = {**merged.get(section, {}), **keys}
    blocks = {section: f"[{section}]\n{_lines(keys, known_values)}" for section, keys in merged.items()}
    if design:
        told = f"[sampling]\ndesign = {toml_text(design)}   # {spell(DESIGNS[design].meaning, TOML)}\n"
        blocks["sampling"] = told + _lines(merged["sampling"], known_values)
    return {section: text for section, text in blocks.items() if text.count("\n") > 1}


def _publication(proposal: Proposal, design: str, known_values: Mapping[str, str]) -> str:
    """Return a publication, with what is proposed for it or needed."""
    kind, keys, inside = proposal
    named = "".join(f"{name} = {value}\n" for name, value in keys.items())
    text = f"[[publish]]\nkind = {toml_text(kind)}\n{named}"
    text += _lines(kind_sections(kind, design)["publish"], known_values)
    statistics = kind_lists(kind, design).get("publish.statistics")
    if statistics is None:
        return text
    lines = "".join(f"{name} = {value}\n" for name, value in inside.items()) or _lines(statistics, known_values)
    return f"{text}\n[[publish.statistics]]\n{lines}"


def _lines(keys: Mapping[str, Key], known_values: Mapping[str, str]) -> str:
    found = ((key, known_values.get(key.path) or (FILL if key.required else None)) for key in keys.values())
    lines = []
    for key, value in found:
        if value is not None:
            choices = f" One of {', '.join(key.choices)}." if key.choices else ""
            meaning = spell(key.meaning, TOML).partition(". ")[0].partition(", DuckDB")[0].rstrip(".")
            lines.append(f"{key.name} = {value}" + ("" if "   #" in value else f"   # {meaning}.{choices}") + "\n")
    return "".join(lines)


def _locate(path: Path | str, folder: Path | str | None) -> str:
    return Path(path if folder is None else os.path.relpath(path, folder)).as_posix()


def population_name(source: Path | str, more: Mapping[str, str] | None) -> str:
    """Return a name for the people: that of their table or file."""
    stem = (more or {}).get("table") or Path(str(source).partition("?")[0]).name.partition(".")[0]
    return re.sub(r"[^\w.-]+", " ", stem).strip(" .-") or "people"
