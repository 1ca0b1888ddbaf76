"""The same job twice is one release: what a crash stopped is resumed with the key of its first start."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import crowdblend as cb
from crowdblend.errors import CrowdblendError, InvalidInput, Unavailable
from crowdblend.ledger import Ledger
from crowdblend.policies.load import parse_policy
from crowdblend.publishing import resuming
from crowdblend.publishing.pending import PendingRelease
from crowdblend.publishing.release import release
from crowdblend.publishing.resuming import resume
from crowdblend.publishing.staging import stagings_of
from crowdblend.reading.reports import write
from crowdblend.trusted.calculus import verify_file
from tests import commands
from tests.api.survey import survey, table
from tests.ledger.databases import DATABASES
from tests.ledger.databases import place as ledger_place
from tests.publishing.killing import POLICY
from tests.publishing.stopped_releases import begin, expected, leftovers, published, refusal_of, stopped_by

pytestmark = pytest.mark.filterwarnings("ignore:Release 1 of this policy, these data")

DESIGNS = {
    "poisson": POLICY,
    "everybody": POLICY.replace('"poisson"\nrate = 0.5', '"everybody"').replace("k = 30", ""),
    "coins": POLICY.replace('"poisson"', '"coins"'),
    "biased": POLICY.replace('"poisson"\nrate = 0.5', '"biased"\nrate = 0.1\nlow = 0.08\nhigh = 0.12'),
    "survey": POLICY.replace('"poisson"\nrate = 0.5', '"survey"\npeople = 400\nof = 4000\nthin = 0.5'),
}


def kill(place: Path, ledger: Ledger) -> Any:
    """A release that is stopped after it was recorded."""
    return stopped_by(SystemExit(137), write, "write_report", place, ledger)


@pytest.mark.parametrize("design", DESIGNS)
def test_the_same_job_twice_is_one_release(design: str, place: Path, ledger: Ledger) -> None:
    (place / "policy.toml").write_text(DESIGNS[design])
    for _ in range(3):
        kill(place, ledger)
    assert len(ledger.entries()) == 1
    key, asked = ledger.key(1), list[PendingRelease]()
    done = begin(place, ledger, confirm=asked.append)
    assert (done.entry, len(ledger.entries())) == (1, 1)
    assert [pending.resumes.id for pending in asked] == [1]
    assert "Release 1" in asked[0].warnings[0]
    assert published(place) == expected(place, key)
    assert not leftovers(place)


@pytest.mark.parametrize("database", DATABASES)
def test_a_job_whose_ledger_went_away_at_the_end_is_one_release(database: str, place: Path, tmp_path: Path) -> None:
    ledger = Ledger.create(ledger_place(database, tmp_path))
    stopped_by(Unavailable("The ledger is locked. Wait."), Ledger, "finish", place, ledger)
    key = ledger.key(1)
    assert begin(place, ledger).entry == 1
    assert published(place) == expected(place, key)
    assert len(ledger.entries()) == 1


def test_another_release_is_meant_where_that_is_said(place: Path, ledger: Ledger) -> None:
    kill(place, ledger)
    asked = list[PendingRelease]()
    assert begin(place, ledger, new=True, confirm=asked.append).entry == 2
    assert [entry.status for entry in ledger.entries()] == ["unfinished", "finished"]
    assert asked[0].resumes is None
    assert "crowdblend ledger resume 1 POLICY --out DIR" in asked[0].warnings[0]


def test_another_policy_other_data_or_another_folder_is_another_release(place: Path, ledger: Ledger) -> None:
    kill(place, ledger)
    text = (place / "policy.toml").read_text()
    release(parse_policy(text.replace("k = 30", "k = 31"), place), place / "out", ledger=ledger)
    with pytest.warns(UserWarning, match="Release 1 of this policy and these data was begun and stopped"):
        release(parse_policy(text, place), place / "elsewhere", ledger=ledger)
    with (place / "people.csv").open("a") as file:
        file.write('1000,"a"\n')
    release(parse_policy(text, place), place / "out", ledger=ledger, force=True)
    assert [entry.status for entry in ledger.entries()] == ["unfinished", *["finished"] * 3]


def test_a_key_that_is_not_the_first_one_is_refused(place: Path, ledger: Ledger) -> None:
    kill(place, ledger)
    assert refusal_of(lambda: begin(place, ledger, key=bytes(32))) == (InvalidInput, "key.another")
    assert begin(place, ledger, key=ledger.key(1)).entry == 1


def test_what_another_version_began_is_not_begun_again(
    place: Path, ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    kill(place, ledger)
    monkeypatch.setattr(resuming, "__version__", "9.9")
    assert refusal_of(begin, place, ledger) == (InvalidInput, "other-version")
    assert len(ledger.entries()) == 1


def test_a_limit_that_is_used_up_does_not_stop_what_was_begun(place: Path, ledger: Ledger) -> None:
    text = (place / "policy.toml").read_text().replace("[data]", '[data]\npopulation = "people"')
    (place / "policy.toml").write_text(text)
    ledger.limit("people", epsilon=2.0, delta=1e-5)
    kill(place, ledger)
    assert begin(place, ledger).entry == 1


def refuse_exists(work: Callable[[], object]) -> None:
    with pytest.raises(InvalidInput) as refused:
        work()
    assert refused.value.code == "output-exists"
    assert refused.value.where == "out"


@pytest.mark.parametrize("complete", [False, True], ids=["computed again", "written"])
def test_a_release_is_resumed_into_another_folder(complete: bool, place: Path, ledger: Ledger, tmp_path: Path) -> None:
    if complete:
        stopped_by(Unavailable("The ledger is locked. Wait."), Ledger, "finish", place, ledger)
    else:
        kill(place, ledger)
    key = ledger.key(1)
    begin(place, ledger, new=True, confirm=lambda _: None)
    taken = published(place)
    refuse_exists(lambda: resume(ledger, 1, parse_policy(POLICY, place)))
    other = tmp_path / "other"
    other.mkdir()
    done = resume(ledger, 1, parse_policy(POLICY, place), out=other / "out")
    assert done.folder == other / "out"
    assert published(other) == expected(place, key)
    assert published(place) == taken
    assert [entry.status for entry in ledger.entries()] == ["finished", "finished"]
    assert not list(stagings_of(place / "out")) + list(stagings_of(other / "out"))
    assert resume(ledger, 1, out=other / "out").entry == 1


def test_an_empty_folder_is_left_over_and_gives_way(place: Path, ledger: Ledger) -> None:
    kill(place, ledger)
    (place / "out").mkdir()
    resume(ledger, 1, parse_policy(POLICY, place))
    verify_file(place / "out")


@pytest.mark.filterwarnings("ignore:No ledger at")
def test_a_job_in_python_is_resumed_unless_new(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    books = cb.Ledger(tmp_path / "ledger.db")
    with monkeypatch.context() as patched:
        patched.setattr("crowdblend.kinds.table.plan.TablePlan.publish", lambda *_: 1 / 0)
        with pytest.raises(CrowdblendError):
            cb.release(survey(), table(), ledger=books)
    key = books.key(1)
    with pytest.warns(UserWarning, match="It is resumed, with the output that it would have had"):
        done = cb.release(survey(), table(), ledger=books)
    assert done.entry == 1
    assert done.data == cb.release(survey(), table(), ledger=None, key=key).data
    assert cb.release(survey(), table(), ledger=books).entry == 2
    assert cb.release(survey(), table(), ledger=books, new=True).entry == 3


def test_a_terminal_asks_and_yes_resumes(place: Path, ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    kill(place, ledger)
    arguments = ["release", "policy.toml", "--out", "out", "--ledger", "ledger.sqlite", "--no-figures"]
    monkeypatch.setattr("crowdblend.cli.release._asks", lambda: True)
    no = commands.crowdblend(*arguments, stdin="n\n", folder=place)
    assert no.returncode == 1
    assert "Resume release 1 into out?" in no.stderr
    assert "--new" in no.stderr
    assert ledger.entry(1).status == "unfinished"
    yes = commands.crowdblend(*arguments, "--yes", "--json", folder=place)
    assert yes.returncode == 0, yes.stderr
    assert json.loads(yes.stdout)["entry"] == 1
    new = commands.crowdblend(*arguments[:3], "again", *arguments[4:], "--yes", "--new", "--json", folder=place)
    assert json.loads(new.stdout)["entry"] == 2


def kill_jobs(folder: Path, kills: int, seed: int, *more: str) -> dict[str, Any]:
    command = [sys.executable, "-m", "tests.publishing.killing_jobs", str(folder), str(kills), str(seed), *more]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def test_a_job_that_is_killed_and_tried_again_is_one_release(tmp_path: Path) -> None:
    assert kill_jobs(tmp_path / "jobs", 5, 1)["killed"] >= 5


@pytest.mark.slow
@pytest.mark.parametrize("engine", ["duckdb", "spark"])
@pytest.mark.parametrize("database", DATABASES)
def test_two_hundred_killed_jobs(tmp_path: Path, database: str, engine: str) -> None:
    more = [] if database == "sqlite" else [ledger_place(database, tmp_path)]
    found = kill_jobs(tmp_path / "jobs", 50, 2, engine, *more)
    assert found["killed"] >= 50
    assert found["recorded"] >= 1
