"""A first policy for a data file, made from the names and types of its columns and from nothing else.

Categories and ranges in the data are themselves facts about people: a policy that copied them would publish them. So
every domain is left as a placeholder, and the policy is refused until the steward has filled it in. Which sections and
keys there are, and what they mean, comes from the declarations of the kind and of the design.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from crowdblend.errors import InvalidInput
from crowdblend.guarantees.parameters import check_type
from crowdblend.policies.code_book import Entry, read_code_book
from crowdblend.policies.header import ColumnKind, Header, read_header
from crowdblend.policies.key import Key
from crowdblend.policies.load import PLACEHOLDER
from crowdblend.policies.proposals import FILL, proposed_axis, proposed_domain, proposed_pair, proposed_person
from crowdblend.policies.publication_policy import has_columns
from crowdblend.policies.refusals import did_you_mean
from crowdblend.policies.registry import KINDS, policy_class
from crowdblend.policies.sampling import DESIGNS
from crowdblend.policies.schema import kind_lists, kind_sections
from crowdblend.policies.write import toml_name, toml_text, toml_value

_MEASURED = (
    "# A column to average, to add up or to take quantiles of has bounds and a grid instead of classes, such as\n"
    '# income = { from = 0, to = 200000, resolution = 100, outside = "clamp" }\n'
)
_HEAD = f"""\
# A crowdblend policy. Lines with {PLACEHOLDER} must be completed before anything is published.
#
# Only the names and types of the columns were looked at. Write every category and range from what you know beforehand
# (the questionnaire, the code book, the law), not from the rows: a domain read off the data tells who is in them.
"""
_KINDS = """\
# Other kinds have other keys: crowdblend init --kind KIND writes them. docs/release.md tells them apart.
#   "table", "microdata"  counts, or rows, by class                    docs/release.md
#   "points"              where people are, moved by noise             docs/points.md
#   "outlier-table"       counts with more noise the smaller they are  docs/outliers.md
#   "statistics"          averages, shares, counts and histograms      docs/statistics.md
#   "synopsis"            synthetic rows that answer many questions    docs/synopsis.md
#   "graph"               figures of a network, from one link a row    docs/graphs.md
"""
_ANOTHER = """\
# Several publications share one sample and one budget, each with a name of its own, such as
# [[publish]]
# kind = "table"
# name = "margin"
# columns = [{column}]
"""
# What is usual, of any kind and design that has the key, and of some of them.
_USUAL = {"[privacy] epsilon": "1.0", "[privacy] delta": "1e-6"}
_USUAL_OF = {
    "poisson": {"[sampling] rate": "0.1"},
    "points": {"[[publish]] noise_epsilon": "1.0"},
    "synopsis": {"[[publish]] conjunctions": "2"},
}
# Keys that are written out with their default, so that every steward reads them.
_SHOWN = ("[data] duplicates", "[sampling] key", "[[publish]] below_k", "[release] format")
# What only the steward knows and the kind or the design cannot do without.
_ASKED = {
    "survey": ("[sampling] people", "[sampling] of"),
    "biased": ("[sampling] rate",),
    "graph": ("[[publish.statistics]] samples",),
}
_CHECK_PERSON = "# Proposed by its name. Make sure that it tells people apart, the same way in every table:\n"
# Sections that are comments as a whole, and sections inside a publication of which one example is written out.
_OPTIONAL, _EXAMPLES = ("recoding", "about"), ("publish.statistics",)


def usual(kind: str, design: str) -> dict[str, str]:
    """Return what is usual for a kind and a design, as TOML writes it, by the place of the key.

    >>> usual("table", "poisson")
    {'[privacy] epsilon': '1.0', '[privacy] delta': '1e-6', '[sampling] rate': '0.1'}
    """
    return {**_USUAL, **_USUAL_OF.get(kind, {}), **_USUAL_OF.get(design, {})}


def init_policy(
    data_path: Path | str,
    *,
    person: str | None = None,
    delimiter: str | None = None,
    encoding: str | None = None,
    folder: Path | str | None = None,
    kind: str = "table",
    design: str | None = None,
    codebook: Path | str | None = None,
    header: Header | None = None,
    more: Mapping[str, str] | None = None,
) -> str:
    """A commented policy of a kind for a CSV or Parquet file, or a folder or pattern of such files.

    `person` names the column that tells people apart; without it one is proposed by its name. `folder` is where the
    policy will lie, and the source is then written relative to it. `design` says how people come into the data, as
    [sampling] does; the usual one of the kind unless given. `codebook` is a file that says which values columns can
    have.

    `header` has the columns of a source that is no file, and `more` what [data] says of it.
    """
    check_type("init_policy", data_path, (str, os.PathLike), "a path")
    if kind not in KINDS:
        raise InvalidInput(
            f"kind is {kind!r}.", remedy=did_you_mean(str(kind), KINDS), where="--kind", code="init.kind"
        )
    policy = policy_class(kind)
    design = check_design(kind, design) if design else next(iter(policy.designs), "")
    found = read_header(Path(data_path), delimiter, encoding) if header is None else header
    names = [name for name, _ in found.columns]
    if person is not None and person not in names:
        raise InvalidInput(
            f"The data have no column {person!r}.",
            remedy="Use a name from the first line.",
            where="--person",
            code="init.person",
        )
    book = {} if codebook is None else read_code_book(Path(codebook))
    who = person or proposed_person(found.columns)
    columns = [(name, type_) for name, type_ in found.columns if name != who]
    pair = proposed_pair(found.columns if policy.rows_are_links else columns, links=policy.rows_are_links)
    first = toml_name(columns[0][0]) if columns else PLACEHOLDER
    given = {
        "[data] source": toml_text(_located(data_path, folder) if header is None else str(data_path)),
        "[data] format": found.format and toml_text(found.format),
        "[data] delimiter": found.delimiter and toml_text(found.delimiter),
        "[data] encoding": encoding and toml_text(encoding),
        "[data] person": FILL if who is None else toml_text(who),
        "[data] population": toml_text(_population(data_path, more)),
        **{f"[data] {name}": toml_text(value) for name, value in (more or {}).items()},
        "[[publish]] source": toml_text(pair[0]) if pair else FILL,
        "[[publish]] target": toml_text(pair[1]) if pair else FILL,
        "[[publish.statistics]] name": None if policy.rows_are_links else '"count"',
        "[[publish.statistics]] count": f"{{ {first} = {FILL} }}",
    }
    asked = {where: FILL for name in (kind, design) for where in _ASKED.get(name, ())}
    known = {where: text for where, text in {**usual(kind, design), **asked, **given}.items() if text}
    sections = kind_sections(kind, design)
    blocks = {name: _section(name, keys, known) for name, keys in sections.items() if name != "publish"}
    if design:
        told = f"{DESIGNS[design].meaning} One of {', '.join(policy.designs)}."
        lines = f"[sampling]\ndesign = {toml_text(design)}   # {told}\n"
        blocks["sampling"] = lines + _lines(sections["sampling"], known)
    if person is None and who is not None:
        blocks["data"] = blocks["data"].replace("\nperson = ", f"\n{_CHECK_PERSON}person = ")
    if has_columns(policy):
        # Statistics begin with one about the first column, and columns that nothing uses are refused.
        used = 1 if policy.has_numbers else len(columns)
        blocks["columns"] = _columns(columns, book, pair if policy.has_axes else None, used)
    if policy.has_numbers:
        blocks["columns"] += _MEASURED
    publish = f"[[publish]]\nkind = {toml_text(kind)}\n{_KINDS}" + _lines(sections["publish"], known)
    inside = [_section(name, keys, known, many=True) for name, keys in kind_lists(kind, design).items()]
    if has_columns(policy):
        inside.append(_ANOTHER.format(column=toml_text(columns[0][0] if columns else PLACEHOLDER)))
    order = dict.fromkeys(["data", "sampling", "privacy", "columns", *blocks])
    return _HEAD + "\n" + "\n".join([*(blocks[name] for name in order if name in blocks), publish, *inside])


def check_design(kind: str, design: str) -> str:
    """Return a design that publications of a kind are certified for; refuses another."""
    offered = policy_class(kind).designs
    if design not in offered:
        raise InvalidInput(
            f"kind = {kind!r} has no design {str(design)[:60]!r}.",
            remedy=f"Use {' or '.join(offered)}." if offered else "Leave the design out.",
            where="--design",
            code="init.design",
        )
    return design


def _located(path: Path | str, folder: Path | str | None) -> str:
    return Path(path if folder is None else os.path.relpath(path, folder)).as_posix()


def _population(source: Path | str, more: Mapping[str, str] | None) -> str:
    """A name for the people: that of their table or file."""
    stem = (more or {}).get("table") or Path(str(source).partition("?")[0]).name.partition(".")[0]
    return re.sub(r"[^\w.-]+", " ", stem).strip(" .-") or "people"


def _columns(
    columns: Sequence[tuple[str, ColumnKind]], book: Mapping[str, Entry], axes: tuple[str, str] | None, used: int
) -> str:
    """The section of columns; those that nothing uses yet as comments."""
    lines = ["[columns]   # delete every column that need not be published\n"]
    for place, (name, kind) in enumerate(columns):
        if axes is not None and name in axes:
            lines.append(f"{toml_name(name)} = {proposed_axis()}\n")
        else:
            mark = "" if axes is None and place < used else "# "
            lines.append(f"{mark}{toml_name(name)} = {proposed_domain(name, kind, book.get(name))}\n")
    return "".join(lines)


def _section(name: str, keys: Mapping[str, Key], known: Mapping[str, str], *, many: bool = False) -> str:
    """A section as its lines; one that need not be there is a comment as a whole."""
    title = f"[[{name}]]" if many else f"[{name}]"
    if name in _OPTIONAL or (many and name not in _EXAMPLES):
        return f"# {title}\n" + "".join(f"# {key.name} = …   {key.meaning}\n" for key in keys.values())
    return f"{title}\n" + _lines(keys, known)


def _lines(keys: Mapping[str, Key], known: Mapping[str, str]) -> str:
    return "".join(_line(key, known) for key in keys.values())


def _line(key: Key, known: Mapping[str, str]) -> str:
    """A key with its value, or as a comment where it may be left out."""
    value = known.get(key.where) or (toml_value(key.default) if key.where in _SHOWN else FILL if key.required else None)
    choices = f" One of {', '.join(key.choices)}." if key.choices else ""
    if value is None:
        return f"# {key.name} = …   {key.meaning}{choices}\n"
    return f"{key.name} = {value}   # {key.meaning}{choices}\n"
