"""The totals that a ledger keeps: the same as those composed from the entries, and no weaker spot than these."""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from crowdblend import plan
from crowdblend.errors import DoesNotVerify
from crowdblend.guarantees import Guarantee
from crowdblend.ledger import Ledger, account, chain, running_total
from crowdblend.ledger.running_total import digest_of, read_total
from crowdblend.publishing.prospect import with_profile
from tests.ledger.databases import DATABASES, execute, place
from tests.ledger.files import change
from tests.ledger.spendings import spending


def release(k: int = 8) -> tuple[Guarantee, ...]:
    return with_profile(plan(k=k, rate=0.1, epsilon=1.0).certificate())


def begin(ledger: Ledger, *thresholds: int, population: str = "residents") -> None:
    for k in thresholds:
        ledger.begin(spending(f"draw {population} {k}", population, guarantees=release(k)))


def row(path: Path, population: str = "residents") -> tuple[int, str]:
    with closing(sqlite3.connect(path)) as connection:
        wanted = "SELECT record, body FROM totals WHERE population = ?"
        found: tuple[int, str] = connection.execute(wanted, [population]).fetchone()
        return found


def put(path: Path, column: str, value: object, population: str = "residents") -> None:
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(f"UPDATE totals SET {column} = ? WHERE population = ?", [value, population])


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "ledger.sqlite"
    begin(Ledger.create(path), 8, 9, 10)
    return path


