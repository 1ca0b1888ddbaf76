"""Several processes at one ledger: of all that want the same sample exactly one gets it, and no limit is exceeded."""

import multiprocessing
import time
from pathlib import Path

import pytest

from crowdblend.errors import DoesNotCompose, Refused
from crowdblend.ledger import Ledger
from crowdblend.trusted.guarantees.privacy import Differential, Relation
from tests.ledger.databases import DATABASES, place
from tests.ledger.spendings import DATA, DIGEST, shared, spending

PROCESSES = 3
SAMPLES = 15
LOSS = (Differential(0.125, 0.0, Relation.ADD_REMOVE),)


def want(path: str, start, results) -> None:
    """Ask for every sample in turn, all processes at the same moment; on a ledger that is there."""
    shared()
    won = []
    for number in range(SAMPLES):
        start.wait(timeout=120)
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
    context = multiprocessing.get_context("fork")
    start, results = context.Barrier(PROCESSES), context.Queue()
    processes = [context.Process(target=want, args=(path, start, results)) for _ in range(PROCESSES)]
    for process in processes:
        process.start()
    won = [number for _ in processes for number in results.get(timeout=300)]
    for process in processes:
        process.join(timeout=120)
        assert process.exitcode == 0
    assert sorted(won) == list(range(SAMPLES))
    ledger = Ledger.open(path)
    ledger.check()
    assert len(ledger.entries()) == SAMPLES
    assert {found.name for found in tmp_path.iterdir()} <= {"ledger.sqlite", "ledger.sqlite.heads"}


def spend(path: str, number: int, start, results) -> None:
    """One whole release of an eighth, all processes at the same moment; says what the ledger acknowledged."""
    try:
        start.wait(timeout=60)
        ledger = Ledger.open(path)
        entry = ledger.begin(spending(f"draw-{number}", guarantees=LOSS), key=number.to_bytes(32, "big"))
        ledger.finish(entry, certificate_digest=DIGEST, data_sha256=DATA)
        results.put((entry, f"draw-{number}"))
    except Refused as refused:
        results.put((None, refused.code))


def release_at_once(path: str, processes: int, fitting: int) -> float:
    """So many processes release against a limit that only some of them keep; the seconds that it took."""
    ledger = Ledger.create(path)
    ledger.limit("residents", epsilon=fitting / 8, delta=0.0)
    context = multiprocessing.get_context("fork")
    start, results = context.Barrier(processes), context.Queue()
    running = [context.Process(target=spend, args=(path, number, start, results)) for number in range(processes)]
    began = time.monotonic()
    for process in running:
        process.start()
    said = [results.get(timeout=300) for _ in running]
    for process in running:
        process.join(timeout=60)
        assert process.exitcode == 0
    acknowledged = {entry: sample for entry, sample in said if entry is not None}
    refused = [code for entry, code in said if entry is None]
    assert refused == ["limit.exceeded"] * (processes - fitting)
    assert sorted(acknowledged) == list(range(1, fitting + 1)), "an entry was lost or doubled"
    entries = {entry.id: entry for entry in Ledger.open(path).entries()}
    assert {number: entry.spending.sample for number, entry in entries.items()} == acknowledged
    assert all(entry.status == "finished" for entry in entries.values())
    assert Ledger.open(path).budget("residents").differential.epsilon == fitting / 8
    Ledger.open(path).check()
    return time.monotonic() - began


@pytest.mark.parametrize("database", DATABASES)
def test_no_limit_is_exceeded(database: str, tmp_path: Path) -> None:
    release_at_once(place(database, tmp_path), processes=8, fitting=5)


@pytest.mark.slow
@pytest.mark.parametrize("repetition", range(20))
@pytest.mark.parametrize("database", DATABASES)
def test_fifty_at_once(database: str, repetition: int, tmp_path: Path) -> None:
    assert release_at_once(place(database, tmp_path), processes=50, fitting=20 + repetition) < 300
