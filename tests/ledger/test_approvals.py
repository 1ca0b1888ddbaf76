"""A release beyond a threshold waits for an approval, which names it, and which one release uses."""

import json
import multiprocessing
import sqlite3
from pathlib import Path

import pandas as pd
import pytest

import crowdblend as cb
from crowdblend.errors import DoesNotVerify, InvalidInput, RefusedByLedger
from crowdblend.ledger import Ledger, Spending
from crowdblend.ledger.chain import next_record
from crowdblend.publishing import pending
from crowdblend.trusted.guarantees.privacy import Differential, Relation
from tests.cases import for_each
from tests.commands import Finished, crowdblend
from tests.ledger.databases import DATABASES, execute, needs_postgresql, place
from tests.ledger.spendings import DATA, DIGEST, spending
from tests.ledger.test_hostile import begun

POLICY = "12" * 32
OTHER = "34" * 32
PAGE = Path(__file__).parents[2] / "docs" / "shared-ledger.md"


def release(
    sample: str = "draw-1", population: str = "residents", epsilon: float = 1.0, policy: str | None = POLICY
) -> Spending:
    loss = (Differential(epsilon, 1e-7, Relation.ADD_REMOVE),)
    return Spending(population, sample, True, "table", loss, "out", policy=policy)


def waits(ledger: Ledger, made: Spending, code: str = "approval.needed") -> RefusedByLedger:
    """Every way in which a release is looked at refuses it, and nothing is recorded."""
    before = ledger.head().records
    for call in (ledger.check_spending, ledger.preview, ledger.begin):
        with pytest.raises(RefusedByLedger) as refused:
            call(made)
        assert (refused.value.code, refused.value.exit_code) == (code, 3)
    assert ledger.head().records == before
    return refused.value


def test_a_release_beyond_a_threshold_waits_for_an_approval_that_names_it(ledger: Ledger) -> None:
    ledger.threshold("residents", epsilon=0.5, by="bo")
    assert ledger.begin(release("below", epsilon=0.5)) == 1
    refused = waits(ledger, release())
    assert f"--policy {POLICY} --epsilon 1 --delta 1e-07" in refused.remedy
    approved = {"policy": POLICY, "epsilon": 1.0, "delta": 1e-7}
    for other in ({"policy": OTHER}, {"epsilon": 0.99}, {"delta": 0.9e-7}):
        ledger.approve("residents", **{**approved, **other})
        waits(ledger, release())
    ledger.approve("patients", **approved)
    waits(ledger, release())
    made = ledger.approve("residents", **approved, by="bo", why="the yearly table")
    entry = ledger.entry(ledger.begin(release()))
    assert (entry.approval, entry.to_dict()["approval"]) == (5, 5)
    assert [one.used_by for one in ledger.approvals()] == [None] * 4 + [entry.id]
    assert (made.by, made.why) == ("bo", "the yearly table")
    again = waits(ledger, release("draw-2"))
    assert f"Approval 5 of the same was used by release {entry.id}" in again.message
    ledger.finish(entry.id, certificate_digest=DIGEST, data_sha256=DATA)
    ledger.check()


def test_a_threshold_of_the_ledger_is_about_everybody(ledger: Ledger) -> None:
    ledger.threshold(delta=1e-9)
    waits(ledger, release())
    waits(ledger, release("draw-2", "patients"))
    assert "population" in waits(ledger, release("draw-3", "source:ab"), "approval.unnamed").remedy
    ledger.approve("patients", policy=POLICY, epsilon=1.0, delta=1e-7)
    ledger.begin(release("draw-2", "patients"))
    with pytest.raises(InvalidInput) as refused:
        ledger.threshold(epsilon=1.0)
    assert refused.value.code == "approval.reason"
    lifted = ledger.threshold(why="approvals are for patients alone")
    assert lifted.is_lifted
    ledger.begin(release())
    assert [one.is_lifted for one in ledger.thresholds()] == [False, True]
    with pytest.raises(InvalidInput, match="an epsilon, a delta or both"):
        ledger.threshold("patients")


def test_people_in_common_wait_too(ledger: Ledger) -> None:
    ledger.threshold("residents", epsilon=0.5)
    ledger.begin(release("draw-1", "patients"))
    ledger.overlap("residents", "patients")
    waits(ledger, release("draw-2", "patients"))
    assert {one.name: one.threshold is not None for one in ledger.populations()} == {
        "patients": False,
        "residents": True,
    }
    with pytest.raises(RefusedByLedger, match="is easily taken for it"):
        ledger.begin(release("draw-3", "Residents"))


