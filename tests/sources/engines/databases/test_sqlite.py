"""SQLite as a source, which needs no driver."""

import sqlite3

import duckdb
import pytest

import crowdblend as cb
from crowdblend.errors import InvalidInput
from crowdblend.ledger.identity import FingerprintRequest
from crowdblend.methods.designs.draw import Everybody
from crowdblend.policies.load import parse_policy
from crowdblend.policies.resources import Resources
from crowdblend.sources.engines.choice import count_classes, default_engine, identify
from tests.cases import for_each
from tests.sources.engines.databases.people import in_parquet, policy, rows


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "people.sqlite"
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE people (id, sex, age, pay, share, born, note)")
        people = [(r["id"], r["sex"], r["age"], float(r["pay"]), r["share"], str(r["born"]), r["note"]) for r in rows()]
        connection.executemany("INSERT INTO people VALUES (?, ?, ?, ?, ?, ?, ?)", people)
    connection.close()
    return path


def _counts(one):
    classes = count_classes(one, Everybody()).classes
    return classes.labels, classes.codes.tolist(), classes.counts.tolist()


def test_counts_and_identity_are_those_of_parquet(file, tmp_path):
    plain = policy(in_parquet(tmp_path, rows()))
    wanted = FingerprintRequest(secret=b"s" * 32)
    sketches = identify(plain.data, Resources(), wanted).sketches
    for source, more in ((f"sqlite:///{file}", {"table": "people"}), (str(file), {"query": "SELECT * FROM people"})):
        there = policy(source, **more)
        assert _counts(there) == _counts(plain)
        assert identify(there.data, Resources(), wanted).sketches == sketches


def test_a_relative_address_lies_beside_the_policy(file):
    text = policy("sqlite:///people.sqlite", table="people").to_toml()
    assert parse_policy(text, file.parent).data.source == f"sqlite:///{file}"


def test_types_are_those_of_all_values(tmp_path):
    with sqlite3.connect(tmp_path / "late.sqlite") as connection:
        connection.execute("CREATE TABLE t (id, a, b, c)")
        connection.executemany("INSERT INTO t VALUES (?, NULL, 1, 1)", [(n,) for n in range(3000)])
        connection.execute("INSERT INTO t VALUES (3000, 'x', 1.5, 'x'), (3001, 7, 2, 2)")
    connection.close()
    columns = {
        "a": cb.values("x", "7", missing="none"),
        "b": cb.intervals(0, 3, width=0.5),
        "c": cb.values("1", "2", "x"),
    }
    _, codes, counts = _counts(policy(str(tmp_path / "late.sqlite"), table="t", columns=columns))
    assert dict(zip(map(tuple, codes), counts, strict=True)) == {(0, 3, 2): 1, (1, 4, 1): 1, (2, 2, 0): 3000}


def test_fractions_beside_texts_are_refused_and_a_query_helps(tmp_path):
    with sqlite3.connect(tmp_path / "mixed.sqlite") as connection:
        connection.execute("CREATE TABLE t (id, a)")
        connection.execute("INSERT INTO t VALUES (1, 0.1), (2, 'x')")
    connection.close()
    columns = {"a": cb.values("0.1", "x")}
    with pytest.raises(InvalidInput) as caught:
        _counts(policy(str(tmp_path / "mixed.sqlite"), table="t", columns=columns))
    assert (caught.value.code, "query" in caught.value.remedy) == ("data.mixed-types", True)
    query = "SELECT id, CAST(a AS TEXT) AS a FROM t"
    assert _counts(policy(str(tmp_path / "mixed.sqlite"), query=query, columns=columns))[2] == [1, 1]


@pytest.mark.parametrize(
    ("more", "code"),
    [
        ({"table": "nobody"}, "data.table"),
        ({"query": "SELEC"}, "data.table"),
        ({"query": "DELETE FROM people"}, "data.table"),
        ({"table": "people", "person": "nobody"}, "data.missing-column"),
    ],
)
def test_refusals(file, more, code):
    with pytest.raises(InvalidInput) as caught:
        cb.release(None, policy(str(file), **more), ledger=None)
    assert (caught.value.code, bool(caught.value.remedy)) == (code, True)
    assert _counts(policy(str(file), table="people"))[2], "nothing was deleted"


