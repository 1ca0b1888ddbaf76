"""A release that is killed at any moment leaves nothing half-written, and a ledger that can be read.

A few kills run with every change; two hundred with `make test-slow`.
"""

from __future__ import annotations

import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from crowdblend.calculus import verify_file
from crowdblend.demo import write_population
from crowdblend.ledger import Ledger

POLICY = """
[data]
source = "town.parquet"
person = "person_id"
[sampling]
rate = 0.5
[columns]
sex = { values = ["female", "male"] }
age = { from = 0, to = 110, width = 1 }
[release]
kind = "microdata"
epsilon = 1.0
delta = 1e-6
"""


def start(folder: Path, name: str) -> subprocess.Popen[bytes]:
    command = ["release", "policy.toml", "--out", name, "--ledger", "ledger.sqlite", "--yes"]
    return subprocess.Popen(
        [sys.executable, "-m", "crowdblend", *command], cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )


def kill_releases(folder: Path, kills: int) -> None:
    write_population(folder / "town.parquet", 30_000)
    (folder / "policy.toml").write_text(POLICY, encoding="utf-8")
    Ledger.create(folder / "ledger.sqlite")
    begun = time.perf_counter()
    assert start(folder, "whole").wait() == 0
    whole = time.perf_counter() - begun
    chance = random.Random(1)
    appeared = 0
    for number in range(kills):
        running = start(folder, f"release-{number}")
        time.sleep(chance.uniform(0.25, 1.1) * whole)
        running.send_signal(signal.SIGKILL)
        running.wait()
        target = folder / f"release-{number}"
        if target.exists():
            verify_file(target)
            appeared += 1
    entries = {entry.spending.folder: entry for entry in Ledger.open(folder / "ledger.sqlite").entries()}
    for number in range(kills):
        name = f"release-{number}"
        if (folder / name).exists():
            # It appeared, so it was recorded before, and counts as spent whether or not the kill came before the end.
            assert entries[name].counts
    assert entries["whole"].status == "finished"
    assert appeared < kills, "every kill came too late to test anything"
    Ledger.open(folder / "ledger.sqlite").check()


def test_a_few_kills(tmp_path: Path) -> None:
    kill_releases(tmp_path, 8)


@pytest.mark.slow
def test_two_hundred_kills(tmp_path: Path) -> None:
    kill_releases(tmp_path, 200)
