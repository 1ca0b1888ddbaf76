"""Several processes at one ledger: of all that want the same sample, exactly one gets it."""

from __future__ import annotations

import multiprocessing
from pathlib import Path

import pytest

from crowdblend.errors import DoesNotCompose
from crowdblend.ledger import Ledger
from tests.ledger.databases import DATABASES, place
from tests.ledger.spendings import shared

PROCESSES = 3
SAMPLES = 15


def want(path: str, start, results) -> None:
    """Ask for every sample in turn, all processes at the same moment; on a ledger that is there."""
    shared()
    won = []
    for number in range(SAMPLES):
        start.wait(timeout=30)
        try:
            Ledger.open(path).begin(shared(f"survey-{number}"))
            won.append(number)
        except DoesNotCompose:
            pass
    results.put(won)


@pytest.mark.parametrize("database", DATABASES)
def test_exactly_one_begins(database: str, tmp_path: Path) -> None:
    path = place(database, tmp_path)
    Ledger.create(path)
    context = multiprocessing.get_context("spawn")
    start, results = context.Barrier(PROCESSES), context.Queue()
    processes = [context.Process(target=want, args=(path, start, results)) for _ in range(PROCESSES)]
    for process in processes:
        process.start()
    won = [number for _ in processes for number in results.get(timeout=60)]
    for process in processes:
        process.join(timeout=30)
        assert process.exitcode == 0
    assert sorted(won) == list(range(SAMPLES))
    ledger = Ledger.open(path)
    ledger.check()
    assert len(ledger.entries()) == SAMPLES
    assert {found.name for found in tmp_path.iterdir()} <= {"ledger.sqlite"}
