"""The totals that a ledger keeps: the same as those composed from the entries, and no weaker spot than these."""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from crowdblend import plan
from crowdblend.errors import DoesNotVerify
from crowdblend.guarantees import Guarantee
from crowdblend.ledger import Ledger, running_total
from crowdblend.ledger.running_total import digest_of, read_total
from crowdblend.ledger.spent import SpentGroup
from crowdblend.ledger.summary import _read, total_name
from crowdblend.publishing.pending import with_profile
from tests.ledger.databases import DATABASES, place
from tests.ledger.files import change
from tests.ledger.spendings import spending


def release(k: int = 8) -> tuple[Guarantee, ...]:
    return with_profile(plan(k=k, rate=0.1, epsilon=1.0).certificate())


def begin(ledger: Ledger, *thresholds: int, population: str = "residents") -> None:
    for k in thresholds:
        ledger.begin(spending(f"draw {population} {k}", population, guarantees=release(k)))


def kept(path: Path, name: str = total_name("residents")) -> str:
    with closing(sqlite3.connect(path)) as connection:
        found: str = connection.execute("SELECT body FROM derived WHERE name = ?", [name]).fetchone()[0]
        return found


def put(path: Path, body: object, name: str = total_name("residents")) -> None:
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE derived SET body = ? WHERE name = ?", [body, name])


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "ledger.sqlite"
    begin(Ledger.create(path), 8, 9, 10)
    return path


@pytest.fixture
def composed(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[int]]:
    """How many curves were composed, time by time."""
    found: list[int] = []
    whole = running_total.together
    watched = lambda uses, *grid: (found.append(len(uses)), whole(uses, *grid))[1]  # noqa: E731
    monkeypatch.setattr(running_total, "together", watched)
    read_total.cache_clear()
    yield found
    read_total.cache_clear()


@pytest.mark.parametrize("database", DATABASES)
def test_every_entry_is_kept_with_the_total_so_far(database: str, tmp_path: Path, composed: list[int]) -> None:
    ledger = Ledger.create(place(database, tmp_path))
    begin(ledger, 8, 9)
    begin(ledger, 8, population="pupils")
    begin(ledger, 10)
    composed.clear()
    total = ledger.total("residents", 1e-5)
    assert (total.releases, ledger.total("pupils", 1e-5).releases) == (3, 1)
    assert composed == []
    assert ledger.check() == ledger.check()


def test_what_was_kept_is_never_below_what_the_entries_come_to(path: Path) -> None:
    total = read_total(kept(path))
    assert total is not None
    fresh = running_total.total_of_spent([(entry.spending, 1) for entry in Ledger.open(path).entries()])
    assert fresh is not None
    assert total.profile == fresh.profile
    for law, other in ((total.pair.up, fresh.pair.up), (total.pair.down, fresh.pair.down)):
        assert law.covers(other, 1e-20)
        assert other.covers(law, 1e-14)
        for epsilon in (0.0, 0.1, 0.5, 1.0):
            assert law.delta(epsilon).upper() >= other.delta(epsilon).lower()


def test_a_text_gives_the_same_total_again(path: Path) -> None:
    total = read_total(kept(path))
    assert total is not None
    assert total.profile.releases == 3
    again = read_total(total.to_json())
    assert again is not None
    assert again.to_json() == total.to_json()


def lowered(body: str) -> str:
    """The same total with hardly any loss."""
    document = json.loads(body)
    for law in document["laws"]:
        law["first"] -= 40
    return json.dumps(document, sort_keys=True, separators=(",", ":"))


EDITS: dict[str, Callable[[Path], None]] = {
    "lowered": lambda path: put(path, lowered(kept(path))),
    "one byte": lambda path: put(path, kept(path).replace('"format":', '"format": ')),
    "no text": lambda path: put(path, b"\x00"),
    "gone": lambda path: change(path, f"DELETE FROM derived WHERE name = '{total_name('residents')}'"),
    "an older one": lambda path: put(path, _older(path)),
}


def _older(path: Path) -> str:
    before = kept(path)
    begin(Ledger.open(path), 11)
    return before


