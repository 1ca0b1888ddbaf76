"""A first policy for a data file, made from the names and types of its columns and from nothing else.

Categories and ranges in the data are themselves facts about people: a policy that copied them would publish them. So
every domain is left as a placeholder, and the policy is refused until the steward has filled it in. Which sections and
keys there are, and what they mean, comes from the fields of the kind's policy class.
"""

from __future__ import annotations

import math
import os
import re
from pathlib import Path

from crowdblend.errors import InvalidInput
from crowdblend.guarantees.parameters import MOST_PARTS, check_type
from crowdblend.policies.header import ColumnKind, read_header
from crowdblend.policies.key import PLACEHOLDER, Key, did_you_mean, keys_of
from crowdblend.policies.policy import Part, Policy, parts_of, sections_of
from crowdblend.policies.registry import KINDS, has_columns, policy_class
from crowdblend.policies.write import toml_name, toml_text

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
_FILL = f'"{PLACEHOLDER}"'
_PROPOSALS: dict[ColumnKind, str] = {
    "text": f'{{ values = [{_FILL}] }}   # or {{ prefix = 3 }}, {{ hierarchy = {_FILL}, level = 1 }}; other = "Other"',
    "number": f"{{ breaks = [{_FILL}] }}   # rising numbers; or {{ from = …, to = …, width = … }}; top = true",
    "date": f"{{ date = {_FILL} }}   # year, quarter, month, week or day; from = …, to = … close the domain",
    "unknown": f"{{ values = [{_FILL}] }}   # or breaks, from + to + width, prefix, date, hierarchy",
}
# What is written for a key that every steward has to decide; the others are shown as comments.
_DECIDED = {
    "[data] duplicates": '"refuse"',
    "[sampling] rate": "0.1",
    "[sampling] key": '"destroy"',
    "[release] below_k": '"suppress"',
    "[release] epsilon": "1.0",
    "[release] delta": "1e-6",
    "[release] format": '"parquet"',
    "[synopsis] conjunctions": "2",
    "[[statistics]] count": f"{{ {PLACEHOLDER} = {_FILL} }}",
    "[[graph.statistics]] samples": _FILL,
    "[graph] source": _FILL,
    "[graph] target": _FILL,
}
# The share of the sample that the one-way margins of a table get together.
_MARGINS = 0.5
# Sections of which one example is written out.
_EXAMPLES = ("statistics", "graph.statistics")


def init_policy(
    data_path: Path | str,
    *,
    person: str | None = None,
    delimiter: str | None = None,
    folder: Path | str | None = None,
    kind: str = "table",
    design: str | None = None,
) -> str:
    """A commented policy of a kind for a CSV or Parquet file, or a folder or pattern of such files.

    `person` names the column that tells people apart; `folder` is where the policy will lie, and the source is then
    written relative to it. `design` says what the data are: "sample", a sample that was taken; "draw", everybody, of
    whom a sample is drawn, which is also what None means; "everybody", a register, for tables only.
    """
    check_type("init_policy", data_path, (str, os.PathLike), "a path")
    if kind not in KINDS:
        raise InvalidInput(
            f"kind is {kind!r}.", remedy=did_you_mean(str(kind), KINDS), where="--kind", code="init.kind"
        )
    path, policy = Path(data_path), policy_class(kind)
    header = read_header(path, delimiter)
    names = [name for name, _ in header.columns]
    if person is not None and person not in names:
        raise InvalidInput(
            f"The data have no column {person!r}.",
            remedy="Use a name from the first line.",
            where="--person",
            code="init.person",
        )
    source = path if folder is None else Path(os.path.relpath(path, folder))
    given = {
        "[data] source": toml_text(source.as_posix()),
        "[data] format": toml_text(header.format) if header.format else None,
        "[data] delimiter": toml_text(header.delimiter) if header.delimiter else None,
        "[data] person": _FILL if person is None else toml_text(person),
    }
    known = {
        **_DECIDED,
        **{where: text for where, text in given.items() if text is not None},
        **_designed(kind, design),
    }
    blocks = _sections(policy, {where: text for where, text in known.items() if text is not None})
    if has_columns(policy):
        published = [f"{toml_name(name)} = {_PROPOSALS[kind]}\n" for name, kind in header.columns if name != person]
        blocks["columns"] = "[columns]   # delete every column that need not be published\n" + "".join(published)
    names = [name for name in names if name != person]
    if kind == "table" and design != "everybody" and 1 < len(names) < MOST_PARTS:
        blocks["tables"] = _tables(names)
    if kind == "points":
        blocks["columns"] += "# Axes are written x = { from = 0, to = 100, resolution = 0.1, width = 5 }.\n"
    order = ["data", "sampling", "columns", *blocks]
    return _HEAD + "\n" + "\n".join(blocks.pop(name) for name in order if name in blocks)


def designs_of(kind: str) -> tuple[str, ...]:
    """What the data of a kind can be: a sample, everybody of whom a sample is drawn, or everybody, counted with noise.

    >>> designs_of("statistics")
    ('draw',)
    """
    if kind == "table":
        return ("draw", "sample", "everybody")
    return ("draw", "sample") if kind in ("microdata", "points", "outlier-table") else ("draw",)


def _designed(kind: str, design: str | None) -> dict[str, str | None]:
    """What the design decides in [sampling] and [release]; None takes a line back to a comment."""
    if design is None or design == "draw":
        return {}
    if design == "sample" and design in designs_of(kind):
        return {"[sampling] rate": _FILL, "[sampling] already_drawn": "true", "[sampling] key": None}
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
    return f"[[tables]]\nname = {toml_text(name)}\ncolumns = [{listed}]\nshare = {math.floor(share * 1000) / 1000}\n"


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
    value = known.get(key.where) or (_FILL if key.required else None)
    choices = f" One of {', '.join(key.choices)}." if key.choices else ""
    if value is None:
        return f"# {key.name} = …   {key.meaning}{choices}\n"
    return f"{key.name} = {value}   # {key.meaning}{choices}\n"