def test_what_has_no_epsilon_that_adds_up_waits(ledger: Ledger) -> None:
    relative = tuple(one for one in spending().guarantees if not isinstance(one, Differential))
    alone = Spending("residents", "draw-1", True, "table", relative, "out", policy=POLICY)
    assert alone.loss is None
    ledger.threshold("residents", epsilon=5.0)
    waits(ledger, alone)
    ledger.approve("residents", policy=POLICY, epsilon=9.0, delta=1e-3)
    waits(ledger, alone)
    ledger.approve("residents", policy=POLICY, epsilon=None, delta=None)
    assert ledger.entry(ledger.begin(alone)).approval == 2


def test_what_waited_and_stopped_is_resumed_without_another_approval(tmp_path: Path) -> None:
    """The first start is stopped after its entry; the second resumes it, and needs nothing."""
    frame = pd.DataFrame({"id": range(200), "sex": ["f", "m"] * 100})
    policy = cb.Policy(
        person="id", population="residents", columns={"sex": cb.values("f", "m")},
        sampling=cb.Poisson(0.5), epsilon=1.0, delta=1e-6, publish=cb.Table(),
    )  # fmt: skip
    ledger = Ledger.create(tmp_path / "ledger.sqlite")
    ledger.threshold("residents", epsilon=0.1)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pending, "identify", lambda *_: pytest.fail("the source was looked at"))
        with pytest.raises(RefusedByLedger) as refused:
            cb.release(frame, policy, ledger=ledger, out=tmp_path / "out")
    digest = refused.value.remedy.split("--policy ")[1].split()[0]
    ledger.approve("residents", policy=digest, epsilon=1.0, delta=1e-6)

    def stop(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Ledger, "finish", stop)
        with pytest.raises(KeyboardInterrupt):
            cb.release(frame, policy, ledger=ledger, out=tmp_path / "out")
    assert [one.status for one in ledger.entries()] == ["unfinished"]
    with pytest.warns(UserWarning, match="is resumed"):
        done = cb.release(frame, policy, ledger=ledger, out=tmp_path / "out")
    assert done.entry == 1
    assert [one.used_by for one in ledger.approvals()] == [1]
    with pytest.raises(RefusedByLedger, match="was used by release 1"):
        cb.release(frame, policy, ledger=ledger, out=tmp_path / "second")


def begin(path: str, number: int, start, results) -> None:
    """Begin a release that waits, at the same moment as the others."""
    try:
        start.wait(timeout=60)
        results.put(Ledger.open(path).begin(release(f"draw-{number}")))
    except RefusedByLedger as refused:
        results.put(refused.code)


@pytest.mark.parametrize("database", DATABASES)
def test_one_approval_is_for_one_of_several_releases_at_once(database: str, tmp_path: Path) -> None:
    path = place(database, tmp_path)
    ledger = Ledger.create(path)
    ledger.threshold(epsilon=0.5)
    ledger.approve("residents", policy=POLICY, epsilon=1.0, delta=1e-7)
    context = multiprocessing.get_context("fork")
    start, results = context.Barrier(4), context.Queue()
    running = [context.Process(target=begin, args=(path, number, start, results)) for number in range(4)]
    for process in running:
        process.start()
    said = [results.get(timeout=120) for _ in running]
    for process in running:
        process.join(timeout=60)
    assert sorted(map(str, said)) == ["1", *["approval.needed"] * 3]
    Ledger.open(path).check()


@for_each("other", [{"approval": 2}, {"policy": OTHER}, {"population": "patients"}, {"policy": None}])
def test_a_record_cannot_use_an_approval_that_is_not_its_own(other: dict, tmp_path: Path) -> None:
    path = tmp_path / "ledger.sqlite"
    ledger = Ledger.create(path)
    ledger.approve("residents", policy=POLICY, epsilon=1.0, delta=1e-6)
    body = begun(**{"entry": 1, "approval": 1, "policy": POLICY, **other})
    with Ledger.open(path)._records.writing() as (transaction, history):
        transaction.add_record(next_record(history.last, body))
    with pytest.raises(DoesNotVerify):
        Ledger.open(path).check()