@pytest.mark.parametrize("edit", EDITS)
def test_an_edited_total_is_refused_everywhere(path: Path, edit: str) -> None:
    EDITS[edit](path)
    ledger = Ledger.open(path)
    for call in (ledger.check, lambda: ledger.total("residents"), lambda: begin(ledger, 12)):
        with pytest.raises(DoesNotVerify, match="the kept total of 'residents'"):
            call()


def test_the_total_of_another_population_is_refused(path: Path) -> None:
    begin(Ledger.open(path), 60, population="pupils")
    put(path, kept(path, total_name("pupils")))
    with pytest.raises(DoesNotVerify, match="the kept total of 'residents'"):
        Ledger.open(path).total("residents")


def seal(summary: str) -> str:
    return _read(json.loads(summary)).seal()


def test_a_forger_who_chains_again_is_found_by_composing_again(path: Path) -> None:
    """As with a forged entry, only whoever kept the hash of the chain or composes again can tell."""
    seen, before = Ledger.open(path).check(), Ledger.open(path).total("residents", 1e-5).epsilon
    body, summary = kept(path), kept(path, "summary")
    forged = lowered(body)
    told = summary.replace(digest_of(body), digest_of(forged))
    with closing(sqlite3.connect(path)) as connection:
        last = "SELECT number, previous, body FROM records ORDER BY number DESC LIMIT 1"
        number, previous, text = connection.execute(last).fetchone()
    text = text.replace(digest_of(body), digest_of(forged)).replace(seal(summary), seal(told))
    hashed = hashlib.sha256(f"{number}\n{previous}\n{text}".encode()).hexdigest()
    change(path, f"UPDATE records SET body = '{text}', hash = '{hashed}' WHERE number = {number}")
    put(path, forged)
    put(path, told, "summary")
    ledger = Ledger.open(path)
    shown = ledger.total("residents", 1e-5).epsilon
    assert before is not None
    assert shown is not None
    assert shown < before / 2  # this is what the forger wanted
    with pytest.raises(DoesNotVerify, match="the kept total of 'residents'"):
        ledger.check()
    with pytest.raises(DoesNotVerify):
        ledger.check(seen)


def test_a_total_of_another_version_is_composed_again(
    path: Path, monkeypatch: pytest.MonkeyPatch, composed: list[int]
) -> None:
    """Its curves may have been mended since."""
    before = Ledger.open(path).total("residents", 1e-5)
    assert composed == []
    monkeypatch.setattr(running_total, "__version__", "9.9")
    read_total.cache_clear()
    again = Ledger.open(path).total("residents", 1e-5)
    assert composed == [3]
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
    total = read_total(kept(path))
    assert total is not None
    assert total.profile.releases == 4


def test_populations_that_overlap_are_composed_beside_the_kept_total(path: Path) -> None:
    ledger = Ledger.open(path)
    begin(ledger, 30, population="pupils")
    alone = ledger.total("residents", 1e-5)
    ledger.overlap("residents", "pupils", why="children of residents")
    both = ledger.total("residents", 1e-5)
    assert (alone.releases, both.releases) == (3, 4)
    assert alone.epsilon is not None
    assert both.epsilon is not None
    assert both.epsilon > alone.epsilon


def test_one_more_entry_is_one_more_law(tmp_path: Path, composed: list[int]) -> None:
    """Whatever the number of entries, a new one costs one convolution in each direction."""
    ledger = Ledger.create(tmp_path / "ledger.sqlite")
    for number in range(20):
        ledger.begin(spending(f"draw-{number}", guarantees=release(8 + number % 2)))
    assert composed == [1] * 20


@pytest.mark.slow
def test_a_total_of_very_many_releases_is_no_edit() -> None:
    """Laws that are too long are cut, more or less by the order of composing: an honest total is not refused."""
    made = [with_profile(plan(rate=0.1, epsilon=epsilon, delta=1e-9).certificate()) for epsilon in (0.011, 0.013)]
    uses = [SpentGroup("residents", one, True) for one in made]
    total = None
    for counts in ((24_995, 24_995), (24_996, 24_995), (24_996, 24_996)):
        found = running_total.total_of_spent(list(zip(uses, counts, strict=True)), total)
        assert found is not None
        total = read_total(found.to_json())
    assert total is not None
    again = running_total.together(total.profile.uses, total.pair.up.spacing, running_total.CUT)
    assert not total.pair.down.covers(again.down, 1e-6), "nothing was cut"
    assert total.is_enough()
