"""A ledger of 10,000 finished releases of four policies: what opening it, totals, the list, a check and a release take.

The records are written in one transaction, since twenty thousand commits would measure the disk. Entries have no
sketches of their sources: a register's takes 40 kB, and checking it is reading it.
"""

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

from crowdblend import plan
from crowdblend.ledger import Entry, Ledger, Spending
from crowdblend.ledger.chain import next_record
from crowdblend.ledger.steps import BegunRecord, FinishedRecord, to_body
from crowdblend.publishing.pending import with_profile
from crowdblend.trusted.guarantees.privacy import Guarantee

ENTRIES = 10_000
POLICIES = 4
AT = "2026-01-01T00:00:00+00:00"
DIGESTS = {"certificate_digest": "ab" * 32, "data_sha256": "cd" * 32}
Guarantees = list[tuple[Guarantee, ...]]


def release(number: int, made: Guarantees) -> Spending:
    return Spending(f"population {number % 2}", f"draw-{number}", True, "table", made[number % POLICIES], "out")


def fill(path: Path, made: Guarantees) -> None:
    """Write finished releases."""
    with Ledger.open(path)._records.writing() as (transaction, history):
        last = history.last
        for number in range(1, ENTRIES + 1):
            entry = Entry(number, AT, release(number, made), "destroyed", "bench", "bench")
            for step in (BegunRecord.of(entry), FinishedRecord(number, AT, internal={}, **DIGESTS)):
                last = next_record(last, to_body(step))
                transaction.add_record(last)


def cpu(call: Callable[[], object]) -> float:
    """Return the CPU seconds that a call takes."""
    began = time.process_time()
    call()
    return round(time.process_time() - began, 3)


def begin(ledger: Ledger, made: Guarantees, number: int) -> float:
    """Return the CPU seconds of one whole release in a ledger that is open."""

    def whole() -> None:
        ledger.finish(ledger.begin(release(number, made)), internal=None, **DIGESTS)

    return cpu(whole)


def main() -> None:
    made = [
        with_profile(plan(rate=0.1, epsilon=0.01 + 0.001 * number, delta=1e-9).certificate())
        for number in range(POLICIES)
    ]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "ledger.sqlite"
        Ledger.create(path)
        fill(path, made)
        ledger = Ledger.open(path)
        opened = cpu(ledger.entries)
        command = [sys.executable, "-m", "crowdblend", "ledger", "list", "--ledger", str(path)]
        began = time.perf_counter()
        lines = subprocess.run(command, capture_output=True, text=True, check=True).stdout.count("\n")
        listed = round(time.perf_counter() - began, 3)
        print(
            json.dumps(
                {
                    "entries": ENTRIES,
                    "megabytes": round(path.stat().st_size / 1e6),
                    "open_cpu_seconds": opened,
                    "release_cpu_seconds": median(begin(ledger, made, ENTRIES + one) for one in range(1, 10)),
                    "budget_cpu_seconds": cpu(lambda: ledger.budget("population 0")),
                    "budget_by_profile_cpu_seconds": cpu(lambda: ledger.total("population 0", 1e-4)),
                    "check_cpu_seconds": cpu(ledger.check),
                    "list_seconds": listed,
                    "list_lines": lines,
                }
            )
        )


if __name__ == "__main__":
    main()
