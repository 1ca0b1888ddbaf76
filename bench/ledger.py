"""A ledger of 100,000 finished releases of twenty policies: how long totals, the list and a check take.

The records are written in one transaction, since a hundred thousand commits would measure the disk. Entries have no
sketches of their sources: a register's takes 40 kB, so that 100,000 are 4 GB, and checking them is reading them.
"""

import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from crowdblend import plan
from crowdblend.ledger import Ledger, Spending, chain, store
from crowdblend.ledger.history import History, replay
from crowdblend.ledger.summary import NAME, digest, summary_of
from crowdblend.publishing.prospect import with_profile

ENTRIES = 100_000
POLICIES = 20


def fill(path: Path, entries: int) -> None:
    ledger = Ledger.create(path)
    guarantees = [
        with_profile(plan(rate=0.1, epsilon=0.001 + 0.0001 * number, delta=1e-9).certificate())
        for number in range(POLICIES)
    ]
    with ledger._writing() as connection:
        last = store.last_record(connection)
        history: History = replay(chain.contents(store.records(connection)))
        rows = []

        def add(content: dict, seal: bool = False) -> None:
            nonlocal last
            history.follow(content)
            if seal:
                text = summary_of(history).to_json()
                content = {**content, "summary": digest(text)}
                store.keep_derived(connection, NAME, text)
            last = chain.append(last, content)
            rows.append(vars(last))

        for number in range(1, entries + 1):
            made = Spending(
                f"population {number % 2}", f"draw-{number}", True, "table", guarantees[number % POLICIES], "out"
            )
            common = {"entry": number, "at": "2026-01-01T00:00:00+00:00"}
            begun = {"step": "begun", "key": "destroyed", "key_commitment": None, "identity": None}
            add({**made.to_dict(), **common, **begun, "not_compared": [], "software": "bench"})
            add({**common, "step": "output"})
            digests = {"certificate_digest": "ab" * 32, "data_sha256": "cd" * 32}
            add({**common, "step": "finished", **digests, "internal": {}}, seal=number == entries)
        connection.execute(store.RECORDS.insert(), rows)


def seconds(call) -> float:
    began = time.perf_counter()
    call()
    return round(time.perf_counter() - began, 3)


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "ledger.sqlite"
        filling = seconds(lambda: fill(path, ENTRIES))
        command = [sys.executable, "-m", "crowdblend", "ledger", "list", "--ledger", str(path)]
        began = time.perf_counter()
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as listing:
            assert listing.stdout is not None
            listing.stdout.readline()
            first = round(time.perf_counter() - began, 3)
            lines = sum(1 for _ in listing.stdout)
        listed = round(time.perf_counter() - began, 3)
        ledger = Ledger.open(path)
        ledger.total("population 0", 1e-4)
        print(
            json.dumps(
                {
                    "entries": ENTRIES,
                    "filled_seconds": filling,
                    "megabytes": round(path.stat().st_size / 1e6),
                    "budget_seconds": seconds(lambda: ledger.budget("population 0")),
                    "budget_by_profile_seconds": seconds(lambda: ledger.total("population 0", 1e-4)),
                    "list_first_line_seconds": first,
                    "list_seconds": listed,
                    "list_lines": lines,
                    "check_seconds": seconds(ledger.check),
                }
            )
        )


if __name__ == "__main__":
    main()
