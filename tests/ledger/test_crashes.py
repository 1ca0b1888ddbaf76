"""Killed at any moment, the ledger opens, and knows everything that it acknowledged; in a file and on a server."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from crowdblend.ledger import Ledger
from tests.ledger.databases import DATABASES, needs_postgresql, place

RANK = {"begun": 0, "finished": 1}


@pytest.mark.parametrize(
    ("database", "kills"), [("sqlite", 16), pytest.param("postgresql", 12, marks=needs_postgresql)]
)
def test_killed_at_random_moments(database: str, kills: int, tmp_path: Path) -> None:
    kill(database, kills, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("part", range(10))
@pytest.mark.parametrize("database", DATABASES)
def test_killed_a_thousand_times(database: str, part: int, tmp_path: Path) -> None:
    """Fifty kills on each of ten ledgers of both kinds, at moments of their own."""
    kill(database, 50, tmp_path, seed=100 + part)


def kill(database: str, kills: int, tmp_path: Path, seed: int = 7) -> None:
    """Kill so many releases, and compare what the ledger acknowledged with what it knows."""
    path = place(database, tmp_path / "made")
    script = Path(__file__).with_name("killing.py")
    done = subprocess.run(
        [sys.executable, str(script), str(path), str(kills), str(seed)],
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    acknowledged: dict[int, str] = {}
    for line in result["said"]:
        step, entry, _ = line.split()
        acknowledged[int(entry)] = step
    ledger = Ledger.open(path)
    ledger.check()
    entries = {entry.id: entry for entry in ledger.entries()}
    assert len(acknowledged) >= kills / 2, "the children were killed before they did anything"
    # killed between two steps, not only before or after everything
    assert {"begun", "finished"} == set(acknowledged.values())
    assert set(acknowledged) <= set(entries)
    for number, entry in entries.items():
        reached = RANK["finished" if entry.status == "finished" else "begun"]
        told = RANK[acknowledged[number]] if number in acknowledged else -1
        assert told <= reached <= told + 1
        assert len(ledger.key(number)) == 32
    assert ledger.budget("residents").releases == tuple(entries)
    assert len({entry.spending.sample for entry in entries.values()}) == len(entries)
    if database == "sqlite":
        # a journal that the kill left behind is rolled back or overwritten by the next writer
        for found in Path(path).parent.iterdir():
            known = found.name.removesuffix("-journal").removesuffix(".heads") == Path(path).name
            assert known or found.name.startswith(".ledger.sqlite.")
            assert found.stat().st_mode & 0o077 == 0
