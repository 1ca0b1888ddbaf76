"""Databases as sources: chosen by address, never with a password, and never anything that is not on the list."""

import re
import signal
import socket
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any, NoReturn

import duckdb
import httpx
import pyarrow as pa
import pytest
from pyarrow import parquet

import crowdblend as cb
from crowdblend.policies.header import MOST_COLUMNS
from crowdblend.policies.starter import init_policy
from crowdblend.sources.engines.databases import local_copy
from crowdblend.studio.model.choices import policy_of
from crowdblend.studio.pages.data import file_header
from tests.ledger.databases import execute, needs_postgresql
from tests.ledger.postgresql_server import server
from tests.refusals import refuses
from tests.studio.conftest import FROM_PAGE, Visitor
from tests.studio.running import running

COLUMNS = {"sex": cb.values("F", "M")}


@pytest.fixture
def people(root: Path) -> Path:
    """A SQLite file with two tables under the root."""
    path = root / "people.db"
    with closing(sqlite3.connect(path)) as made:
        made.execute("CREATE TABLE aside (note TEXT)")
        made.execute("CREATE TABLE people (id INTEGER, sex TEXT, born DATE, pay REAL)")
        made.execute("INSERT INTO people VALUES (1, 'Xyzzy', '1990-01-01', 2.5)")
        made.commit()
    return path


def _chosen(visitor: Visitor, **sent: str) -> str:
    number = visitor.draft(source=None)
    answer = visitor.send(f"/drafts/{number}/source", sent)
    assert answer.status_code == 303, answer.text
    visitor.send(f"/drafts/{number}/data", {"data:person": "id", "data:population": "town"})
    visitor.send(f"/drafts/{number}/columns", {"place": "1", "way": "values", "key:values": "F\nM"})
    return number


def _in_python(source: str, **more: Any) -> cb.Policy:
    given = {"person": "id", "population": "town", "columns": COLUMNS, "sampling": cb.Poisson(0.5)}
    return cb.Policy(source=source, **more, **given, epsilon=1, delta=1e-6, publish=cb.Table())


def test_a_sqlite_file_by_its_address(visitor: Visitor, people: Path, root: Path) -> None:
    number = _chosen(visitor, address="sqlite:///people.db", table="people")
    draft = visitor.studio.drafts.get(number)
    assert draft.columns == (("id", "whole"), ("sex", "text"), ("born", "date"), ("pay", "number"))
    assert policy_of(draft.choices, root) == _in_python(f"sqlite:///{people}", table="people")
    pages = [visitor.get(f"/drafts/{number}/{step}").text for step in ("data", "columns", "publish")]
    assert "What would happen" in pages[-1]
    assert not any("Xyzzy" in page for page in pages)
    by_query = _chosen(visitor, address="sqlite:///people.db", query="SELECT id, sex FROM people")
    made = policy_of(visitor.studio.drafts.get(by_query).choices, root)
    assert made == _in_python(f"sqlite:///{people}", query="SELECT id, sex FROM people")
    made.save(root / "policy.toml")
    opened = visitor.send("/drafts", {"policy": "policy.toml"}).headers["location"].split("/")[2]
    assert visitor.studio.drafts.get(opened).names == ("id", "sex")


def test_the_tables_of_a_sqlite_file_are_offered(visitor: Visitor, people: Path, root: Path) -> None:
    people.rename(root / "people.sqlite")
    number = visitor.draft(source="people.sqlite")
    assert visitor.studio.drafts.get(number).names == ("note",)
    assert "<bdi>people</bdi>" in visitor.get(f"/drafts/{number}/data").text
    visitor.send(f"/drafts/{number}/source", {"source": "people.sqlite", "table": "people"})
    assert "born" in visitor.studio.drafts.get(number).names