@pytest.fixture
def unread(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many records were read when all entries were replayed, time by time."""
    found: list[int] = []
    whole = account._spent
    monkeypatch.setattr(account, "_spent", lambda name, records: (found.append(len(records)), whole(name, records))[1])
    return found


@pytest.mark.parametrize("database", DATABASES)
def test_every_entry_is_kept_with_the_total_so_far(database: str, tmp_path: Path, unread: list[int]) -> None:
    ledger = Ledger.create(place(database, tmp_path))
    begin(ledger, 8, 9)
    begin(ledger, 8, population="pupils")
    begin(ledger, 10)
    unread.clear()
    total = ledger.total("residents", 1e-5)
    assert (total.releases, ledger.total("pupils", 1e-5).releases) == (3, 1)
    assert unread == []  # no entry was read, but for those after the kept total: none
    statement = "DELETE FROM {}totals"
    if database == "sqlite":
        change(tmp_path / "ledger.sqlite", statement.format(""))
    else:
        execute(statement.format("crowdblend."))
    again = ledger.total("residents", 1e-5)
    assert unread == [5]
    assert total.epsilon is not None
    assert again.epsilon is not None
    assert total.epsilon == pytest.approx(again.epsilon, rel=1e-3)
    assert ledger.check() == ledger.check()


def test_what_was_kept_is_never_below_what_the_entries_come_to(path: Path) -> None:
    kept = read_total(row(path)[1])
    assert kept is not None
    fresh = running_total.compose_all("residents", [(e.id, e.spending) for e in Ledger.open(path).entries()])
    assert fresh is not None
    for law, other in ((kept.pair.up, fresh.pair.up), (kept.pair.down, fresh.pair.down)):
        assert law.covers(other, 1e-20)
        assert other.covers(law, 1e-14)
        for epsilon in (0.0, 0.1, 0.5, 1.0):
            assert law.delta(epsilon).upper() >= other.delta(epsilon).lower()


def test_a_text_gives_the_same_total_again(path: Path) -> None:
    text = row(path)[1]
    kept = read_total(text)
    assert kept is not None
    assert kept.entries == (1, 2, 3)
    again = read_total(kept.to_json())
    assert again is not None
    assert again.to_json() == kept.to_json()
    assert [mass.mid() for mass in again.pair.up.masses] == [mass.mid() for mass in kept.pair.up.masses]


def lowered(body: str) -> str:
    """The same total with hardly any loss."""
    document = json.loads(body)
    for law in document["laws"]:
        law["first"] -= 40
    return json.dumps(document, sort_keys=True, separators=(",", ":"))


EDITS: dict[str, Callable[[Path], None]] = {
    "lowered": lambda path: put(path, "body", lowered(row(path)[1])),
    "one bit": lambda path: put(path, "body", row(path)[1].replace('"delta":', '"delta": ')),
    "earlier record": lambda path: put(path, "record", row(path)[0] - 1),
    "no record": lambda path: put(path, "record", 99),
    "format record": lambda path: put(path, "record", 1),
    "no text": lambda path: put(path, "body", b"\x00"),
}


@pytest.mark.parametrize("edit", EDITS)
def test_an_edited_total_is_refused_everywhere(path: Path, edit: str) -> None:
    EDITS[edit](path)
    ledger = Ledger.open(path)
    for call in (ledger.check, lambda: ledger.total("residents"), lambda: begin(ledger, 11)):
        with pytest.raises(DoesNotVerify, match="the kept total of residents"):
            call()
    change(path, "DELETE FROM totals")
    assert ledger.total("residents", 1e-5).releases == 3


def test_the_total_of_another_population_is_refused(path: Path) -> None:
    begin(Ledger.open(path), 60, population="pupils")
    number, body = row(path, "pupils")
    put(path, "record", number)
    put(path, "body", body)
    with pytest.raises(DoesNotVerify, match="the kept total of residents"):
        Ledger.open(path).total("residents")


def test_a_forger_who_chains_again_is_found_by_composing_again(path: Path) -> None:
    """As with a forged entry, only whoever kept the hash of the chain or composes again can tell."""
    seen, before = Ledger.open(path).check(), Ledger.open(path).total("residents", 1e-5).epsilon
    number, body = row(path)
    forged = lowered(body)
    with closing(sqlite3.connect(path)) as connection:
        previous, text = connection.execute("SELECT previous, body FROM records WHERE number = ?", [number]).fetchone()
    text = text.replace(digest_of(body), digest_of(forged))
    hashed = hashlib.sha256(f"{number}\n{previous}\n{text}".encode()).hexdigest()
    change(path, f"UPDATE records SET body = '{text}', hash = '{hashed}' WHERE number = {number}")
    put(path, "body", forged)
    ledger = Ledger.open(path)
    chain.verify(ledger._records())
    shown = ledger.total("residents", 1e-5).epsilon
    assert before is not None
    assert shown is not None
    assert shown < before / 2  # this is what the forger wanted
    with pytest.raises(DoesNotVerify, match="the kept total of residents"):
        ledger.check()
    change(path, "DELETE FROM totals")
    with pytest.raises(DoesNotVerify, match="no record"):
        ledger.check(seen)


def test_an_older_total_is_extended(path: Path, unread: list[int]) -> None:
    number, body = row(path)
    ledger = Ledger.open(path)
    begin(ledger, 11, 12)
    unread.clear()
    after = ledger.total("residents", 1e-5)
    put(path, "record", number)
    put(path, "body", body)
    again = ledger.total("residents", 1e-5)
    assert after.epsilon is not None
    assert again.epsilon == pytest.approx(after.epsilon, rel=1e-9)
    assert again.releases == 5
    assert unread == []


def test_a_total_of_another_version_is_composed_again(
    path: Path, monkeypatch: pytest.MonkeyPatch, unread: list[int]
) -> None:
    """Its curves may have been mended since."""
    before = Ledger.open(path).total("residents", 1e-5)
    assert unread == []
    monkeypatch.setattr(running_total, "__version__", "9.9")
    again = Ledger.open(path).total("residents", 1e-5)
    assert len(unread) == 1
    assert again.epsilon == pytest.approx(before.epsilon, rel=1e-3)
    Ledger.open(path).check()


def test_what_was_given_back_is_taken_out(path: Path) -> None:
    ledger = Ledger.open(path)
    before = ledger.total("residents", 1e-5)
    begin(ledger, 11)
    ledger.abandon(4)
    ledger.check()
    after = ledger.total("residents", 1e-5)
    assert (after.releases, after.epsilon) == (3, pytest.approx(before.epsilon, rel=1e-3))
    begin(ledger, 12)
    kept = read_total(row(path)[1])
    assert kept is not None
    assert kept.entries == (1, 2, 3, 5)


def test_a_ledger_without_the_table_keeps_totals_from_the_next_entry_on(path: Path, unread: list[int]) -> None:
    change(path, "DROP TABLE totals")
    ledger = Ledger.open(path)
    assert ledger.total("residents", 1e-5).releases == 3
    ledger.check()
    begin(ledger, 11)
    unread.clear()
    assert ledger.total("residents", 1e-5).releases == 4
    assert unread == []


@pytest.mark.parametrize("database", DATABASES[1:])
def test_who_may_not_make_tables_may_still_begin(database: str, tmp_path: Path) -> None:
    """A table that cannot be written costs a kept total, and nothing else."""
    ledger = Ledger.create(place(database, tmp_path))
    begin(ledger, 8)
    execute(
        "CREATE FUNCTION crowdblend.no() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'no'; END $$",
        "CREATE TRIGGER no BEFORE INSERT ON crowdblend.totals FOR EACH STATEMENT EXECUTE FUNCTION crowdblend.no()",
    )
    begin(ledger, 9)
    assert ledger.total("residents", 1e-5).releases == 2
    ledger.check()


def test_one_more_entry_is_one_more_law(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the number of entries, a new one costs one convolution in each direction."""
    ledger = Ledger.create(tmp_path / "ledger.sqlite")
    composed: list[int] = []
    whole = running_total.together
    monkeypatch.setattr(
        running_total, "together", lambda uses, *grid: (composed.append(len(uses)), whole(uses, *grid))[1]
    )
    for number in range(20):
        ledger.begin(spending(f"draw-{number}", guarantees=release(8 + number % 2)))
    assert composed == [1] * 20
