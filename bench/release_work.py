"""What bench/release.py measures: made-up people and points, policies, and bare queries of the same recodings."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

REGIONS = [f"Region {i:02d}" for i in range(20)]
LEVELS = [f"Education level {i}" for i in range(10)]
PEOPLE = """COPY (SELECT (i * 2654435761) % {rows} + 1000000 AS person_id,
    (i * 2654435761) % 4294967291 AS scattered_id,
    {text} AS person_text,
    CASE WHEN hash(i) % 2 = 0 THEN 'Female' ELSE 'Male' END AS sex,
    'Region ' || lpad(CAST(hash(i + 1) % 20 AS VARCHAR), 2, '0') AS region,
    'Education level ' || CAST(hash(i + 2) % 10 AS VARCHAR) AS education,
    CAST(hash(i + 3) % 100 AS INTEGER) AS age,
    round(least(199999, -20000 * ln((1 + hash(i + 4) % 1000000) / 1000000 * (1 + hash(i + 5) % 1000000) / 1000000)), 2)
        AS income,
    DATE '2000-01-01' + CAST(hash(i + 6) % 1096 AS INTEGER) AS born
    FROM range({rows}) AS people(i)) TO '{file}' (FORMAT parquet)"""
TEXT = "format('P{:08d}-X', (i * 2654435761) % {rows})"
POINTS = """COPY (SELECT (i * 2654435761) % {rows} AS person_id,
    least(1000, greatest(0, 50 + hash(hash(i) % 1000) % 900 + sqrt(-2 * ln(a)) * cos(2 * pi() * b) * 15)) AS x,
    least(1000, greatest(0, 50 + hash(hash(i) % 1000 + 7777) % 900 + sqrt(-2 * ln(a)) * sin(2 * pi() * b) * 15)) AS y
    FROM (SELECT i, (1 + hash(i + 1) % 1000000) / 1000000 AS a, hash(i + 2) % 1000000 / 1000000 AS b
          FROM range({rows}) AS points(i))) TO '{file}' (FORMAT parquet)"""
HEAD = """
[data]
source = "{file}"
person = "{person}"
[sampling]
{sampling}
[privacy]
epsilon = 1.0
{privacy}
[columns]
{columns}
[[publish]]
kind = "{kind}"
"""
SEX, REGION = 'sex = { values = ["Female", "Male"] }', f"region = {{ values = {json.dumps(REGIONS)} }}"
EDUCATION = f"education = {{ values = {json.dumps(LEVELS)} }}"
AGE, COARSE_AGE = (f"age = {{ from = 0, to = 100, width = {width} }}" for width in (10, 25))
INCOME = "income = { breaks = [0, 15000, 30000, 50000, 80000, 200000] }"
BORN = 'born = { date = "year", from = 2000-01-01, to = 2003-01-01 }'
FINE = [SEX, REGION, EDUCATION, AGE, INCOME, BORN]  # 60,000 classes
COARSE = [SEX, REGION, EDUCATION, COARSE_AGE]  # 1,600 classes
AXES = [f"{name} = {{ from = 0, to = 1000, width = 10, resolution = 1 }}" for name in "xy"]
MEASURED = [SEX, REGION, EDUCATION, AGE, 'income = { from = 0, to = 200000, resolution = 10, outside = "clamp" }']
STATISTICS = [
    *(f'average = "{name}"' for name in ("income", "age")),
    *(f'histogram = "{name}"' for name in ("sex", "region", "education", "age")),
    *(f'fraction = {{ sex = "{sex}", region = "{region}" }}' for sex in ("Female", "Male") for region in REGIONS),
    *(f'count = {{ education = "{level}", age = "[20, 30)" }}' for level in LEVELS[:4]),
]
ON_SPARK = ("--engine", "spark")
# The cells of FINE in Spark's own SQL.
INCOME_ON_SPARK = "CASE WHEN income < 15000 THEN 0 WHEN income < 30000 THEN 1 WHEN income < 50000 THEN 2 "
INCOME_ON_SPARK += "WHEN income < 80000 THEN 3 ELSE 4 END"
BARE_ON_SPARK = f"""SELECT sex, region, education, floor(age / 10) AS decade, {INCOME_ON_SPARK} AS earned,
    year(born) AS year, count(*) AS n FROM parquet.`{{file}}` GROUP BY ALL"""
TEN = (
    *("sex region", "sex education", "sex age", "region education", "region age", "education age"),
    *("sex region age", "income sex", "born sex", "income region"),
)


@dataclass(frozen=True)
class Work:
    """A release to measure: its rows and policy, and the most that is wanted of its ratios to the bare query."""

    rows: int
    columns: list[str]
    kind: str = "table"
    rate: float | None = 0.5
    person: str = "person_id"
    cpu: float | None = None
    wall: float | None = None
    seconds: float | None = None
    """The most CPU seconds that are wanted, where no ratio is."""
    options: tuple[str, ...] = ()
    """What is said on the command line beside the policy."""
    tables: tuple[str, ...] = ()
    """The columns of the tables of a register, where several are published."""

    @property
    def on_spark(self) -> bool:
        """Whether Spark reads the data."""
        return self.options == ON_SPARK

    @property
    def points(self) -> bool:
        """Whether people are points."""
        return self.kind == "points"

    @property
    def file(self) -> str:
        """The name of its data."""
        return f"{'points' if self.points else 'people'}-{self.rows}.parquet"

    def generate(self, folder: Path) -> str:
        """The query that makes its data."""
        # Texts only where they are read: a hundred million of them are two gigabytes.
        text = TEXT.replace("{rows}", str(self.rows)) if self.rows <= 10**7 else "NULL::INTEGER"
        return (POINTS if self.points else PEOPLE).format(rows=self.rows, text=text, file=folder / self.file)

    def policy(self) -> str:
        """The policy as text."""
        sampling, privacy, own = f'design = "poisson"\nrate = {self.rate}', "delta = 1e-6", ""
        if self.kind == "statistics":
            sampling, privacy = f'design = "survey"\npeople = {self.rows // 100}\nof = {self.rows}', ""
            own = "".join(f'[[publish.statistics]]\nname = "s{at}"\n{what}\n' for at, what in enumerate(STATISTICS))
        if self.points:
            sampling, own = 'design = "coins"\nrate = 0.1', "k = 20\nnoise_epsilon = 1.5\n"
        if self.tables:
            sampling, privacy = 'design = "everybody"', 'split = "budget"'
            each = [f'name = "t{at}"\ncolumns = {json.dumps(names.split())}\n' for at, names in enumerate(self.tables)]
            own = '[[publish]]\nkind = "table"\n'.join(each)
        said = {"sampling": sampling, "privacy": privacy, "columns": "\n".join(self.columns), "kind": self.kind}
        return HEAD.format(file=self.file, person=self.person, **said) + own

    def bare(self, folder: Path) -> str:
        """The same recoding in SQL, of everybody: it neither draws nor looks at persons."""
        if self.on_spark:
            return BARE_ON_SPARK.format(file=folder / self.file)
        from crowdblend.methods.recoding.axes import Axis  # noqa: PLC0415
        from crowdblend.methods.recoding.classes import ComputedRecoding, Lookup  # noqa: PLC0415
        from crowdblend.methods.recoding.intervals import Intervals  # noqa: PLC0415
        from crowdblend.policies.load import parse_policy  # noqa: PLC0415 - heavy, and the measuring process stays small

        codes, joins = [], []
        policy: Any = parse_policy(replace(self, tables=()).policy(), folder).only
        measures = policy.measures if self.kind == "statistics" else {}
        sums = [f"sum({bounded.sql(name, typed=True)})" for name, bounded in measures.items()]
        for at, column in enumerate(one for one in policy.columns if one.recodings):
            recoding = column.recoding
            if isinstance(recoding, Axis):
                recoding = Intervals(0, 1000, 10, include_stop=True)
            if isinstance(recoding, Lookup):
                values = ", ".join(f"('{value}', {code})" for value, code in recoding.lookup.items())
                joins.append(f"LEFT JOIN (VALUES {values}) AS t{at}(value, code) ON {column.name} = t{at}.value")
                codes.append(f"t{at}.code")
            elif isinstance(recoding, ComputedRecoding):
                codes.append(recoding.sql(column.name, typed=True))
        chosen = [f"{code} AS c{at}" for at, code in enumerate(codes)]
        chosen += ["count(*) AS n", *sums]
        source = f"read_parquet('{folder / self.file}') {' '.join(joins)}"
        return f"SELECT {', '.join(chosen)} FROM {source} GROUP BY {', '.join(f'c{at}' for at in range(len(codes)))}"


M = 10**6
WORK: dict[str, Work] = {
    "table, 1,000 rows": Work(1000, COARSE, seconds=0.5),
    "table, 1M rows, 60,000 cells": Work(M, FINE),
    "table, 10M rows, 60,000 cells": Work(10 * M, FINE, cpu=1.3, wall=1.5),
    "table, 10M rows, 1,600 cells": Work(10 * M, COARSE, cpu=1.7, wall=1.9),
    "table, 10M rows, text ids": Work(10 * M, FINE, person="person_text", cpu=1.4, wall=1.6),
    "table, 10M rows, text ids, rate 0.1": Work(10 * M, FINE, rate=0.1, person="person_text", cpu=1.1, wall=1.3),
    "points, 10M": Work(10 * M, AXES, kind="points", cpu=2.2, wall=2.5),
    "register, 10M rows, ten tables": Work(10 * M, FINE, tables=TEN, cpu=1.5, wall=1.7),
    "table, 100M rows": Work(100 * M, FINE, cpu=1.0, wall=1.1),
    "table, 300M rows": Work(300 * M, FINE),
    "table, 100M rows, rate 0.1": Work(100 * M, FINE, rate=0.1, cpu=0.85, wall=1.0),
    "microdata, 100M rows": Work(100 * M, FINE, kind="microdata", cpu=1.2, wall=1.4),
    "50 statistics, 100M rows with names": Work(
        100 * M, MEASURED, kind="statistics", person="scattered_id", cpu=1.05, wall=1.2
    ),
}
WORK |= {
    f"table, {millions}M rows, on Spark": Work(millions * M, FINE, options=ON_SPARK) for millions in (1, 10, 100, 300)
}


def growth(on: tuple[str, ...] = ()) -> list[str]:
    """The works that are one table, of more and more rows."""
    alike = Work(0, FINE, options=on)
    return [name for name, work in WORK.items() if replace(work, rows=0, cpu=None, wall=None) == alike]
