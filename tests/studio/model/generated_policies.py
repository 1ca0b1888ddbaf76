"""Random policies over every key that is declared: sound ones, changed key by key as long as they can be read.

The keys are those that the reader knows, so a new one is drawn without a word here; a test fails where one never is.
"""

import copy
import datetime
import random
import sqlite3
import tomllib
from collections.abc import Iterator
from contextlib import closing
from decimal import Decimal
from functools import cache
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
from pyarrow import parquet

import crowdblend as cb
from crowdblend.errors import CrowdblendError
from crowdblend.policies.choosing import Choosing
from crowdblend.policies.domains import DOMAINS, AxisDomain
from crowdblend.policies.key import Key, keys_of, parts_of, sections_of
from crowdblend.policies.load import parse_policy, read_policy
from crowdblend.policies.policy import SPLITS, Policy
from crowdblend.policies.registry import KINDS, publication_class
from crowdblend.policies.sampling import DESIGNS
from crowdblend.policies.terms import About, Terms
from tests.golden.releases import POLICIES, PROGRAMMES

Parts = dict[str, Any]
# Names and labels that fields, lines, separators and browsers could change.
NASTY = [
    *(
        " a",
        "b ",
        " ",
        "c\nd",
        "e\r\nf",
        "g\u2028h",
        "i\x85j",
        "\vk",
        "l\u00a0m",
        "n\tp",
        "\u202eq",
        '"r"',
        '"',
        "\ufffd",
    ),
    *(
        "s: t",
        "u; v",
        "w:",
        "x: ",
        "=1+1",
        "# y",
        "a  b",
        "&lt;",
        "</textarea>",
        "1",
        "true",
        "0.1, 2",
        "名",
        "\U000e0041",
    ),
    *("a\\nb", '"c\\nd"', "'", "\n", "\x7f", "e, f"),
]
COLUMNS = ("sex", "age", "district", "income", "x", "y", *NASTY[:4], NASTY[11], NASTY[14], NASTY[15], NASTY[20])
_NUMBERS: list[Any] = [
    0,
    1,
    2,
    5,
    10,
    20,
    50,
    1000,
    4000,
    8000,
    *map(Decimal, ("0.1", "0.25", "0.5", "0.75", "1.50", "1E+2", "1e-6")),
]
_ENDS: list[Any] = [0, 1, 10, 30, 60, 90, Decimal("0.5"), -5, Decimal("1E+2")]
_TEXTS = {
    "source": [
        "town.parquet",
        "town.csv",
        "town.tsv",
        "sqlite:///town.sqlite",
        "-",
        "postgresql://u@h/db",
        "catalog://a.b",
    ],
    "delimiter": [",", ";", "\t", "|", "~"],
    "encoding": ["utf-8", "latin-1", "utf-16", "cp1252"],
    "decimal": [".", ","],
    "thousands": [" ", ",", ".", "'"],
    "date_format": ["%d.%m.%Y", "%Y-%m", "%Y"],
    "memory": ["1GB", "512MB"],
    "table": ["town", *NASTY[:4]],
    "query": ["select * from town", "select *\nfrom town", "\tselect * from town ", '"town"'],
    "hierarchy": ["hierarchy.csv", "folder: 1/it's.csv", " hierarchy.csv"],
    "name": ["one", "two", "a-1", "b_2"],
}
_CSV = ("delimiter", "encoding", "decimal", "thousands", "date_format", "format")
# Policies that have what few others can have, beside those of tests/golden.
_TABLE = '[[publish]]\nkind = "table"\n'
_PEOPLE = '[data]\nsource = "town.parquet"\nperson = "person_id"\n'
_LOSS = "[privacy]\nepsilon = 1.0\ndelta = 1e-6\n"
_SEX = '[columns]\nsex = { values = ["female", "male"] }\n'
_AXES = "[columns]\nx = { from = 0, to = 1, resolution = 0.1 }\ny = { from = 0, to = 1, resolution = 0.1 }\n"
_DRAWN = '[sampling]\ndesign = "poisson"\nrate = 0.2\n'
_INCOME = '[columns]\nincome = { from = 0, to = 100, resolution = 1 }\nsex = { values = ["female", "male"] }\n'
_SURVEY = '[sampling]\ndesign = "survey"\npeople = 1000\nof = 4000\n'
_WEIGHTS = '[sampling]\ndesign = "weights"\ncolumn = "income"\n'
_BLOCKS = _AXES.replace("0.1 }", "0.1, width = 0.5 }")
_POINTS = '[[publish]]\nkind = "points"\nnoise_epsilon = 1.0\n'
_TWO = 'name = "one"\nshare = 0.5\n[[publish]]\nname = "two"\nkind = "microdata"\n'
RARE = (
    _PEOPLE + "people = 4000\n" + _DRAWN + _LOSS + _SEX + '[[publish]]\nkind = "synopsis"\nconjunctions = 1\n' + _TWO,
    _PEOPLE + _WEIGHTS + "low = 0.1\nhigh = 0.5\n" + _LOSS + _SEX + _TABLE,
    _PEOPLE + _WEIGHTS + "thin = 0.8\n" + _LOSS + _SEX + "income = { breaks = [100, 200, 400] }\n" + _TABLE,
    _PEOPLE + _DRAWN + _LOSS + _BLOCKS + _POINTS,
    _PEOPLE
    + _DRAWN
    + _LOSS
    + "[columns]\nage = { from = 0, to = 90, width = 1 }\n"
    + _TABLE
    + 'below_k = "noise"\njoin = 5\n',
    _PEOPLE + _DRAWN + _LOSS + _AXES + _POINTS + '[[publish.boxes]]\nname = "a"\nbox = { x = [0, 0.5], y = [0, 1] }\n',
    _PEOPLE
    + _DRAWN
    + _LOSS
    + _AXES
    + _POINTS
    + "[[publish.quadtree]]\nbox = { x = [0, 0.5], y = [0, 1] }\ndepth = 3\n",
    _PEOPLE + _DRAWN + _LOSS + _BLOCKS + _POINTS + 'columns = ["x", "y"]\n' + _TWO + 'columns = ["x"]\n',
    *(
        _PEOPLE + _SURVEY + "[privacy]\nepsilon = 1.0\n" + _INCOME + '[[publish]]\nkind = "statistics"\n'
        f'[[publish.statistics]]\nname = "n"\n{what}\n'
        for what in (
            'sum = "income"\nby = ["sex"]',
            'quantile = "income"\nat = 0.9\nby = ["sex"]',
            'average = "income"\nwhere = { sex = "male" }',
        )
    ),
    *(
        _PEOPLE + _SURVEY + "[privacy]\nepsilon = 2.0\n" + _SEX + f'[[publish]]\nkind = "synopsis"\n{what}\n'
        for what in ('ranges = "sex"', 'queries = [{ sex = "male" }]')
    ),
    *(
        '[data]\nsource = "links.csv"\n[privacy]\nepsilon = 8.0\n[[publish]]\nkind = "graph"\npeople = 100\n'
        "degree_bound = 9\n"
        f'vertices = "town.csv"\nvertex = "person_id"\n[[publish.statistics]]\nsamples = 50\n{what}\n'
        for what in (
            'name = "average"\ncolumn = "income"\nfrom = 0\nto = 10\nresolution = 1',
            'name = "histogram"\ncolumn = "sex"\nvalues = ["a", "b"]\nother = "c"',
        )
    ),
)
_DAYS = [datetime.date(1990, 1, 1), datetime.date(2000, 5, 31), datetime.date(2030, 1, 1)]