def test_files_that_are_none(tmp_path):
    (tmp_path / "no.sqlite").write_text("id,sex\n1,F\n" * 200)
    for name, code in (("no.sqlite", "data.database"), ("absent.sqlite", "data.no-file")):
        with pytest.raises(InvalidInput) as caught:
            _counts(policy(str(tmp_path / name), table="people"))
        assert caught.value.code == code
    assert not (tmp_path / "absent.sqlite").exists()


@for_each(
    ("more", "where"),
    [
        ({"source": "a.sqlite"}, "table"),
        ({"source": "a.sqlite", "table": "t", "query": "SELECT 1"}, "table"),
        ({"source": "a.csv", "query": "SELECT 1"}, "query"),
        ({"source": "x://me:pw@h", "source_format": "postgres", "table": "t"}, "source"),
    ],
)
def test_policies_that_contradict_themselves(more, where):
    with pytest.raises(InvalidInput) as caught:
        policy(more.pop("source"), **more)
    assert caught.value.where == where


def test_a_query_of_a_duckdb_file_is_read_once(tmp_path):
    with duckdb.connect(str(tmp_path / "a.duckdb")) as connection:
        connection.execute("CREATE TABLE p AS SELECT range AS id, 'F' AS sex, 1 AS age, 5 AS pay FROM range(1000)")
    query = "SELECT * FROM p WHERE random() < 0.5"
    there = policy(str(tmp_path / "a.duckdb"), query=query)
    assert 0 < sum(_counts(there)[2]) < 1000
    done = cb.release(None, there, ledger=None)
    assert done.certificate is not None


def test_a_dry_run_does_not_run_the_query(file, tmp_path):
    with duckdb.connect(str(tmp_path / "a.duckdb")) as connection:
        connection.execute("CREATE TABLE p AS SELECT range AS id, 'F' AS sex, 1 AS age, 5 AS pay FROM range(10)")
    # Each fails where it is run.
    for source, table, pay in (
        (tmp_path / "a.duckdb", "p", "CAST('x' || id AS INTEGER)"),
        (file, "people", "abs(id * 0 - 9223372036854775807 - 1)"),
    ):
        there = policy(str(source), query=f"SELECT id, sex, age, {pay} AS pay FROM {table}")
        there.plan().check_source(default_engine())
        with pytest.raises(InvalidInput):
            _counts(there)
    with pytest.raises(InvalidInput, match="no column 'pay'"):
        policy(str(file), query="SELECT id, sex, age FROM people").plan().check_source(default_engine())


@pytest.mark.parametrize(
    "query",
    [
        "SELECT a AS id, 'F' AS sex, 1 AS age, 5 AS pay FROM read_csv('{other}', columns = {{'a': 'VARCHAR'}})",
        "SELECT content AS id, 'F' AS sex, 1 AS age, 5 AS pay FROM read_text('{other}')",
        "SELECT p.* FROM p, '{other}'",
        "SELECT p.* FROM p, glob('{other}')",
        "SELECT * FROM p) x) TO '{new}'; COPY (SELECT * FROM (SELECT * FROM p",
        "SELECT 1; SET enable_external_access = true; SELECT * FROM p",
    ],
)
def test_a_query_reads_and_writes_no_other_file(tmp_path, query):
    other, new = tmp_path / "other.csv", tmp_path / "new.csv"
    other.write_text("1\n2\n")
    with duckdb.connect(str(tmp_path / "a.duckdb")) as connection:
        connection.execute("CREATE TABLE p AS SELECT range AS id, 'F' AS sex, 1 AS age, 5 AS pay FROM range(1000)")
    there = policy(str(tmp_path / "a.duckdb"), query=query.format(other=other, new=new))
    for ask in (lambda: there.plan().check_source(default_engine()), lambda: cb.release(None, there, ledger=None)):
        with pytest.raises(InvalidInput) as caught:
            ask()
        assert caught.value.code in ("data.table", "data.database")
    assert not new.exists()