@pytest.mark.parametrize("query", ["DELETE FROM people", "SELECT 1; ATTACH 'x.db' AS x", "SELECT load_extension('x')"])
def test_a_query_only_reads(visitor: Visitor, people: Path, root: Path, query: str) -> None:
    number = visitor.draft(source=None)
    answer = visitor.send(f"/drafts/{number}/source", {"address": "sqlite:///people.db", "query": query})
    assert answer.status_code == 409
    assert not (root / "x.db").exists()
    assert file_header(people.rename(root / "p.sqlite"), "people", None).columns


def test_a_view_of_a_duckdb_file_shows_no_file_outside_the_root(visitor: Visitor, root: Path) -> None:
    outside = root.parent / "outside.csv"
    outside.write_text("id,sex\n1,Xyzzy\n")
    with duckdb.connect(str(root / "people.duckdb")) as made:
        made.execute(f"CREATE VIEW people AS SELECT id, sex FROM read_csv('{outside}')")
        made.execute("CREATE TABLE plain AS SELECT 1 AS id, 'F' AS sex")
    number = visitor.draft(source=None)
    answer = visitor.send(f"/drafts/{number}/source", {"source": "people.duckdb", "table": "people"})
    assert (answer.status_code, "cannot be read in this file" in answer.text) == (409, True)
    saved = _in_python("people.duckdb", table="people")
    saved.save(root / "policy.toml")
    opened = visitor.send("/drafts", {"policy": "policy.toml"})
    assert opened.status_code == 409 or "Xyzzy" not in visitor.get(opened.headers["location"]).text
    assert visitor.send(f"/drafts/{number}/source", {"source": "people.duckdb", "table": "plain"}).status_code == 303


