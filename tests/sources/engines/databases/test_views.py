"""A file of a database comes from elsewhere with its views: whatever they say, no other file is read."""

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import duckdb
import pytest

from crowdblend.errors import InvalidInput
from crowdblend.methods.designs.draw import Everybody
from crowdblend.policies.source import DataSource
from crowdblend.sources.engines.choice import count_classes, default_engine
from crowdblend.sources.engines.databases import local_copy
from crowdblend.sources.engines.databases.sqlite import open_sqlite
from crowdblend.sources.engines.duckdb.database import small_database
from tests.commands import crowdblend
from tests.sources.engines.databases.people import policy

_ID = "SELECT range::INT AS id, {} AS sex, 1 AS age, 5 AS pay FROM range(1000)"
_VIEWS = {
    "a text": _ID.format("(SELECT content FROM read_text('{other}'))"),
    "bytes": _ID.format("(SELECT content::VARCHAR FROM read_blob('{other}'))"),
    "a list of files": _ID.format("(SELECT file FROM glob('{other}'))"),
    "a CSV file": "SELECT id::INT AS id, sex, 1 AS age, 5 AS pay FROM read_csv('{other}')",
    "a file by its name": "SELECT id::INT AS id, sex, 1 AS age, 5 AS pay FROM '{other}'",
    "a view of a view": "SELECT * FROM below",
}

_OFF = (
    *("autoinstall_known_extensions", "autoload_known_extensions"),
    *("allow_community_extensions", "allow_persistent_secrets"),
)


@pytest.fixture
def other(tmp_path: Path) -> Path:
    """Return a file that the steward can read and that is no part of the data."""
    path = tmp_path / "other" / "private.csv"
    path.parent.mkdir()
    path.write_text("id,sex\n" + "".join(f"{n},F\n" for n in range(1000)))
    return path


def _file(folder: Path, other: Path, view: str) -> Path:
    path = folder / "people.duckdb"
    with duckdb.connect(str(path)) as made:
        made.execute("CREATE TABLE plain AS SELECT range::INT AS id, 'F' AS sex, 1 AS age, 5 AS pay FROM range(1000)")
        made.execute(f"CREATE VIEW below AS {_VIEWS['a CSV file'].format(other=other)}")
        made.execute(f"CREATE VIEW people AS {view.format(other=other)}")
        made.execute("CREATE VIEW honest AS SELECT * FROM plain WHERE id < 900")
    return path


def _refused(ask: Callable[[], object]) -> None:
    with pytest.raises(InvalidInput) as caught:
        ask()
    assert (caught.value.code, bool(caught.value.remedy)) == ("data.table", True)
    assert "private" not in str(caught.value)


@pytest.mark.parametrize("view", _VIEWS.values(), ids=_VIEWS)
def test_a_view_of_a_duckdb_file_reads_no_other_file(tmp_path: Path, other: Path, view: str) -> None:
    file = _file(tmp_path, other, view)
    there = policy(str(file), table="people")
    _refused(lambda: count_classes(there, Everybody()))
    _refused(lambda: there.plan().check_source(default_engine()))
    _refused(lambda: local_copy.header_of(DataSource(str(file), "duckdb", table="people", rows_are_people=True)))
    for table, people in (("plain", 1000), ("honest", 900)):
        assert count_classes(policy(str(file), table=table), Everybody()).people == people


def test_no_command_reads_another_file_through_a_view(tmp_path: Path, other: Path) -> None:
    file = _file(tmp_path, other, _VIEWS["a text"])
    made = tmp_path / "policy.toml"
    policy(str(file), table="people").save(made)
    given, ledger = [str(file), "--table", "people"], ["--ledger", str(tmp_path / "ledger.db")]
    assert crowdblend("ledger", "init", ledger[1]).returncode == 0
    for command in (
        ["propose", *given, "--person", "id", "--labels", "sex", "--out", str(tmp_path / "proposal"), "--yes", *ledger],
        ["init", *given, "--design", "everybody"],
        ["check", str(made), "--out", str(tmp_path / "checked")],
        ["release", str(made), "--dry-run"],
        ["release", str(made), "--yes", *ledger],
    ):
        answered = crowdblend(*command, folder=tmp_path)
        said = answered.stdout + answered.stderr
        assert answered.returncode, command
        assert "Table 'people' cannot be read in this file." in said, command
        assert "private" not in said, command
    assert not (tmp_path / "proposal").exists()


