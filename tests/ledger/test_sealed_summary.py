"""A release is judged by the sealed summary, without reading all records: the same way, and no weaker than they are."""

from __future__ import annotations

import json
import random
import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from crowdblend.errors import CrowdblendError, DoesNotVerify
from crowdblend.guarantees import Differential, Relation
from crowdblend.ledger import Identity, Ledger, chain, steps, store, view
from crowdblend.ledger.sketch import Anchor, sketch
from crowdblend.ledger.summary import NAME, Summary, _read
from crowdblend.ledger.view import View, replayed
from tests.ledger.databases import DATABASES, place
from tests.ledger.files import change, filled
from tests.ledger.spendings import DATA, DIGEST, shared, spending

SMALL = (Differential(0.125, 0.0, Relation.ADD_REMOVE),)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return filled(tmp_path / "ledger.sqlite")


@pytest.mark.parametrize("database", DATABASES)
def test_nothing_but_check_and_lists_reads_every_record(
    database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger = Ledger.create(place(database, tmp_path))
    for number in range(3):
        ledger.begin(spending(f"draw-{number}"), held_key=bytes([number] * 32))
    ledger.output_begins(1)
    ledger.limit("residents", epsilon=50.0, delta=1e-3)

    def refuse(*_: object) -> None:
        raise AssertionError("all records were read")

    for name in ("stream", "records"):
        monkeypatch.setattr(store, name, refuse)
    entry = ledger.begin(spending("draw-3"), held_key=bytes([3] * 32))
    ledger.output_begins(entry)
    ledger.finish(entry, certificate_digest=DIGEST, data_sha256=DATA)
    ledger.abandon(2)
    assert [one.status for one in ledger.unfinished()] == ["unfinished"] * 2
    assert (ledger.entry(1).output, ledger.entry(2).status, ledger.entry(4).status) == (True, "abandoned", "finished")
    assert ledger.budget("residents").releases == (1, 3, 4)
    assert ledger.held_key(3) == bytes([2 + 0] * 32)
    ledger.wanted()
    ledger.look(spending("draw-4"))
    with pytest.raises(CrowdblendError, match="already used this sample"):
        ledger.begin(spending("draw-3"))


def test_the_seal_covers_everything(path: Path) -> None:
    ledger = Ledger.open(path)
    ledger.begin(shared("survey"))
    ledger.output_begins(ledger.begin(spending("more", "others")))
    ledger.limit("residents", epsilon=50.0, delta=1e-3)
    with ledger._reading() as connection:
        summary = View.of(connection).summary
        records = replayed(connection)[1].summary
    assert summary.seal() == records.seal() == replace(summary).seal()
    assert summary.to_json() == records.to_json()
    edits: list[Callable[[Summary], object]] = [
        lambda one: setattr(one, "entries", 4),
        lambda one: setattr(one, "latest", "2000-01-01"),
        lambda one: setattr(one, "secret", "ab" * 32),
        lambda one: one.output.clear(),
        lambda one: one.pending.clear(),
        lambda one: one.totals.popitem(),
        lambda one: one.settled.popitem(),
        lambda one: setattr(next(iter(one.settled.values())), "count", 1),
        lambda one: setattr(next(iter(one.settled.values())), "first", 2),
        lambda one: setattr(next(iter(one.settled.values())), "group",
                            replace(next(iter(one.settled.values())).group, guarantees=SMALL)),
        lambda one: one.stated.limits.clear(),
    ]  # fmt: skip
    before = path.read_bytes()
    for edit in edits:
        path.write_bytes(before)
        with Ledger.open(path)._writing() as connection:
            summary = View.of(connection).summary
            edit(summary)
            store.keep_derived(connection, NAME, summary.to_json())
        for call in (ledger.check, ledger.budgets, lambda: ledger.entry(1), lambda: ledger.begin(spending("new"))):
            with pytest.raises(DoesNotVerify, match="summary"):
                call()


def seal_falsely(path: Path, edit: Callable[[Summary], object] | None) -> None:
    """A limit, by whoever may write, under a summary that is not true; without an edit, under the true one."""
    with Ledger.open(path)._writing() as connection:
        at = View.of(connection)
        told = replayed(connection)[1].summary if edit is None else at.summary
        content = {
            "step": "population",
            "population": "residents",
            "owner": "x",
            "description": "x",
            "by": "x",
            "at": "",
        }
        told.follow(content)
        if edit is not None:
            edit(told)
            told = _rebuilt(told)
        made = chain.append(at.last, {**content, "summary": told.seal()})
        connection.execute("INSERT INTO @records VALUES (?, ?, ?, ?)", made)
        store.keep_derived(connection, NAME, told.to_json())


def _rebuilt(summary: Summary) -> Summary:

    return _read(json.loads(summary.to_json()))


def test_a_writer_who_seals_a_false_summary_is_found_even_when_the_true_one_comes_back(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Ledger.open(path).limit("residents", epsilon=3.0, delta=1e-3)
    with pytest.raises(CrowdblendError, match="the limit is"):
        Ledger.open(path).begin(spending("one too many"))
    seal_falsely(path, lambda summary: summary.settled.clear())
    forged = Ledger.open(path).summary()
    assert forged.groups == ()
    assert forged.entries == 3
    ledger = Ledger.open(path)
    ledger.begin(spending("one too many"))  # this is what the forger wanted
    with pytest.raises(DoesNotVerify, match="record 12 seals a summary that does not follow"):
        ledger.check()
    # What is true again now was not when the release was let through.
    monkeypatch.setattr("crowdblend.ledger.history.SEALED_SINCE", 99)
    seal_falsely(path, None)
    monkeypatch.undo()
    assert Ledger.open(path).budget("residents").releases == (1, 2, 3, 4)
    with pytest.raises(DoesNotVerify, match="record 12 seals a summary that does not follow"):
        Ledger.open(path).check()


@pytest.mark.parametrize(
    "statement",
    [
        "DELETE FROM steps WHERE number = 4",
        "DELETE FROM steps WHERE entry = 1",
        "UPDATE steps SET sample = NULL",
        "UPDATE steps SET entry = 2 WHERE number = 3",
        "UPDATE steps SET population = 'x' WHERE entry = 1",
        "INSERT INTO steps VALUES (99, 1, 'abandoned', NULL, NULL)",
    ],
)
def test_an_edited_table_of_steps_is_found(path: Path, statement: str) -> None:
    with pytest.raises(sqlite3.IntegrityError, match="append-only"), closing(sqlite3.connect(path)) as connection:
        connection.execute("DELETE FROM steps")
    change(path, statement)
    ledger = Ledger.open(path)
    with pytest.raises(DoesNotVerify, match="where the records"):
        ledger.check()
    if "sample" in statement:
        return  # it decides only whether a name of a sample is found
    refused = 0
    for call in (lambda: ledger.entry(1), lambda: ledger.entry(2), lambda: ledger.budget("residents")):
        try:
            call()
        except DoesNotVerify:
            refused += 1
    assert refused


def test_a_false_entry_of_a_group_is_found(path: Path) -> None:
    """Whoever edits the record of an entry and its own hash changes neither totals nor what is compared."""
    with Ledger.open(path)._reading() as connection:
        record = store.records(connection)[1]
    body = record.body.replace('"source":"unknown"', '"source":"another"')
    assert body != record.body
    sealed = chain._hash(record.number, record.previous, body)
    change(path, f"UPDATE records SET body = '{body}', hash = '{sealed}' WHERE number = 2")
    ledger = Ledger.open(path)
    with pytest.raises(DoesNotVerify):
        ledger.look(spending("new"))


def test_an_edit_long_ago_changes_no_decision_and_check_finds_it(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(view, "LATELY", 3)
    change(path, "UPDATE records SET body = replace(body, '1.0', '0.1') WHERE number = 5")
    ledger = Ledger.open(path)
    assert ledger.budget("residents").differential.epsilon == 3.0
    ledger.limit("residents", epsilon=3.5, delta=1e-3)
    with pytest.raises(CrowdblendError, match="would come to epsilon"):
        ledger.begin(spending("new"))
    with pytest.raises(DoesNotVerify, match="record 5 "):
        ledger.check()


def person(ids: range, source: str, secret: bytes) -> Identity:
    anchor = Anchor(("id",), ("id",))
    return Identity(source, "h", (sketch("person", anchor, 0, [(one, one, 1) for one in ids], secret),))


@pytest.mark.parametrize("seed", range(3))
def test_judged_as_by_all_entries(seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same releases are let through, and the same refused, as where every earlier entry is looked at."""
    chance = random.Random(seed)
    places = [tmp_path / "short.sqlite", tmp_path / "long.sqlite"]
    ledgers = [Ledger.create(one) for one in places]
    secret = ledgers[0].wanted().secret

    def whole(connection: object, *, to_write: bool = False) -> View:
        last, history = replayed(connection)  # type: ignore[arg-type]
        return View(connection, last, history.summary, history)  # type: ignore[arg-type]

    def everything(self: View, _: object) -> list:
        entries = self.history.entries  # type: ignore[union-attr]
        known = self._identities(entries)
        return [(entry, known.get(number)) for number, entry in entries.items()]

    outcomes = []
    for _ in range(25):
        start = chance.randrange(0, 200, 50)
        fresh = chance.random() < 0.7
        name = chance.choice(["residents", "pupils", "patients"])
        number = chance.randrange(12)
        made = replace(
            spending(f"draw-{number}", name, fresh, SMALL),
            source=f"source:{start}",
            rate=None if fresh else 0.5,
        )
        identity = person(range(start, start + 60), f"source:{start}", secret) if chance.random() < 0.8 else None
        then = chance.choice(["begin", "abandon", "finish"])
        said = []
        for ledger, slow in zip(ledgers, (False, True), strict=True):
            with monkeypatch.context() as patched:
                if slow:
                    patched.setattr(View, "of", staticmethod(whole))
                    patched.setattr(View, "earlier", everything)
                try:
                    entry = ledger.begin(made, identity=identity)
                    if then == "abandon":
                        ledger.abandon(entry)
                    elif then == "finish":
                        ledger.output_begins(entry)
                        ledger.finish(entry, certificate_digest=DIGEST, data_sha256=DATA)
                    said.append(str(entry))
                except CrowdblendError as refused:
                    said.append(refused.code)
        assert said[0] == said[1]
        outcomes.append(said[0])
    assert {"same-sample", "another-population"} <= set(outcomes)
    assert ledgers[0].summary().seal()
    assert [one.status for one in ledgers[0].entries()] == [one.status for one in ledgers[1].entries()]
    ledgers[0].check()


def test_more_groups_than_a_summary_holds(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("crowdblend.ledger.summary.MOST_GROUPS", 2)
    ledger = Ledger.open(path)
    for name in ("pupils", "patients", "drivers"):
        ledger.begin(spending(f"of {name}", name))
    with ledger._reading() as connection:
        assert store.derived(connection, NAME) == "null"
    assert ledger.budget("pupils").releases == (4,)
    assert ledger.entry(5).spending.population == "patients"
    with pytest.raises(CrowdblendError, match="already used this sample"):
        ledger.begin(spending("draw-1"))
    ledger.check()


def test_rows_of_steps_name_what_they_are_about() -> None:
    content = {**spending("x").to_dict(), "step": "begun", "entry": 3}
    assert steps.rows_of(7, content) == [(7, 3, "begun", steps.name_hash("x"), steps.name_hash("residents"))]
    assert steps.rows_of(8, {"step": "limit"}) == []


@pytest.mark.parametrize(
    "body",
    [
        '{"a":{"guarantees":[1],"identity":2},"guarantees":null}',
        '{"a":{"guarantees":[1],"identity":2},"guarantees":[3]}',
        '{"a":{"guarantees":[1],"identity":2}}',
        '{"guarantees":[1],"identity":2,"guarantees":[3]}',
        '{"folder":"\\"guarantees\\":[1],\\"identity\\":","guarantees":[1],"identity":null}',
        '{"guarantees":[3],"x":"],","guarantees":[1],"identity":null}',
    ],
)
def test_nested_guarantees_are_not_those_of_the_record(body: str) -> None:
    """Guarantees that were parsed before are put in by their text: what comes out is what JSON says."""
    known = '{"guarantees":[1],"identity":2}'
    assert chain._parsed(1, known) == chain._parsed(1, known) == json.loads(known)
    assert chain._parsed(1, body) == json.loads(body)
