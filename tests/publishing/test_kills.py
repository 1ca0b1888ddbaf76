"""A release that is killed at any moment is unspent, published, or resumed to the same bytes; an old one stays whole.

Some kills run with every change, a thousand over both kinds of ledger with `make test-slow`. The children fork from a
process of their own, because this one may have threads.
"""

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from crowdblend.ledger import Ledger
from crowdblend.trusted.calculus import verify_file
from tests.ledger.databases import DATABASES, needs_postgresql, place
from tests.publishing.killing import MODES, POLICY, prepare


def kill_releases(folder: Path, kills: int, seed: int, modes: str, database: str = "sqlite") -> dict[str, int]:
    more = [modes] if database == "sqlite" else [modes, place(database, folder)]
    done = subprocess.run(
        [sys.executable, "-m", "tests.publishing.killing", str(folder / "kills"), str(kills), str(seed), *more],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    killed: dict[str, int] = json.loads(done.stdout)["killed"]
    return killed


# A release takes a few steps more or less; a kill before a step that it never takes kills nothing. If one kill in
# ten is such a one, none of 6 succeeds with probability 1e-6, and none of 7 with 1e-7.
@pytest.mark.parametrize(
    ("database", "modes", "kills", "least"),
    [("sqlite", MODES, 6, 1), pytest.param("postgresql", "release", 7, 1, marks=[needs_postgresql, pytest.mark.slow])],
)
def test_some_kills_lose_nothing(tmp_path: Path, database: str, modes: str, kills: int, least: int) -> None:
    assert sum(kill_releases(tmp_path, kills, 1, modes, database).values()) >= least


@pytest.mark.slow
@pytest.mark.parametrize("database", DATABASES)
def test_a_thousand_kills_lose_nothing(tmp_path: Path, database: str) -> None:
    """Five hundred on a file and as many on a server."""
    killed = kill_releases(tmp_path, 500, 2, MODES, database)
    assert sum(killed.values()) >= 300
    assert min(number for how, number in killed.items() if how.endswith("steps")) >= 20


def test_a_killed_command_is_resumed_by_a_command(tmp_path: Path) -> None:
    """The same through the command line, whose report has its figures."""
    folder = tmp_path / "town"
    prepare(folder)
    assert POLICY in (folder / "policy.toml").read_text(encoding="utf-8")
    command = [sys.executable, "-m", "crowdblend"]
    arguments = ["release", "policy.toml", "--out", "out", "--ledger", "ledger.sqlite", "--yes"]
    running = subprocess.Popen([*command, *arguments], cwd=folder, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    ledger = Ledger.open(folder / "ledger.sqlite")
    while running.poll() is None and not ledger.entries():
        time.sleep(0.005)
    running.send_signal(signal.SIGKILL)
    running.wait()
    assert ledger.entries()
    resumed = subprocess.run(
        [*command, "ledger", "resume", "1", "policy.toml", "--ledger", "ledger.sqlite", "--json"],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert resumed.returncode == 0, resumed.stderr
    assert json.loads(resumed.stdout)["entry"] == 1
    assert ledger.entry(1).status == "finished"
    assert verify_file(folder / "out").to_dict()["digest"] == ledger.entry(1).certificate_digest
