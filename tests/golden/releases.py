"""One release of every kind, with a fixed key and made-up people: the same bytes for ever."""

from __future__ import annotations

import random
from pathlib import Path

import pyarrow as pa
from pyarrow import csv, parquet

from crowdblend.demo import write_population

KEY = bytes(range(100, 132))
PEOPLE = 8_000
DISTRICTS = ("Harbour", "Old Town", "Riverside", "Hillside", "Station", "Garden City", "University", "Mills")

_TOWN = '[data]\nsource = "town.parquet"\nperson = "person_id"\n'
_EXACTLY = _TOWN + f"people = {PEOPLE}\n[sampling]\nsample = 2000\n"
_DRAW = "[sampling]\nrate = 0.5\n"
_COLUMNS = (
    '[columns]\nsex = { values = ["female", "male"] }\nage = { from = 0, to = 90, width = 10, top = true }\n'
    f"district = {{ values = {list(DISTRICTS)} }}\n"
)
_LEVELS = _COLUMNS.replace("width = 10", "width = [10, 30, 90]")
_PROMISE = "epsilon = 1.0\ndelta = 1e-6\n"
_TABLE = '[release]\nkind = "table"\n' + _PROMISE
_NOISE = _TABLE + 'below_k = "noise"\n'

POLICIES = {
    "table": _TOWN + _DRAW + _COLUMNS + _TABLE,
    "table-drawn": _TOWN + _DRAW + "already_drawn = true\n" + _COLUMNS + _TABLE,
    "table-rows": _TOWN.replace('person = "person_id"', "rows_are_people = true") + _DRAW + _COLUMNS + _TABLE,
    "table-text": _TOWN.replace("town.parquet", "town.csv").replace("person_id", "name") + _DRAW + _COLUMNS + _TABLE,
    "table-one": _TOWN.replace("town.parquet", "twice.csv") + 'duplicates = "one"\n' + _DRAW + _COLUMNS + _TABLE,
    "table-open": _TOWN + _DRAW + "[columns]\ndistrict = { prefix = 3 }\nsex = { prefix = 1 }\n" + _TABLE,
    "table-noise": _TOWN + _DRAW + _COLUMNS + _NOISE,
    "table-flag": _TOWN + _DRAW + _COLUMNS + _NOISE + "flag = true\n",
    "table-several": _TOWN
    + _DRAW
    + _COLUMNS
    + _TABLE
    + '[[tables]]\nname = "by_age"\ncolumns = ["age", "sex"]\n'
    + '[[tables]]\nname = "by_district"\ncolumns = ["district"]\n',
    "table-parts": _TOWN
    + _DRAW
    + _COLUMNS
    + _TABLE
    + '[[tables]]\nname = "fine"\ncolumns = ["age", "sex", "district"]\nshare = 0.7\n'
    + '[[tables]]\nname = "by_district"\ncolumns = ["district"]\nshare = 0.1\n'
    + '[[tables]]\nname = "by_sex"\ncolumns = ["sex"]\nshare = 0.1\n',
    "table-register": _TOWN
    + "[sampling]\neverybody = true\n"
    + _COLUMNS
    + '[release]\nkind = "table"\nepsilon = 1.0\n'
    + '[[tables]]\nname = "fine"\ncolumns = ["sex", "age", "district"]\n'
    + '[[tables]]\nname = "by_district"\ncolumns = ["district"]\n',
    "table-visits": _TOWN.replace("town.parquet", "twice.csv")
    + "rows_per_person = 2\n[sampling]\neverybody = true\n"
    + _COLUMNS
    + '[release]\nkind = "table"\nepsilon = 1.0\n',
    "table-biased": _TOWN
    + "[sampling]\nrate = 0.1\nlow = 0.08\nhigh = 0.12\nexceptions = 3\n"
    + _COLUMNS
    + '[release]\nkind = "table"\nepsilon = 2.0\ndelta = 1e-4\n',
    "table-population": _TOWN
    + _DRAW
    + _LEVELS
    + _TABLE
    + '[recoding]\nepsilon = 0.1\nusing = "population"\nshow_epsilon = 0.1\n',
    "table-split": _TOWN + _DRAW + _LEVELS + _TABLE + '[recoding]\nepsilon = 0.1\nusing = "split"\n',
    "microdata": _TOWN + _DRAW + _COLUMNS + '[release]\nkind = "microdata"\n' + _PROMISE,
    "points": _TOWN
    + _DRAW
    + '[columns]\nsex = { values = ["female", "male"] }\nincome = { from = 0, to = 200000, resolution = 1000, '
    + 'width = 20000, outside = "drop" }\n[release]\nkind = "points"\nk = 60\nepsilon = 1.0\nnoise_epsilon = 1.0\n',
    "outlier-table": _TOWN
    + _COLUMNS
    + '[outliers]\nlimit = 100\n[release]\nkind = "outlier-table"\nepsilon = 0.5\n'
    + "delta = 1e-5\n",
    "statistics": _EXACTLY
    + _COLUMNS
    + 'income = { from = 0, to = 200000, resolution = 100, outside = "clamp", blank = 0 }\n'
    + '[[statistics]]\nname = "women"\nfraction = { sex = "female" }\n[[statistics]]\nname = "income"\n'
    + 'average = "income"\n[[statistics]]\nname = "districts"\nhistogram = "district"\n'
    + '[release]\nkind = "statistics"\nepsilon = 1.0\n',
    "statistics-rows": _EXACTLY.replace('person = "person_id"', "rows_are_people = true")
    + _COLUMNS
    + '[[statistics]]\nname = "women"\ncount = { sex = "female" }\n[release]\nkind = "statistics"\nepsilon = 1.0\n',
    "synopsis": _EXACTLY.replace("sample = 2000", "sample = 6000")
    + _COLUMNS
    + '[synopsis]\nconjunctions = 2\n[release]\nkind = "synopsis"\nepsilon = 2.0\n',
    "synopsis-chosen": _EXACTLY
    + '[columns]\nsex = { values = ["female", "male"] }\n[synopsis]\nconjunctions = 1\n'
    + 'mechanism = "exponential"\nrows = 1\n[release]\nkind = "synopsis"\nepsilon = 3.0\n',
    "graph": '[data]\nsource = "links.csv"\n[graph]\npeople = 3000\ndegree_bound = 8\n'
    + '[[graph.statistics]]\nname = "connectivity"\nsamples = 1400\n[[graph.statistics]]\nname = "average-degree"\n'
    + 'samples = 1400\n[release]\nkind = "graph"\nepsilon = 8.0\n',
}


def write_sources(folder: Path) -> None:
    """The made-up people and links, in files that the policies name."""
    write_population(folder / "town.parquet", PEOPLE)
    town = parquet.read_table(folder / "town.parquet")
    names = pa.array([f"p-{number:x}" for number in range(town.num_rows)])
    csv.write_csv(town.append_column("name", names), folder / "town.csv")
    csv.write_csv(pa.concat_tables([town, town.slice(0, 500)]), folder / "twice.csv")
    draw = random.Random(20)
    ends = {tuple(sorted(draw.sample(range(3000), 2))) for _ in range(3500)}
    degree: dict[int, int] = {}
    lines = ["source,target"]
    for pair in sorted(ends):
        if all(degree.get(end, 0) < 8 for end in pair):
            lines.append(f"{pair[0]},{pair[1]}")
            for end in pair:
                degree[end] = degree.get(end, 0) + 1
    (folder / "links.csv").write_text("\n".join(lines) + "\n")