def make_files(folder: Path) -> None:
    """Write what policies name: data of every format, hierarchies, rates and a proposal."""
    rows = pd.DataFrame({"person_id": range(1500), **{name: [1, 2, 3] * 500 for name in COLUMNS}})
    parquet.write_table(pa.Table.from_pandas(rows, preserve_index=False), folder / "town.parquet")
    rows.head(2).to_csv(folder / "town.csv", index=False)
    rows.head(2).to_csv(folder / "town.tsv", index=False, sep="\t")
    with closing(sqlite3.connect(folder / "town.sqlite")) as database:
        for table in _TEXTS["table"]:
            rows.head(2).to_sql(table, database, index=False)
    (folder / "links.csv").write_text("source,target\n1,2\n", encoding="utf-8")
    (folder / "folder: 1").mkdir()
    for name in _TEXTS["hierarchy"]:
        (folder / name).write_text("a;x;*\nb;x;*\nc;y;*\nd;y;*\n", encoding="utf-8")
    (folder / "rates.csv").write_text("sex,rate\nfemale,0.1\nmale,0.5\n", encoding="utf-8")
    said: dict[str, Any] = {"person": "person_id", "population": "town", "ledger": None}
    cb.propose(rows.head(400), out=folder / "proposal", bounds=["age"], epsilon=0.1, delta=1e-9, **said)


@cache
def declared_keys() -> dict[str, Key]:
    """Every key that a policy can say, by its place."""
    holders = {"[recoding]": Choosing, "[about]": About, "axis": AxisDomain}
    holders |= {f"[sampling] {name}": one for name, one in DESIGNS.items()} | {
        f"column {way}": one for way, one in DOMAINS.items()
    }
    found = {f"[{section}] {key.name}": key for section, keys in sections_of(Terms).items() for key in keys.values()}
    found |= {f"{where} {key.name}": key for where, holder in holders.items() for key in keys_of(holder).values()}
    for kind in KINDS:
        found |= {f"{kind} {where}": key for where, key in publication_keys(kind)}
    return found


