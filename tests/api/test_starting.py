"""`init` for every kind and every source: the policy is refused as it is, and passes a dry run once it is filled in."""

import json
import re
import sqlite3
import tomllib

import duckdb
import pyarrow as pa
import pytest
from pyarrow import csv, parquet

from crowdblend.api.starting import starter_policy
from crowdblend.errors import InvalidInput
from crowdblend.kinds import plan
from crowdblend.notation import TOML
from crowdblend.policies.load import parse_policy
from crowdblend.policies.registry import KINDS, publication_class
from crowdblend.sources.engines.choice import default_engine
from tests.cases import for_each, some_daily
from tests.commands import crowdblend
from tests.ledger.databases import execute, needs_postgresql
from tests.ledger.postgresql_server import server
from tests.refusals import refuses

_SECRET = "Zanzibar"
_TABLE = pa.table(
    {
        "person_id": [1, 2],
        "source": [1, 2],
        "target": [2, 1],
        "x": [0.5, 31337.5],
        "y": [0.5, 0.25],
        "place": [_SECRET, "b"],
        "born": ["1999-09-09", "2001-01-01"],
        "employed": [True, False],
    }
)
SOURCES = [
    *some_daily(["csv", "folder", "parquet", "duckdb", "sqlite"], 2),
    pytest.param("postgresql", marks=needs_postgresql),
]


def _source(kind, folder):
    """A source of a kind, and its table."""
    if kind == "csv":
        csv.write_csv(_TABLE, folder / "people.csv")
        return str(folder / "people.csv"), None
    if kind in ("folder", "parquet"):
        (folder / "parts").mkdir()
        parquet.write_table(_TABLE, folder / "parts" / "people.parquet")
        return str(folder / "parts" if kind == "folder" else folder / "parts" / "people.parquet"), None
    if kind == "duckdb":
        with duckdb.connect(str(folder / "people.duckdb")) as connection:
            connection.register("given", _TABLE)
            connection.execute("CREATE TABLE people AS SELECT * FROM given")
        return str(folder / "people.duckdb"), "people"
    rows = [tuple(row.values()) for row in _TABLE.to_pylist()]
    if kind == "sqlite":
        with sqlite3.connect(folder / "people.db") as database:
            database.execute(f"CREATE TABLE people ({', '.join(_TABLE.column_names)})")
            database.executemany("INSERT INTO people VALUES (?, ?, ?, ?, ?, ?, ?, ?)", rows)
        database.close()
        return f"sqlite:///{folder / 'people.db'}", "people"
    execute("DROP TABLE IF EXISTS starters")
    execute(
        "CREATE TABLE starters (person_id int, source int, target int, x float8, y float8, place text, born date, "
        "employed bool)"
    )
    return server(), "starters"


_GAPS = {
    r"values = \[\"FILL_IN\"\]": 'values = ["a", "b"]',
    r"breaks = \[\"FILL_IN\"\]": "breaks = [0, 10, 20]",
    r"breaks = \[(.+?), \"FILL_IN\", (.+?)\]": r"breaks = [\1, 40, \2]",
    r"date = \"FILL_IN\"": 'date = "year"',
    r"from = \"FILL_IN\"": "from = 0",
    r"to = \"FILL_IN\"": "to = 100",
    r"resolution = \"FILL_IN\"": "resolution = 0.5",
    r"width = \"FILL_IN\"": "width = 10",
    r"^people = \"FILL_IN\"": "people = 100000",
    r"^of = \"FILL_IN\"": "of = 100000",
    r"^samples = \"FILL_IN\"": "samples = 5000",
    r"^rate = \"FILL_IN\"": "rate = 0.2",
    r"^limit = \"FILL_IN\"": "limit = 100",
    r"^degree_bound = \"FILL_IN\"": "degree_bound = 50",
    r"^name = \"FILL_IN\"": 'name = "average-degree"',
    r"count = \{ (\w+) = \"FILL_IN\" \}": r'count = { \1 = "[0, 10)" }',
}


def _filled(text, kind):
    """The policy with every gap filled, as a steward would; what an open domain cannot do is left out."""
    lines = []
    for line in text.splitlines():
        filled = line.partition("   #")[0]
        for gap, filling in _GAPS.items():
            filled = re.sub(gap, filling, filled)
        lines.append(filled)
    filled = "\n".join(lines)
    if kind in ("synopsis", "statistics", "synthetic", "outlier-table"):
        filled = filled.replace('date = "year" }', 'date = "year", from = 1900-01-01, to = 2030-01-01 }')
    return filled


@for_each("kind", KINDS)
@pytest.mark.parametrize("source", SOURCES)
def test_every_kind_from_every_source(kind, source, tmp_path):
    where, table = _source(source, tmp_path)
    design = next(iter(publication_class(kind).designs), None)
    text = starter_policy(where, table=table, kind=kind, design=design, folder=tmp_path)
    for value in (_SECRET, "31337", "1999", "2001"):
        assert value not in text
    parts = tomllib.loads(text)
    if kind != "graph":
        assert parts["data"]["person"] == "person_id"
    with refuses("policy.placeholder"):
        parse_policy(text, tmp_path)
    filled = _filled(text, kind)
    policy = parse_policy(_with_first_label(filled), tmp_path)
    assert policy.kind == kind
    plan(policy).check_source(default_engine())


def _with_first_label(text):
    """The count of statistics, of a label that its column has."""
    found = re.search(r"count = \{ (\w+) = ", text)
    if found is None:
        return text
    declared = re.search(rf"^{found[1]} = (.*)$", text.partition("[columns]")[2], re.MULTILINE)
    assert declared is not None
    label = "a" if "values" in declared[1] else "0–9" if "whole" in declared[1] else "[0, 10)"
    return re.sub(r"(count = \{ \w+ = )\"[^\"]*\"", rf'\1"{label}"', text)