@needs_postgresql
def test_a_table_of_postgresql(visitor: Visitor, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    execute("DROP SCHEMA IF EXISTS studio CASCADE", "CREATE SCHEMA studio")
    execute("CREATE TABLE studio.people (id int, sex text, born date)")
    # Where the server is comes from libpq's own variables, as a password would.
    monkeypatch.setenv("PGHOST", server().partition("host=")[2])
    address = "postgresql://postgres@/postgres"
    number = _chosen(visitor, address=address, table="studio.people")
    draft = visitor.studio.drafts.get(number)
    assert draft.columns == (("id", "whole"), ("sex", "text"), ("born", "date"))
    assert policy_of(draft.choices, root) == _in_python(address, table="studio.people")
    assert "What would happen" in visitor.get(f"/drafts/{number}/publish").text
    assert "studio.people" in local_copy.tables_of(address, "postgres")
    missing = visitor.send(f"/drafts/{number}/source", {"address": address, "table": "studio.nobody"})
    assert "does not have" in missing.text


HOSTILE = [
    "postgresql://reader:secret@db/x",
    "postgresql://db/x?password=secret",
    "postgresql://db/x?host=169.254.169.254",
    "postgresql://db/x?hostaddr=10.0.0.1",
    "postgresql://db/x?options=-csearch_path%3Dx",
    "postgresql://db/x?passfile=/etc/shadow",
    "postgresql://db/x?sslkey=/etc/ssl/private/key",
    "postgresql://%2Ftmp%2Fsocket/x",
    "http://169.254.169.254/latest",
    "file:///etc/passwd",
    "grpc://db:8815",
    "catalog://main.people",
    "sqlite:////etc/passwd",
    "sqlite:///../outside.db",
    "sqlite:///linked.db",
    "postgresql://db/x y",
    "postgresql://db/x#password=secret",
    "postgresql://[::1/x",
]


def _nothing_connects(monkeypatch: pytest.MonkeyPatch) -> None:
    def connects(*_: object, **__: object) -> NoReturn:
        raise AssertionError("a connection was opened")

    for kind in ("postgres", "sqlite"):
        monkeypatch.setitem(local_copy._OPEN, kind, connects)


@pytest.mark.parametrize("address", HOSTILE)
def test_no_other_address_is_opened(
    visitor: Visitor, root: Path, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    outside = root.parent / "outside.db"
    outside.touch()
    (root / "linked.db").symlink_to(outside)
    _nothing_connects(monkeypatch)
    number = visitor.draft()
    before = visitor.studio.drafts.get(number)
    sent = {"address": address, "table": "people"}
    answer = visitor.send(f"/drafts/{number}/source", sent)
    assert answer.status_code in (404, 409)
    assert "secret" not in answer.text
    assert visitor.studio.drafts.get(number) == before
    sound = _in_python(str(root / "people.csv")).to_toml()
    hostile = re.sub('source = ".*"', f'source = "{address}"\ntable = "people"', sound)
    assert hostile != sound
    (root / "p.toml").write_text(hostile, encoding="utf-8")
    assert visitor.send("/drafts", {"policy": "p.toml"}).status_code in (404, 409)


def test_nothing_connects_when_looking_only(
    visit: Callable[..., Visitor], people: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _nothing_connects(monkeypatch)
    looking = visit(read_only=True)
    for path in ("/drafts", "/drafts/000000000000/source"):
        sent = {"kind": "table", "address": "sqlite:///people.db", "table": "people"}
        assert looking.send(path, sent).status_code == 409


@pytest.mark.parametrize(
    ("path", "sent"),
    [
        ("data", {"data:source": "../secret.csv"}),
        ("data", {"data:source": "postgresql://10.0.0.1/x"}),
        ("data", {"data:query": "SELECT * FROM read_csv('/etc/passwd')"}),
        ("data", {"data:format": "postgres"}),
        ("release", {"sampling:column": "sex", "sampling:rates": "../secret.csv"}),
        ("release", {"data:source": "/etc/passwd"}),
        ("columns", {"place": "1", "way": "hierarchy", "key:hierarchy": "../secret.csv"}),
    ],
)
def test_no_field_leads_out_of_the_root(visitor: Visitor, root: Path, path: str, sent: dict[str, str]) -> None:
    (root.parent / "secret.csv").write_text("label,rate\nF,0.5\nM,0.5\n", encoding="utf-8")
    number = visitor.draft()
    visitor.send(f"/drafts/{number}/data", {"design": "strata"})
    before = visitor.studio.drafts.get(number).choices
    assert before.design == "strata"
    visitor.send(f"/drafts/{number}/{path}", sent)
    after = visitor.studio.drafts.get(number).choices
    assert after.sections["data"] == before.sections["data"]
    assert "../secret.csv" not in str(after)


def test_a_server_that_does_not_answer_keeps_no_studio_from_ending(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent, running(tmp_path / "root") as studio:
        silent.settimeout(30)
        with httpx.Client(headers={**FROM_PAGE, "origin": studio.origin.rpartition("/")[0]}) as visitor:
            visitor.get(studio.address)
            number = visitor.post(f"{studio.origin}/drafts", data={"kind": "table"}).headers["location"].split("/")[3]
            sent = {"address": f"postgresql://a@127.0.0.1:{silent.getsockname()[1]}/x", "table": "people"}
            with pytest.raises(httpx.ReadTimeout):
                visitor.post(f"{studio.origin}/drafts/{number}/source", data=sent, timeout=0.5)
            studio.process.send_signal(signal.SIGINT)
            assert studio.process.wait(60) == 130


def test_data_with_more_columns_than_a_page_shows_are_refused(visitor: Visitor, root: Path) -> None:
    names = ["id", *(f"c{number}" for number in range(MOST_COLUMNS))]
    (root / "wide.csv").write_text(f"{','.join(names)}\n{','.join('1' for _ in names)}\n", encoding="utf-8")
    parquet.write_table(pa.table({name: [1] for name in names}), root / "wide.parquet")
    for file in ("wide.csv", "wide.parquet"):
        number = visitor.draft(source=None)
        assert "at most 5,000 are taken" in visitor.send(f"/drafts/{number}/source", {"source": file}).text
        with refuses("init.columns"):
            init_policy(root / file, design="poisson")
