"""Read a policy from TOML. Numbers are exact decimals until they become parameters, so 0.1 in a domain is a tenth."""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any

from crowdblend.policies.choosing import Choosing
from crowdblend.policies.columns import read_columns
from crowdblend.policies.files import WORKBOOKS, format_of
from crowdblend.policies.key import Section, keys_of, parts_of, sections_of
from crowdblend.policies.policy import Policy
from crowdblend.policies.publication import Publication
from crowdblend.policies.refusals import did_you_mean, refusal, show_value, written_in_toml
from crowdblend.policies.registry import KINDS, all_kinds, common_keys, is_kind, publication_class, publication_keys
from crowdblend.policies.sampling import DESIGNS
from crowdblend.policies.sampling_section import Sampling
from crowdblend.policies.source import PolicyFolder, read_keys, require_list, require_table
from crowdblend.policies.terms import About, Terms
from crowdblend.trusted.guarantees.parameters import check_type
from crowdblend.trusted.machine.regular_files import read_regular

PLACEHOLDER = "FILL_IN"
# It is told a path or an address of a policy, and the key that names it, and refuses what may not be opened.
PathCheck = Callable[[str, str], object]
# tomllib takes time with the square of the parts of a key, and recursion follows their depth.
_DEEP = re.compile(r"""(?<![\w"'-])(?:(?:"[^"\n]*"|'[^'\n]*'|[\w-]+)[ \t]*\.[ \t]*){99}""")


def load_policy(path: str | os.PathLike[str]) -> Policy:
    """Return the policy of the file `path`; the paths in it are relative to its folder."""
    return load_checked_policy(path, None)


def load_checked_policy(path: str | os.PathLike[str], check: PathCheck | None) -> Policy:
    """Read a policy file; `check` sees every path and address in it before anything there is opened."""
    check_type("load_policy", path, (str, os.PathLike), "a path")
    path = Path(path)
    if format_of(path.name) is not None or path.suffix.lower() in WORKBOOKS:
        message = f"{path.name!r} holds data, not a policy."
        raise refusal("file", message, f"Name a policy; `crowdblend init {path.name}` starts one.", path.name)
    try:
        text = read_regular(path).decode("utf-8-sig")
    except (OSError, ValueError) as error:
        if isinstance(error, UnicodeDecodeError):
            raise refusal("encoding", f"{path.name!r} is not UTF-8 text.", "Save it as UTF-8.", path.name) from None
        why = error.strerror if isinstance(error, OSError) else "not a file name"
        message = f"The policy {path.name!r} cannot be read: {why}."
        raise refusal("file", message, "Name a policy, not the data.", path.name) from None
    return read_policy(_sections_of(text), path.absolute().parent, check)


def parse_policy(text: str, folder: Path | str = ".") -> Policy:
    """Read a policy from its text; the paths in it are relative to `folder`."""
    return read_policy(_sections_of(text), folder)


def _sections_of(text: str) -> dict[str, Any]:
    """Return the sections of a policy's text."""
    check_type("parse_policy", text, str, "the text of a policy")
    if _DEEP.search(text):
        raise refusal("toml", "The policy is not TOML that can be read: a key has 100 parts.", "Correct that line.")
    try:
        return tomllib.loads(text, parse_float=Decimal)
    except (ValueError, RecursionError, ArithmeticError) as error:
        message = f"The policy is not TOML: {str(error)[:200].rstrip('.')}."
        remedy = "Correct that line: texts stand in quotes, numbers have a point, and a key is written once."
        raise refusal("toml", message, remedy) from None


def read_policy(parts: Mapping[str, Any], folder: Path | str = ".", check: PathCheck | None = None) -> Policy:
    """Read a policy from its sections, each a table of keys with their values, as TOML has them."""
    with written_in_toml():
        given, publish, split = _read(parts, PolicyFolder(Path(folder), check))
        return Policy(**given, publish=publish, split=split)


def read_terms(parts: Mapping[str, Any], folder: Path | str = ".") -> Terms:
    """Read what a policy says once for all its publications, which may be incomplete as yet."""
    with written_in_toml():
        return Terms(**_read(parts, PolicyFolder(Path(folder)))[0])


def _read(parts: Mapping[str, Any], place: PolicyFolder) -> tuple[dict[str, Any], list[Publication], Any]:
    _refuse_placeholders(parts)
    declared = sections_of(Terms)
    known = [*declared, "sampling", "recoding", "about", "columns", "publish"]
    for section in parts:
        if section not in known:
            where = f"[{section[:60]}]"  # as it is written: there is no such section
            raise refusal("unknown-section", f"There is no section {where}.", did_you_mean(section, known), where)
    publish = _read_publications(parts.get("publish"), place)
    given: dict[str, Any] = {}
    split = None
    for name, keys in declared.items():
        table = parts.get(name, {})
        if name == "privacy" and isinstance(table, Mapping):
            split = table.get("split")
            table = {key: value for key, value in table.items() if key != "split"}
        given |= read_keys(keys, table, f"`{name}`", place)
    if "sampling" in parts:
        given["sampling"] = _read_sampling(parts["sampling"], place)
    holders: dict[str, type[Section]] = {"recoding": Choosing, "about": About}
    for name, holder in holders.items():
        if name in parts:
            given[name] = holder(**read_keys(keys_of(holder), parts[name], f"`{name}`", place))
    if "columns" in parts or any("columns" not in one.lacks for one in publish):
        given["columns"] = read_columns(parts.get("columns"), place, axes=_axes_of(publish))
    return given, publish, split


