"""Killed at any moment, the ledger opens, and knows everything that it acknowledged."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from crowdblend.ledger import Ledger

KILLS = 60
RANK = {"begun": 0, "output": 1, "finished": 2}


def test_killed_at_random_moments(tmp_path: Path) -> None:
    path = tmp_path / "made" / "ledger.sqlite"
    script = Path(__file__).with_name("killing.py")
    done = subprocess.run(
        [sys.executable, str(script), str(path), str(KILLS)], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    acknowledged: dict[int, str] = {}
    for line in result["said"]:
        step, entry, _ = line.split()
        acknowledged[int(entry)] = step
    ledger = Ledger.open(path)
    entries = {entry.id: entry for entry in ledger.entries()}
    assert len(acknowledged) >= KILLS / 2, "the children were killed before they did anything"
    # killed between two steps, not only before or after everything
    assert {"begun", "output", "finished"} == set(acknowledged.values())
    assert set(acknowledged) <= set(entries)
    for number, entry in entries.items():
        reached = RANK["finished"] if entry.status == "finished" else RANK["output" if entry.output else "begun"]
        told = RANK[acknowledged[number]] if number in acknowledged else -1
        assert told <= reached <= told + 1
        assert entry.status in ("unfinished", "finished")
        assert entry.counts
        assert len(ledger.sealed_key(number)) == 32
    assert len({entry.spending.sample for entry in entries.values()}) == len(entries)
    # a journal that the kill left behind is rolled back or overwritten by the next writer
    for found in path.parent.iterdir():
        assert found.name.removesuffix("-journal") == path.name or found.name.startswith(".ledger.sqlite.")
        assert found.stat().st_mode & 0o077 == 0