def test_a_file_of_another_kind_is_not_opened_as_what_it_is(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "people.duckdb")) as made:
        made.execute("CREATE TABLE people AS SELECT 1 AS id, 'F' AS sex, 1 AS age, 5 AS pay")
        made.commit()
    with pytest.raises(InvalidInput) as caught:
        count_classes(policy(str(tmp_path / "people.duckdb"), table="people"), Everybody())
    assert caught.value.code == "data.database"


def test_no_extension_is_loaded_by_itself() -> None:
    with small_database() as connection:
        for setting in _OFF:
            assert connection.execute(f"SELECT current_setting('{setting}')").fetchall() == [(False,)], setting


def _sqlite(folder: Path, *statements: str) -> Path:
    path = folder / "people.sqlite"
    with closing(sqlite3.connect(path)) as made:
        made.execute("CREATE TABLE plain (id, sex, age, pay)")
        made.executemany("INSERT INTO plain VALUES (?, 'F', 1, 5)", [(n,) for n in range(1000)])
        for statement in statements:
            made.execute(statement)
        made.commit()
    return path


@pytest.mark.parametrize(
    ("sex", "where"),
    [
        ("lower('F')", "view, query"),
        ("(SELECT name FROM pragma_table_info('plain') LIMIT 1)", "query"),
        ("load_extension('/usr/lib/other.so')", ""),
        ("hex(fts3_tokenizer('simple'))", ""),
        ("(SELECT file FROM pragma_database_list)", ""),
        ("(SELECT busy FROM pragma_wal_checkpoint)", ""),
    ],
)
def test_nothing_in_a_sqlite_file_is_called_that_reaches_out(tmp_path: Path, sex: str, where: str) -> None:
    select = f"SELECT id, {sex} AS sex, age, pay FROM plain"
    file = _sqlite(tmp_path, f"CREATE VIEW people AS {select}")
    view = DataSource(str(file), "sqlite", table="people", rows_are_people=True)
    query = DataSource(str(file), "sqlite", query=select, rows_are_people=True)
    for data, name in ((view, "view"), (query, "query")):
        with open_sqlite(data) as opened:
            if name in where:
                assert opened.batches(opened.columns()).read_all().num_rows == 1000
            else:
                _refused(opened.columns)


def test_a_sqlite_file_is_read_and_nothing_else_is_done(tmp_path: Path) -> None:
    file = _sqlite(tmp_path)
    with open_sqlite(DataSource(str(file), "sqlite", table="plain", rows_are_people=True)) as opened:
        opened._connection.execute("PRAGMA page_size")
        attach = f"ATTACH '{tmp_path / 'new.db'}' AS new"
        for statement in (attach, "CREATE TEMP TABLE t (a)", "DELETE FROM plain", "PRAGMA page_size = 512"):
            with pytest.raises(sqlite3.DatabaseError, match=r"not authorized|prohibited"):
                opened._connection.execute(statement)
    assert not (tmp_path / "new.db").exists()


def test_a_table_for_searching_texts_is_read(tmp_path: Path) -> None:
    insert = "INSERT INTO people SELECT * FROM plain"
    file = _sqlite(tmp_path, "CREATE VIRTUAL TABLE people USING fts5 (id, sex, age, pay)", insert)
    with open_sqlite(DataSource(str(file), "sqlite", table="people", rows_are_people=True)) as opened:
        assert opened.batches(opened.columns()).read_all().num_rows == 1000