def _read_sampling(section: object, folder: PolicyFolder) -> Sampling:
    table = require_table(section, "`sampling`")
    designs = " | ".join(f'"{name}"' for name in DESIGNS)
    if "design" not in table:
        message, remedy = "`sampling.design` is missing.", f"Add `sampling.design = {designs}`."
        raise refusal("missing-key", message, remedy, "`sampling.design`")
    name = table["design"]
    if not isinstance(name, str) or name not in DESIGNS:
        near = did_you_mean(str(name)[:100], DESIGNS)
        raise refusal("design", f"`sampling.design` is {show_value(name)}.", near, "`sampling.design`")
    rest = {key: value for key, value in table.items() if key != "design"}
    return DESIGNS[name](**read_keys(keys_of(DESIGNS[name]), rest, "`sampling`", folder))


def _axes_of(publish: Iterable[Publication]) -> Collection[str] | None:
    """Return the columns that publications take as axes of a map; None for all of them."""
    found: set[str] = set()
    for one in publish:
        if one.has_axes:
            if not one.columns:
                return None
            found |= set(one.columns)
    return found


def _read_publications(tables: object, folder: PolicyFolder) -> list[Publication]:
    if tables is None:
        message = "The policy has no section `publish`."
        raise refusal("missing-section", message, "Add it, with `publish.kind` and `publish.columns`.", "`publish`")
    return [_read_publication(table, folder) for table in require_list(tables, "`publish`")]


def _read_publication(section: object, folder: PolicyFolder) -> Publication:
    """Read what is published: what every publication may say, the keys of its kind, and the sections inside it."""
    table = require_table(section, "`publish`")
    if "kind" not in table:
        others = f", only {', '.join(table)[:60]}" if table else ""
        message, remedy = f"`publish` has no kind{others}.", f"Add one of {', '.join(all_kinds())}."
        raise refusal("missing-key", message, remedy, "`publish.kind`")
    kind = table["kind"]
    if not isinstance(kind, str) or not is_kind(kind):
        near = did_you_mean(str(kind)[:100], all_kinds())
        raise refusal("kind", f"`publish.kind` is {show_value(kind)}.", near, "`publish.kind`")
    publication = publication_class(kind)
    keys = common_keys(kind) | publication_keys(kind)
    nested = {
        part.name.removeprefix("publish."): (field, part)
        for field, part in parts_of(publication).items()
        if not part.inline
    }
    rest = {name: value for name, value in table.items() if name not in ("kind", *nested)}
    own = (key.name for key in publication_keys(kind).values())
    _refuse_foreign(kind, rest, [*own, *(key.name for key in common_keys(kind).values()), *nested])
    given: dict[str, Any] = read_keys(keys, rest, "`publish`", folder)
    for name, (field, part) in nested.items():
        if name in table:
            inside, tables = keys_of(part.holder), require_list(table[name], part.where)
            given[field] = tuple(part.holder(**read_keys(inside, one, part.where, folder)) for one in tables)
    return publication(**given)


def _refuse_foreign(kind: str, table: Mapping[str, Any], names: Collection[str]) -> None:
    """Refuse keys that this kind does not have: they would be ignored."""
    for name in table:
        if name not in names:
            having = (one for one in KINDS if name in {key.name for key in publication_keys(one).values()})
            others = " | ".join(f'"{one}"' for one in having)
            remedy = f"Remove it, or use `publish.kind = {others}`." if others else did_you_mean(name[:60], names)
            if name in keys_of(Terms) and keys_of(Terms)[name].section == "privacy":
                remedy = f"Write `privacy.{name}`: it is one for all publications, which may have a weight."
            message = f'`publish.kind = "{kind}"` has no key {name[:60]!r}.'
            raise refusal("unknown-key", message, remedy, f"`publish.{name[:60]}`")


def _refuse_placeholders(parts: Mapping[str, Any]) -> None:
    """Refuse a starter policy that was not completed; every place of it is named at once."""
    places = list(dict.fromkeys(_placeholders("", parts)))
    if places:
        some = ", ".join(places[:8]) + (" …" if len(places) > 8 else "")
        message = f"{some} still {'says' if len(places) == 1 else 'say'} {PLACEHOLDER}."
        remedy = "Write what you know beforehand."
        if "data.person" in places:
            remedy += " Where no column tells people apart, write `data.rows_are_people = true` instead of person."
        raise refusal("placeholder", message, remedy, places[0])


def _placeholders(where: str, value: object) -> Iterator[str]:
    """Yield the places that still have to be filled in."""
    if isinstance(value, Mapping):
        for name, item in value.items():
            yield from _placeholders(f"{where}.{name}" if where else name, item)
    elif isinstance(value, list):
        for item in value:
            yield from _placeholders(where, item)
    elif isinstance(value, str) and PLACEHOLDER in value:
        yield where