def publication_keys(kind: str) -> Iterator[tuple[str, Key]]:
    """The keys of a publication of a kind, those of the sections inside it too."""
    publication = publication_class(kind)
    yield from ((key.name, key) for key in keys_of(publication).values())
    for part in parts_of(publication).values():
        inside = "" if part.inline else part.name.removeprefix("publish.") + " "
        yield from ((f"{inside}{key.name}", key) for key in keys_of(part.holder).values())


def given_keys(parts: Parts) -> set[str]:
    """The keys that a policy gives, by their place."""
    found = {
        f"[{section}] {name}"
        for section in ("data", "privacy", "release", "recoding", "about")
        for name in parts.get(section, {})
    }
    sampling = parts.get("sampling", {})
    found |= {f"[sampling] {sampling.get('design')} {name}" for name in sampling}
    for domain in parts.get("columns", {}).values():
        way = "resolution" if "resolution" in domain else next((way for way in DOMAINS if way in domain), "")
        found |= {
            f"{where} {name}"
            for name in domain
            for where in (f"column {way}", *(["axis"] if way == "resolution" else []))
        }
    for one in parts["publish"]:
        found |= {f"{one['kind']} {name}" for name in one}
        found |= {
            f"{one['kind']} {name} {key}"
            for name, items in one.items()
            if isinstance(items, list)
            for item in items
            if isinstance(item, dict)
            for key in item
        }
    return found


