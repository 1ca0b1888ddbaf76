"""A first policy for a data file, made from the names and types of its columns and from nothing else.

Categories and ranges in the data are themselves facts about people: a policy that copied them would publish them. So
every domain is left as a placeholder, and the policy is refused until the steward has filled it in. Which sections and
keys there are, and what they mean, comes from the fields of the kind's policy class.
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from crowdblend.errors import InvalidInput
from crowdblend.guarantees.parameters import MOST_PARTS, check_type
from crowdblend.policies.code_book import Entry, read_code_book
from crowdblend.policies.header import ColumnKind, Header, read_header
from crowdblend.policies.key import Key, Part, keys_of, parts_of, sections_of
from crowdblend.policies.load import PLACEHOLDER
from crowdblend.policies.policy import Policy, has_columns
from crowdblend.policies.proposals import FILL, proposed_axis, proposed_domain, proposed_pair, proposed_person
from crowdblend.policies.refusals import did_you_mean
from crowdblend.policies.registry import KINDS, policy_class, sections
from crowdblend.policies.write import toml_name, toml_text

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
# Other kinds have other sections: crowdblend init --kind KIND writes them. docs/release.md tells them apart.
#   "table", "microdata"  counts, or rows, by class                    docs/release.md
#   "points"              where people are, moved by noise             docs/points.md
#   "outlier-table"       counts with more noise the smaller they are  docs/outliers.md
#   "statistics"          averages, shares, counts and histograms      docs/statistics.md
#   "synopsis"            synthetic rows that answer many questions    docs/synopsis.md
#   "graph"               figures of a network, from one link a row    docs/graphs.md
"""
# What is written for a key that every steward has to decide; the others are shown as comments.
_DECIDED = {
    "[data] duplicates": '"refuse"',
    "[sampling] rate": "0.1",
    "[sampling] sample": FILL,
    "[sampling] key": '"destroy"',
    "[release] below_k": '"suppress"',
    "[release] epsilon": "1.0",
    "[release] delta": "1e-6",
    "[release] format": '"parquet"',
    "[synopsis] conjunctions": "2",
    "[[statistics]] count": f"{{ {PLACEHOLDER} = {FILL} }}",
    "[[graph.statistics]] samples": FILL,
    "[graph] source": FILL,
    "[graph] target": FILL,
}
# What one kind cannot do without.
_DECIDED_FOR: dict[str, dict[str, str]] = {
    "points": {"[points] noise_epsilon": "1.0", "[release] noise_epsilon": "1.0"},
    "statistics": {"[[statistics]] name": '"count"', "[sampling] sample": FILL},
    "synopsis": {"[sampling] sample": FILL},
}
_CHECK_PERSON = "# Proposed by its name. Make sure that it tells people apart, the same way in every table:\n"
# The share of the sample that the one-way margins of a table get together: what most readers look at first, and with
# less of it margins of a small town are off by more than a tenth.
_MARGINS = 0.8
# Sections of which one example is written out.
_EXAMPLES = ("statistics", "graph.statistics")


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
    policy will lie, and the source is then written relative to it. `design` says what the data are: "sample", a sample
    that was taken; "draw", everybody, of whom a sample is drawn, which is also what None means; "everybody", a
    register, for tables only. `codebook` is a file that says which values columns can have.

    `header` has the columns of a source that is no file, and `more` what [data] says of it.
    """
    check_type("init_policy", data_path, (str, os.PathLike), "a path")
    if kind not in KINDS:
        raise InvalidInput(
            f"kind is {kind!r}.", remedy=did_you_mean(str(kind), KINDS), where="--kind", code="init.kind"
        )
    policy = policy_class(kind)
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
    given = {
        "[data] source": toml_text(_located(data_path, folder) if header is None else str(data_path)),
        "[data] format": toml_text(found.format) if found.format else None,
        "[data] delimiter": toml_text(found.delimiter) if found.delimiter else None,
        "[data] encoding": toml_text(encoding) if encoding else None,
        "[data] person": FILL if who is None else toml_text(who),
        "[data] population": toml_text(_population(data_path, more)),
        **{f"[data] {name}": toml_text(value) for name, value in (more or {}).items()},
        **({"[graph] source": toml_text(pair[0]), "[graph] target": toml_text(pair[1])} if pair else {}),
    }
    if columns:
        given["[[statistics]] count"] = f"{{ {toml_name(columns[0][0])} = {FILL} }}"
    known = {
        **_DECIDED,
        **_DECIDED_FOR.get(kind, {}),
        **{where: text for where, text in given.items() if text is not None},
        **_designed(kind, design),
    }
    blocks = _sections(policy, {where: text for where, text in known.items() if text is not None})
    if person is None and who is not None:
        blocks["data"] = blocks["data"].replace("\nperson = ", f"\n{_CHECK_PERSON}person = ")
    if has_columns(policy):
        blocks["columns"] = _columns(columns, book, pair if policy.has_axes else None)
    if policy.has_numbers:
        blocks["columns"] += _MEASURED
    names = [name for name, _ in columns]
    if "tables" in sections(kind) and design != "everybody" and 1 < len(names) < MOST_PARTS:
        blocks["tables"] = _tables(names)
    order = ["data", "sampling", "columns", *blocks]
    return _HEAD + "\n" + "\n".join(blocks.pop(name) for name in order if name in blocks)


def _located(path: Path | str, folder: Path | str | None) -> str:
    return Path(path if folder is None else os.path.relpath(path, folder)).as_posix()


def _population(source: Path | str, more: Mapping[str, str] | None) -> str:
    """A name for the people: that of their table or file."""
    stem = (more or {}).get("table") or Path(str(source).partition("?")[0]).name.partition(".")[0]
    return re.sub(r"[^\w.-]+", " ", stem).strip(" .-") or "people"


def _columns(columns: Sequence[tuple[str, ColumnKind]], book: Mapping[str, Entry], axes: tuple[str, str] | None) -> str:
    """The section of columns; of points, the axes, and the other columns as comments."""
    lines = ["[columns]   # delete every column that need not be published\n"]
    for name, kind in columns:
        if axes is not None and name in axes:
            lines.append(f"{toml_name(name)} = {proposed_axis()}\n")
        else:
            mark = "" if axes is None else "# "
            lines.append(f"{mark}{toml_name(name)} = {proposed_domain(name, kind, book.get(name))}\n")
    return "".join(lines)


def designs_of(kind: str) -> tuple[str, ...]:
    """What the data of a kind can be: a sample, everybody of whom a sample is drawn, or everybody, counted with noise.

    >>> designs_of("statistics")
    ('draw',)
    """
    return policy_class(kind).designs


def _designed(kind: str, design: str | None) -> dict[str, str | None]:
    """What the design decides in [sampling] and [release]; None takes a line back to a comment."""
    if design is None or design == "draw":
        return {}
    if design == "sample" and design in designs_of(kind):
        return {"[sampling] rate": FILL, "[sampling] already_drawn": "true", "[sampling] key": None}
    if design == "everybody" and design in designs_of(kind):
        return {
            "[sampling] everybody": "true",
            "[sampling] rate": None,
            "[release] below_k": None,
            "[release] delta": None,
        }
    raise InvalidInput(
        f"kind = {kind!r} has no design {str(design)!r}.",
        remedy='Use "everybody" for tables; "sample" for tables, microdata, points and outlier tables; or "draw".',
        where="--design",
        code="init.design",
    )


def _tables(names: list[str]) -> str:
    """A fine table and every one-way margin, each from its own part of the sample."""
    head = (
        "# Several tables, each counted in a part of the sample of its own (docs/release.md). Delete those of columns\n"
        "# that you delete above. Give a table with small classes a larger share; shares add up to at most 1.\n"
    )
    blocks = [_table("fine", names, 1 - _MARGINS)]
    for number, name in enumerate(names, 1):
        title = f"by_{name}" if re.fullmatch(r"[A-Za-z0-9_-]{1,90}", name) else f"margin_{number}"
        blocks.append(_table(title, [name], _MARGINS / len(names)))
    return head + "\n".join(blocks)


def _table(name: str, columns: list[str], share: float) -> str:
    listed = ", ".join(toml_text(column) for column in columns)
    # Rounded down, so that all of them add up to at most 1.
    thousandths = math.floor(round(share * 1000, 6))
    return f"[[tables]]\nname = {toml_text(name)}\ncolumns = [{listed}]\nshare = {thousandths / 1000}\n"


def _sections(policy: type[Policy], known: dict[str, str]) -> dict[str, str]:
    """The sections of a kind, each as its lines."""
    blocks = {}
    for name, keys in sections_of(policy).items():
        head = f"[{name}]\n" + (f"kind = {toml_text(policy.kind)}\n{_KINDS}" if name == "release" else "")
        blocks[name] = head + "".join(_line(key, known) for key in keys.values())
    for declared in parts_of(policy).values():
        blocks[declared.name] = _part(declared, known)
    return blocks


def _part(declared: Part, known: dict[str, str]) -> str:
    """A section of its own; one that need not be there is a comment as a whole."""
    keys = keys_of(declared.holder).values()
    if declared.name in _EXAMPLES or not (declared.many or declared.name == "recoding"):
        return f"{declared.title}\n" + "".join(_line(key, known) for key in keys)
    lines = [f"# {declared.title}   {declared.meaning}\n"]
    return "".join([*lines, *(f"# {key.name} = …   {key.meaning}\n" for key in keys)])


def _line(key: Key, known: dict[str, str]) -> str:
    """A key with its value, or as a comment where it may be left out."""
    value = known.get(key.where) or (FILL if key.required else None)
    choices = f" One of {', '.join(key.choices)}." if key.choices else ""
    if value is None:
        return f"# {key.name} = …   {key.meaning}{choices}\n"
    return f"{key.name} = {value}   # {key.meaning}{choices}\n"