def test_the_commands(tmp_path: Path) -> None:
    """A policy about rows of a database: approved from the file, before a row of it was read."""
    with sqlite3.connect(tmp_path / "people.db") as people:
        people.execute("CREATE TABLE people (id INTEGER, sex TEXT)")
        people.executemany("INSERT INTO people VALUES (?, ?)", [(n, "fm"[n % 2]) for n in range(300)])
    (tmp_path / "policy.toml").write_text(
        '[data]\nsource = "people.db"\nformat = "sqlite"\nquery = "SELECT * FROM people"\nperson = "id"\n'
        'population = "residents"\n[sampling]\ndesign = "poisson"\nrate = 0.5\n'
        '[privacy]\nepsilon = 1.0\ndelta = 1e-6\n[columns]\nsex = { values = ["f", "m"] }\n'
        '[[publish]]\nkind = "table"\n',
        encoding="utf-8",
    )
    path, at = tmp_path / "ledger.sqlite", ("--ledger", tmp_path / "ledger.sqlite")
    Ledger.create(path)

    def run(*arguments: object) -> Finished:
        return crowdblend(*arguments, *at, folder=tmp_path)

    assert "No release waits" in run("ledger", "threshold").stdout
    assert (
        "A release about any population beyond epsilon 0.5 waits"
        in run("ledger", "threshold", "--epsilon", "0.5", "--by", "bo").stdout
    )
    assert run("ledger", "threshold", "residents", "--epsilon", "0.5").returncode == 0
    assert run("ledger", "threshold", "--epsilon", "0.6").returncode == 2
    assert run("ledger", "threshold", "--epsilon", "0.6", "--lift").returncode == 2
    assert "beyond epsilon 0.5 waits, set by bo" in run("ledger", "threshold").stdout
    refused = run("release", "policy.toml", "--yes", "--json")
    error = json.loads(refused.stdout)["error"]
    assert (refused.returncode, error["code"], error["exit_code"]) == (3, "approval.needed", 3)
    assert (error["recorded"], error["retry"]) == (False, False)
    assert run("ledger", "approve", "patients", "--policy", "policy.toml").returncode == 2
    approved = run(
        "ledger", "approve", "residents", "--policy", "policy.toml", "--by", "bo", "--why", "the table of 2026"
    )
    page = PAGE.read_text(encoding="utf-8").replace("DIGEST", error["remedy"].split("--policy ")[1].split()[0])
    assert approved.stdout.strip() in page
    assert f"crowdblend: {error['message']} {error['remedy']}" in page
    assert run("ledger", "approvals").stdout.strip().partition("  one")[2] in page
    assert run("release", "policy.toml", "--yes").returncode == 0
    assert "used by release 1; approved by bo: the table of 2026" in run("ledger", "approvals").stdout
    assert json.loads(run("ledger", "show", "1", "--json").stdout)["approval"] == 1
    assert run("release", "policy.toml", "--yes", "--out", "second").returncode == 3
    events = [json.loads(line) for line in run("ledger", "export").stdout.splitlines()]
    assert [one["event"] for one in events] == [
        *("created", "threshold", "threshold", "approval", "begun", "finished"),
    ]
    assert "waits     a release about 'residents' beyond epsilon 0.5" in run("ledger", "populations").stdout
    assert "No release about any population waits" in run("ledger", "threshold", "--lift", "--why", "over").stdout
    run("ledger", "threshold", "residents", "--lift", "--why", "over")
    assert run("release", "policy.toml", "--yes", "--out", "second").returncode == 0


@needs_postgresql
def test_only_an_approver_approves(tmp_path: Path) -> None:
    from crowdblend.ledger.roles import role_statements

    where = place("postgresql", tmp_path)
    Ledger.create(where)
    execute(*role_statements())
    names = [f"test_waiting_{who}" for who in ("operator", "steward", "approver", "reader")]
    for name in names:
        execute(f"DROP ROLE IF EXISTS {name}", f"CREATE ROLE {name} LOGIN")
        execute(f"GRANT crowdblend_{name.removeprefix('test_waiting_')} TO {name}")
    try:
        ledgers = {name.removeprefix("test_waiting_"): where.replace("postgres@", f"{name}@") for name in names}
        calls = (
            lambda ledger: ledger.threshold(epsilon=0.5, why="more care"),
            lambda ledger: ledger.approve("residents", policy=POLICY, epsilon=1.0, delta=1e-7),
        )
        for who, place_of in ledgers.items():
            for call in calls:
                if who == "approver":
                    assert call(Ledger.open(place_of)).role == "test_waiting_approver"
                    continue
                with pytest.raises(RefusedByLedger) as refused:
                    call(Ledger.open(place_of))
                assert refused.value.code == "ledger.no-right"
        assert Ledger.open(ledgers["operator"]).begin(release()) == 1
        waits(Ledger.open(ledgers["operator"]), release("draw-2"))
        Ledger.open(where).check()
    finally:
        execute("DROP SCHEMA crowdblend CASCADE", *(f"DROP ROLE {name}" for name in names))