class Generator:
    """Draws policies; the seed decides all of them, and each aims at another of the declared keys."""

    def __init__(self, seed: int, folder: Path) -> None:
        self._random, self._folder = random.Random(seed), folder
        texts = [parse_policy(text).to_toml() for text in (*POLICIES.values(), *PROGRAMMES.values(), *RARE)]
        texts = [text.replace(f"{Path.cwd()}/", "") for text in texts]
        self._sound: list[Parts] = [tomllib.loads(text, parse_float=Decimal) for text in texts]
        self._places = list(declared_keys())

    def policy(self, number: int) -> tuple[Policy, Parts]:
        """A policy that can be read, and its sections."""
        target = self._places[number % len(self._places)]
        best: tuple[Policy, Parts] | None = None
        for _ in range(30):
            parts = copy.deepcopy(self._base(target))
            best = self._read(parts) or best
            for _ in range(self._random.randrange(2, 14)):
                before = copy.deepcopy(parts)
                for _ in range(self._random.choice((1, 1, 1, 2, 3))):
                    self._change(parts, target if self._random.random() < 0.3 else self._random.choice(self._places))
                changed = self._read(parts)
                parts, best = (before, best) if changed is None else (parts, changed)
            assert best is not None
            if target in given_keys(best[1]):
                return best
        assert best is not None
        return best

    def _base(self, target: str) -> Parts:
        """A sound policy of the kind or the design that the key is of, where it is of one."""
        first = target.split(" ", maxsplit=1)[0]
        fitting = [one for one in self._sound if first in [each["kind"] for each in one["publish"]]]
        if target.startswith("[sampling] "):
            fitting = [one for one in self._sound if one.get("sampling", {}).get("design") == target.split(" ")[1]]
        return self._random.choice(fitting or self._sound)

    def _read(self, parts: Parts) -> tuple[Policy, Parts] | None:
        try:
            return read_policy(parts, self._folder), copy.deepcopy(parts)
        except CrowdblendError:
            return None

    def _change(self, parts: Parts, place: str) -> None:
        """Give a key another value, or none; or give a column another domain."""
        draw, key = self._random, declared_keys()[place]
        first, _, name = place.rpartition(" ")
        if first.startswith("column ") or first == "axis":
            columns = parts.get("columns", {})
            if columns:
                named = draw.choice([*columns, *COLUMNS]) if draw.random() < 0.5 else draw.choice(list(columns))
                columns[named] = self._domain(first, columns.get(named, {}), key)
            return
        holder = self._section(parts, first) if first.startswith("[") else self._publication(parts, first)
        if name in ("table", "query") and first == "[data]":
            # A database has one of both, and no key of CSV files.
            for other in ("table", "query", *_CSV):
                holder.pop(other, None)
            holder["source"] = "sqlite:///town.sqlite"
        if draw.random() < 0.15 and name != "kind":
            holder.pop(name, None)
        else:
            holder[name] = self._value(key, parts)

    def _section(self, parts: Parts, first: str) -> Parts:
        """A section of the policy; that of the privacy may share its budget in another way."""
        section = first.split("]", maxsplit=1)[0].strip("[")
        if section == "privacy" and self._random.random() < 0.1:
            parts.setdefault("privacy", {})["split"] = self._random.choice(list(SPLITS))
        usual = {"epsilon": Decimal("0.1"), "using": "population"} if section == "recoding" else {}
        found: Parts = parts.setdefault(section, usual)
        return found

    def _publication(self, parts: Parts, first: str) -> Parts:
        """A publication of the kind that is named, or an item inside it; nothing of the policy where it has none."""
        kind, *inside = first.split(" ")
        one: Parts = self._random.choice(parts["publish"])
        if one["kind"] != kind:
            return {}
        items = one.setdefault(inside[0], [{}]) if inside else [one]
        return self._random.choice(items) if items else {}

    def _domain(self, first: str, before: Parts, target: Key) -> Parts:
        """A domain of a column: what its way needs, and some of what it may say."""
        draw = self._random
        holder = AxisDomain if first == "axis" else DOMAINS[first.removeprefix("column ")]
        keys = {key.name: key for key in keys_of(holder).values()}
        kept = {name: value for name, value in before.items() if name in keys}
        ends = sorted(draw.sample([0, 10, 30, 60, 90, -5], 2))
        made: Parts = {"from": ends[0], "to": ends[1]} if {"from", "to"} <= set(keys) and draw.random() < 0.7 else {}
        if holder.way == "date":
            made = {"from": _DAYS[0], "to": _DAYS[2]} if made else {}
        made |= {name: self._value(key, {}) for name, key in keys.items() if key.required and name not in made}
        made |= {name: self._value(key, {}) for name, key in keys.items() if draw.random() < 0.15 and name not in made}
        if holder.way == "hierarchy" and not {"level", "levels"} & set(made):
            made["level"] = draw.choice([0, 1, "choose"])
        return {**kept, **made, target.name: made.get(target.name, self._value(target, {}))}

    def _value(self, key: Key, parts: Parts) -> Any:
        """A value of the type of a key, which may be none that it takes."""
        draw = self._random
        columns = [*parts.get("columns", {}), "income"]
        if key.choices and key.kind not in ("flag", "periods", "level"):
            return draw.choice(key.choices)
        label = draw.choice([*NASTY, "female", "male", "Harbour"])
        labels = draw.sample([*NASTY, "female", "male", "k", "l", "m"], draw.randrange(1, 6))
        texts = _TEXTS.get(key.name)
        makers: dict[str, Any] = {
            "flag": lambda: draw.random() < 0.8,
            "whole": lambda: draw.choice([0, 1, 2, 3, 5, 12, 20, 100, 1000, 4000]),
            "number": lambda: draw.choice(_NUMBERS),
            "decimal": lambda: draw.choice(_NUMBERS),
            "numbers": lambda: sorted(draw.sample(_ENDS, draw.randrange(2, 6))),
            "wholes": lambda: sorted(draw.sample(range(4), draw.randrange(1, 4))),
            "widths": lambda: draw.choice([10, 5, Decimal("2.5"), [10, 30, 90], [5, 10], [10]]),
            "level": lambda: draw.choice([0, 1, 2, "choose"]),
            "day": lambda: draw.choice(_DAYS),
            "periods": lambda: draw.choice(["year", "month", "day", ["month", "year"], ["week", "quarter"], ["year"]]),
            "texts": lambda: (
                draw.sample(columns, draw.randrange(1, len(columns) + 1)) if key.name in ("columns", "by") else labels
            ),
            "path": lambda: draw.choice(texts or ["town.csv"]),
            "paths": lambda: draw.choice(["proposal", ["proposal"]]),
            "rates": lambda: draw.choice(
                ["rates.csv", {"female": Decimal("0.1"), "male": Decimal("0.5")}, dict.fromkeys(labels, Decimal("0.5"))]
            ),
            "where": lambda: {one: draw.choice([label, labels, "female"]) for one in draw.sample(columns, 1)},
            "ends": lambda: {"x": [0, 1], "y": [Decimal("-0.5"), 1]},
            "conditions": lambda: [dict.fromkeys(draw.sample(columns, 1), label) for _ in range(draw.randrange(1, 3))],
        }
        if key.kind in makers:
            return makers[key.kind]()
        if (
            key.name in ("average", "sum", "median", "quantile", "histogram", "ranges", "column", "person")
            and draw.random() < 0.8
        ):
            return draw.choice([*columns, "person_id"])
        return draw.choice(texts or [label, label.strip() or "x", "the people of 2020"])
