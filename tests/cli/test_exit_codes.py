"""Exit codes that a scheduler acts on, one for each thing that it can do, and the same in JSON."""

import errno
import json
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from sqlite3 import connect

import pytest

from crowdblend.ledger import Ledger, store
from crowdblend.publishing import steps as publishing
from crowdblend.publishing import target
from tests.commands import Finished, crowdblend


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a policy, its rows and a ledger."""
    rows = "".join(f"p{n},{'fm'[n % 2]}\n" for n in range(400))
    (tmp_path / "people.csv").write_text(f"id,sex\n{rows}", encoding="utf-8")
    (tmp_path / "policy.toml").write_text(POLICY, encoding="utf-8")
    Ledger.create(tmp_path / "ledger.sqlite")
    return tmp_path


POLICY = """\
[data]
source = "people.csv"
person = "id"
population = "town"

[sampling]
design = "poisson"
rate = 0.5

[privacy]
epsilon = 1.0
delta = 1e-6

[columns]
sex = { values = ["f", "m"] }

[[publish]]
kind = "table"
"""


def release(folder: Path, *options: str) -> Finished:
    named = ("--ledger", "ledger.sqlite", "--yes", "--json")
    return crowdblend("release", "policy.toml", *named, *options, folder=folder)


def error_of(done: Finished) -> dict[str, object]:
    """Return the error that a command printed, whose exit code is the process's own."""
    error: dict[str, object] = json.loads(done.stdout)["error"]
    assert error["exit_code"] == done.returncode
    assert error["retry"] == (done.returncode in (4, 5, 6))
    return error


def edit(folder: Path, old: str, new: str) -> None:
    text = (folder / "policy.toml").read_text(encoding="utf-8")
    assert old in text
    (folder / "policy.toml").write_text(text.replace(old, new), encoding="utf-8")


MISTAKES: dict[str, tuple[Callable[[Path], object], int, str]] = {
    "use": (lambda folder: edit(folder, "kind =", "kin ="), 2, "policy."),
    "data": (lambda folder: edit(folder, '"f", "m"', '"f", "x"'), 2, "data."),
    "infeasible": (lambda folder: edit(folder, "rate = 0.5", "rate = 0.999999"), 1, "plan."),
    "limit": (lambda folder: Ledger(folder / "ledger.sqlite").limit("town", epsilon=0.1, delta=1e-5), 3, "limit."),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_what_a_person_has_to_look_at(folder: Path, name: str) -> None:
    mistake, code, says = MISTAKES[name]
    mistake(folder)
    done = release(folder)
    error = error_of(done)
    assert (done.returncode, str(error["code"]).startswith(says), error["recorded"]) == (code, True, False), error


@contextmanager
def busy(folder: Path) -> Iterator[None]:
    with closing(connect(folder / "ledger.sqlite", isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        yield


def test_another_writer_is_waited_for(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store, "PATIENCE", 0.1)
    with busy(folder):
        done = release(folder)
    assert (done.returncode, error_of(done)["recorded"]) == (4, False)
    with target.exclusive_use(folder / "policy"):
        assert release(folder).returncode == 4
    unreachable = crowdblend("ledger", "list", "--ledger", "postgresql://me@127.0.0.1:1/nothing", "--json")
    assert (unreachable.returncode, error_of(unreachable)["code"]) == (4, "ledger.unreachable")
    assert release(folder).returncode == 0


def test_a_full_disk_before_and_after_the_record(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(target, "has_room", lambda *_: False)
        done = release(folder)
    assert (done.returncode, error_of(done)["recorded"]) == (5, False)
    assert Ledger(folder / "ledger.sqlite").entries() == ()

    def fill(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(publishing, "describe", fill)
        done = release(folder)
    error = error_of(done)
    assert (done.returncode, error["recorded"], error["entry"], error["code"]) == (6, True, 1, "write-failed")
    assert (
        crowdblend("ledger", "resume", "1", "policy.toml", "--ledger", "ledger.sqlite", folder=folder).returncode == 0
    )
    assert [one.status for one in Ledger(folder / "ledger.sqlite").entries()] == ["finished"]


def test_what_stops_a_recorded_release_says_so_in_json(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def stop(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(publishing, "describe", stop)
    done = release(folder)
    error = json.loads(done.stdout)["error"]
    assert (done.returncode, error["exit_code"], error["recorded"], error["entry"]) == (130, 130, True, 1)
