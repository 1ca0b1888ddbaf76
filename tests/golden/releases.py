"""One release of every kind, with a fixed key and made-up people: the same bytes for ever."""

import random
from pathlib import Path

import pyarrow as pa
from pyarrow import csv, parquet

from crowdblend.lab.demo import write_population

KEY = bytes(range(100, 132))
PEOPLE = 8_000
DISTRICTS = ("Harbour", "Old Town", "Riverside", "Hillside", "Station", "Garden City", "University", "Mills")

_TOWN = '[data]\nsource = "town.parquet"\nperson = "person_id"\n'
_EXACTLY = _TOWN + f'[sampling]\ndesign = "survey"\npeople = 2000\nof = {PEOPLE}\n'
_DRAW = '[sampling]\ndesign = "poisson"\nrate = 0.5\n'
_EVERYBODY = '[sampling]\ndesign = "everybody"\n'
_SEX = 'sex = { values = ["female", "male"] }\n'
_DISTRICT = f"district = {{ values = {list(DISTRICTS)} }}\n"
_COLUMNS = f"[columns]\n{_SEX}age = {{ from = 0, to = 90, width = 10, top = true }}\n{_DISTRICT}"
_LEVELS = _COLUMNS.replace("width = 10", "width = [10, 30, 90]")
_PROMISE = "[privacy]\nepsilon = 1.0\ndelta = 1e-6\n"
_TABLE = _PROMISE + '[[publish]]\nkind = "table"\n'
_NOISE = _TABLE + 'below_k = "noise"\n'

POLICIES = {
    "table": _TOWN + _DRAW + _COLUMNS + _TABLE,
    "table-drawn": _TOWN + _DRAW.replace("poisson", "coins") + _COLUMNS + _TABLE,
    "table-rows": _TOWN.replace('person = "person_id"', "rows_are_people = true") + _DRAW + _COLUMNS + _TABLE,
    "table-text": _TOWN.replace("town.parquet", "town.csv").replace("person_id", "name") + _DRAW + _COLUMNS + _TABLE,
    "table-one": _TOWN.replace("town.parquet", "twice.csv") + 'duplicates = "one"\n' + _DRAW + _COLUMNS + _TABLE,
    "table-open": _TOWN + _DRAW + "[columns]\ndistrict = { prefix = 3 }\nsex = { prefix = 1 }\n" + _TABLE,
    "table-noise": _TOWN + _DRAW + _COLUMNS + _NOISE,
    "table-flag": _TOWN + _DRAW + _COLUMNS + _NOISE + "flag = true\n",
    "table-threshold": _TOWN
    + _EVERYBODY
    + "[columns]\ndistrict = { prefix = 100 }\nage = { prefix = 2 }\n"
    + _TABLE
    + 'below_k = "threshold"\n',
    "table-threshold-drawn": _TOWN
    + _DRAW
    + "[columns]\ndistrict = { prefix = 100 }\nage = { prefix = 2 }\n"
    + _TABLE
    + 'below_k = "threshold"\n',
    "table-register": _TOWN + _EVERYBODY + _COLUMNS + '[privacy]\nepsilon = 1.0\n[[publish]]\nkind = "table"\n',
    "table-visits": _TOWN.replace("town.parquet", "twice.csv")
    + "rows_per_person = 2\n"
    + _EVERYBODY
    + _COLUMNS
    + '[privacy]\nepsilon = 1.0\n[[publish]]\nkind = "table"\n',
    "microdata-visits": _TOWN.replace("town.parquet", "twice.csv")
    + "rows_per_person = 2\n"
    + _DRAW
    + _COLUMNS
    + _PROMISE
    + '[[publish]]\nkind = "microdata"\n',
    "table-biased": _TOWN
    + '[sampling]\ndesign = "biased"\nrate = 0.1\nlow = 0.08\nhigh = 0.12\nexceptions = 3\n'
    + _COLUMNS
    + '[privacy]\nepsilon = 2.0\ndelta = 1e-4\n[[publish]]\nkind = "table"\n',
    "table-population": _TOWN + _DRAW + _LEVELS + '[recoding]\nepsilon = 0.1\nusing = "population"\n' + _TABLE,
    "table-split": _TOWN + _DRAW + _LEVELS + '[recoding]\nepsilon = 0.1\nusing = "split"\n' + _TABLE,
    "microdata": _TOWN + _DRAW + _COLUMNS + _PROMISE + '[[publish]]\nkind = "microdata"\n',
    "points": _TOWN
    + _DRAW
    + f"[columns]\n{_SEX}income = {{ from = 0, to = 200000, resolution = 1000, "
    + 'width = 20000, outside = "drop" }\n[privacy]\nepsilon = 1.0\n'
    + '[[publish]]\nkind = "points"\nk = 60\nnoise_epsilon = 1.0\n',
    "outlier-table": _TOWN
    + _EVERYBODY
    + _COLUMNS
    + '[privacy]\nepsilon = 0.5\ndelta = 1e-5\n[[publish]]\nkind = "outlier-table"\nlimit = 100\n',
    "statistics": _EXACTLY
    + f"[columns]\n{_SEX}{_DISTRICT}"
    + 'income = { from = 0, to = 200000, resolution = 100, outside = "clamp", blank = 0 }\n'
    + '[privacy]\nepsilon = 1.0\n[[publish]]\nkind = "statistics"\n'
    + '[[publish.statistics]]\nname = "women"\nfraction = { sex = "female" }\n'
    + '[[publish.statistics]]\nname = "income"\naverage = "income"\n'
    + '[[publish.statistics]]\nname = "districts"\nhistogram = "district"\n',
    "statistics-rows": _EXACTLY.replace('person = "person_id"', "rows_are_people = true")
    + f"[columns]\n{_SEX}"
    + '[privacy]\nepsilon = 1.0\n[[publish]]\nkind = "statistics"\n'
    + '[[publish.statistics]]\nname = "women"\ncount = { sex = "female" }\n',
    "synopsis": _EXACTLY.replace("people = 2000", "people = 6000")
    + _COLUMNS
    + '[privacy]\nepsilon = 2.0\n[[publish]]\nkind = "synopsis"\nconjunctions = 2\n',
    "synopsis-chosen": _EXACTLY
    + f"[columns]\n{_SEX}[privacy]\nepsilon = 3.0\n"
    + '[[publish]]\nkind = "synopsis"\nconjunctions = 1\nmechanism = "exponential"\nrows = 1\n',
    "synthetic": _TOWN
    + _EVERYBODY
    + _COLUMNS
    + _PROMISE
    + '[[publish]]\nkind = "synthetic"\nrows = 500\ntables = ["sex * age", "age * district"]\n',
    "graph": '[data]\nsource = "links.csv"\n[privacy]\nepsilon = 8.0\n'
    + '[[publish]]\nkind = "graph"\npeople = 3000\ndegree_bound = 8\n'
    + '[[publish.statistics]]\nname = "connectivity"\nsamples = 1400\n'
    + '[[publish.statistics]]\nname = "average-degree"\nsamples = 1400\n',
    "graph-degrees": '[data]\nsource = "links.csv"\n[privacy]\nepsilon = 2.0\n'
    + '[[publish]]\nkind = "graph"\npeople = 3000\ndegree_bound = 8\n'
    + '[[publish.statistics]]\nname = "degrees"\nbreaks = [1, 2, 4]\nsamples = 1400\n',
}