def test_types_choose_the_domains(tmp_path):
    where, table = _source("duckdb", tmp_path)
    columns = tomllib.loads(starter_policy(where, table=table, kind="table", design="poisson", folder=tmp_path))[
        "columns"
    ]
    ways = {name: next(iter(domain)) for name, domain in columns.items()}
    assert ways == {
        **dict.fromkeys(("source", "target", "x", "y"), "breaks"),
        **{"place": "values", "born": "date", "employed": "values"},
    }
    assert columns["employed"]["values"] == [True, False]


_BOOK = "variable;code;label\nplace;a;A place\nplace;b;Another\nsource;1;one\n"
_RANGES = "column,from,to\nx,0,100\n"
_SCHEMA = {
    "resources": [
        {
            "schema": {
                "fields": [
                    {"name": "place", "type": "string", "constraints": {"enum": ["a", "b"]}},
                    {"name": "source", "type": "integer", "categories": [{"value": 1, "label": "one"}, 2]},
                    {"name": "x", "type": "integer", "constraints": {"minimum": 0, "maximum": 100}},
                    {"name": "y", "type": "number", "constraints": {"minimum": 0, "maximum": 1.5}},
                    {"name": "born", "type": "date", "constraints": {"minimum": "1900-01-01", "maximum": "2020-12-31"}},
                    {"name": "employed", "type": "boolean"},
                ]
            }
        }
    ]
}


def test_a_code_book_gives_the_domains(tmp_path):
    where, _ = _source("csv", tmp_path)
    (tmp_path / "book.csv").write_text(_BOOK, encoding="utf-8")
    (tmp_path / "ranges.csv").write_text(_RANGES, encoding="utf-8")
    (tmp_path / "datapackage.json").write_text(json.dumps(_SCHEMA), encoding="utf-8")

    def columns(book):
        text = starter_policy(where, codebook=tmp_path / book, kind="table", design="poisson", folder=tmp_path)
        return tomllib.loads(text)["columns"], text

    assert columns("book.csv")[0]["place"] == {"values": ["a", "b"]}
    assert columns("ranges.csv")[0]["x"] == {"breaks": [0, "FILL_IN", 100], "top": True}  # it has fractions
    assert columns("datapackage.json")[0]["x"] == {"breaks": [0, "FILL_IN", 101], "whole": True}
    found, text = columns("datapackage.json")
    assert found["source"] == {"values": ["1", "2"]}
    assert found["y"] == {"breaks": [0, "FILL_IN", 1.5], "top": True}
    assert found["employed"] == {"values": [True, False]}
    assert found["born"]["include_to"] is True
    text = text.replace('[0, "FILL_IN", 1.5]', "[0, 1, 1.5]")
    policy = parse_policy(_filled(text, "table"), tmp_path)
    assert policy.columns[2].recoding.labels == ("0–39", "40–100")


@for_each(
    ("content", "remedy"),
    [("a,b\n1,2\n", "Name them so."), ("{}", "Frictionless"), ("{", "Frictionless"), (None, "Check the path.")],
)
def test_a_code_book_that_is_none(tmp_path, content, remedy):
    where, _ = _source("csv", tmp_path)
    if content is not None:
        (tmp_path / "book").write_text(content, encoding="utf-8")
    with pytest.raises(InvalidInput) as caught:
        starter_policy(where, codebook=tmp_path / "book", design="poisson")
    assert (caught.value.code, remedy in caught.value.remedy) == ("init.codebook", True)


@for_each(
    ("names", "person"),
    [
        ("age,respondent_id,x", "respondent_id"),
        ("age,PatientID,x", "PatientID"),
        ("age,pid", "pid"),
        ("idea,width,grid", None),
        ("age,household", None),
    ],
)
def test_the_person_is_proposed_by_name(tmp_path, names, person):
    (tmp_path / "p.csv").write_text(names + "\n" + ",".join("1" * len(names.split(","))) + "\n", encoding="utf-8")
    assert tomllib.loads(starter_policy(str(tmp_path / "p.csv"), design="poisson"))["data"]["person"] == (
        person or "FILL_IN"
    )


def test_a_latin_file_is_started_with_its_encoding(tmp_path):
    (tmp_path / "p.csv").write_bytes("id;Größe\n1;2\n".encode("cp1252"))
    with pytest.raises(InvalidInput) as caught:
        starter_policy(str(tmp_path / "p.csv"))
    assert caught.value.in_notation(TOML).remedy.startswith("Pass --encoding, such as cp1252")
    text = starter_policy(str(tmp_path / "p.csv"), design="poisson", encoding="cp1252")
    parts = tomllib.loads(text)
    assert (parts["data"]["encoding"], parts["data"]["delimiter"], list(parts["columns"])) == ("cp1252", ";", ["Größe"])


def test_the_command_and_its_dry_run(tmp_path):
    _source("csv", tmp_path)

    def run(*arguments):
        return crowdblend(*arguments, folder=tmp_path)

    assert run("init", "people.csv", "--out", "policy.toml", "--kind", "microdata", "--design", "poisson")[0] == 0
    assert run("release", "policy.toml", "--dry-run")[0] == 2
    (tmp_path / "policy.toml").write_text(_filled((tmp_path / "policy.toml").read_text(), "microdata"))
    status, _, told = run("release", "policy.toml", "--dry-run")
    assert status == 0, told
    assert run("init", "people.csv", "--table", "t", "--out", "-")[0] == 2