_PARTS = (
    '[[publish]]\nkind = "table"\nname = "by_age"\ncolumns = ["age", "sex"]\n{0}'
    '[[publish]]\nkind = "microdata"\nname = "people"\ncolumns = ["sex", "district"]\n{1}'
)
_INCOME = 'income = { from = 0, to = 200000, resolution = 100, outside = "clamp", blank = 0 }\n'
_MORE = (
    '[[publish]]\nkind = "table"\nname = "districts"\ncolumns = ["district"]\nbelow_k = "noise"\nshare = 0.1\n'
    '[[publish]]\nkind = "outlier-table"\nname = "outliers"\ncolumns = ["sex"]\nlimit = 60\nshare = 0.1\n'
    '[[publish]]\nkind = "statistics"\nname = "incomes"\nshare = 0.1\n'
    '[[publish.statistics]]\nname = "median"\nmedian = "income"\nby = ["sex"]\n'
    '[[publish.statistics]]\nname = "women"\ncount = { sex = "female" }\n'
)
PROGRAMMES = {
    "programme-people": _TOWN
    + f"people = {PEOPLE}\n"
    + _DRAW
    + _COLUMNS
    + _INCOME
    + _PROMISE
    + 'split = "people"\n'
    + _PARTS.format("share = 0.3\n", "share = 0.4\n")
    + _MORE,
    "programme-choose": _TOWN
    + _DRAW
    + _LEVELS
    + '[recoding]\nepsilon = 0.5\nusing = "split"\n'
    + _PROMISE
    + _PARTS.format("share = 0.5\n", "share = 0.4\n"),
    "programme-drawn": _TOWN
    + _DRAW.replace("poisson", "coins")
    + _COLUMNS
    + _PROMISE
    + _PARTS.format("share = 0.4\n", "share = 0.5\n"),
    "programme-fresh": _TOWN + _DRAW + _COLUMNS + _PROMISE + 'split = "fresh"\n' + _PARTS.format("", ""),
    "programme-years": _TOWN + _DRAW + _COLUMNS + _PROMISE + "releases = 3\n" + _PARTS.format("share = 0.4\n", ""),
    "programme-budget": _TOWN
    + _DRAW
    + _COLUMNS
    + _PROMISE
    + 'split = "budget"\n'
    + _PARTS.replace("microdata", "table").format('below_k = "noise"\n', 'below_k = "noise"\n'),
    "programme-threshold": _TOWN
    + _EVERYBODY
    + _COLUMNS
    + _PROMISE
    + _PARTS.replace("microdata", "table").format('below_k = "threshold"\n', ""),
    "programme-gaussian": _TOWN
    + _EVERYBODY
    + _COLUMNS
    + _PROMISE
    + "".join(
        f'[[publish]]\nkind = "table"\nname = "t{number}"\ncolumns = {columns}\n'
        for number, columns in enumerate(
            [["sex"], ["age"], ["district"], ["sex", "age"], ["sex", "district"], ["age", "district"]] * 3
        )
    ),
    "programme-strata": _TOWN
    + '[sampling]\ndesign = "strata"\ncolumn = "sex"\nrates = { female = 0.3, male = 0.5 }\n'
    + _COLUMNS
    + _PROMISE
    + 'split = "people"\n[[publish]]\nkind = "microdata"\nname = "people"\ncolumns = ["sex", "age"]\nshare = 0.5\n'
    + '[[publish]]\nkind = "table"\nname = "by_district"\ncolumns = ["sex", "district"]\nshare = 0.4\n'
    + 'below_k = "noise"\n',
    "programme-register": _TOWN
    + _EVERYBODY
    + _COLUMNS
    + "[privacy]\nepsilon = 1.0\n"
    + _PARTS.replace("microdata", "table").format("weight = 2\n", ""),
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
