"""A ledger of 100,000 finished releases of four policies: how long totals, the list, a check and a release take.

The records are written in one transaction, since a hundred thousand commits would measure the disk. Entries have no
sketches of their sources: a register's takes 40 kB, so that 100,000 are 4 GB, and checking them is reading them. What
`begin` takes is measured at the 1,000th and the 100,000th entry. A check composes the kept totals anew; how long that
takes depends on how many different policies there are, and is said beside it.
"""

import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

from crowdblend import plan
from crowdblend.ledger import Ledger, Spending, chain, steps, store
from crowdblend.ledger.history import after, begun
from crowdblend.ledger.running_total import digest_of
from crowdblend.ledger.summary import NAME, total_name
from crowdblend.ledger.view import View
from crowdblend.publishing.pending import with_profile

ENTRIES = 100_000
POLICIES = 4
BATCH = 10_000


def guarantees() -> list:
    return [
        with_profile(plan(rate=0.1, epsilon=0.01 + 0.001 * number, delta=1e-9).certificate())
        for number in range(POLICIES)
    ]


def fill(path: Path, made: list, since: int, entries: int) -> None:
    """Write finished releases, every record with its seal, and the composed totals with the last ones."""
    with Ledger.open(path)._writing() as connection:
        view = View.of(connection)
        last, summary = view.last, view.summary
        records, rows = [], []

        def add(content: dict, entry) -> None:
            nonlocal last
            summary.follow(content, entry)
            last = chain.append(last, {**content, "summary": summary.seal()})
            records.append(last)
            rows.extend(steps.rows_of(last.number, content))

        for number in range(since, entries + 1):
            spending = release(number, made)
            common = {"entry": number, "at": "2026-01-01T00:00:00+00:00"}
            parts = {"step": "begun", "key": "destroyed", "key_commitment": None, "identity": None}
            content = {**spending.to_dict(), **common, **parts, "not_compared": [], "software": "bench"}
            if number > entries - 2:
                composed = view.accounts_for(spending).composed(spending)
                content["total"] = digest_of(composed)
                store.keep_derived(connection, total_name(spending.population), composed)
            entry = begun(content)
            add(content, entry)
            entry = after(entry, {"step": "output"})
            add({**common, "step": "output"}, entry)
            end = {"step": "finished", "certificate_digest": "ab" * 32, "data_sha256": "cd" * 32, "internal": {}}
            add({**common, **end}, after(entry, end))
            if len(records) >= BATCH:
                connection.add("INSERT INTO @records VALUES (?, ?, ?, ?)", records)
                steps.add(connection, rows)
                records.clear()
                rows.clear()
        connection.add("INSERT INTO @records VALUES (?, ?, ?, ?)", records)
        steps.add(connection, rows)
        store.keep_derived(connection, NAME, summary.to_json())


def release(number: int, made: list) -> Spending:
    return Spending(f"population {number % 2}", f"draw-{number}", True, "table", made[number % POLICIES], "out")


def seconds(call) -> float:
    began = time.perf_counter()
    call()
    return round(time.perf_counter() - began, 3)


def release_seconds(path: Path, made: list, first: int) -> float:
    """What `begin` takes, as the median of nine entries that are finished."""
    ledger, found = Ledger.open(path), []
    for number in range(first, first + 9):
        spending = release(number, made)
        began = time.perf_counter()
        entry = ledger.begin(spending)
        found.append(time.perf_counter() - began)
        ledger.output_begins(entry)
        ledger.finish(entry, certificate_digest="ab" * 32, data_sha256="cd" * 32)
    return round(median(found), 3)


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        path, made = Path(folder) / "ledger.sqlite", guarantees()
        Ledger.create(path)
        fill(path, made, 1, 990)
        early = release_seconds(path, made, 991)
        filling = seconds(lambda: fill(path, made, 1000, ENTRIES - 10))
        late = release_seconds(path, made, ENTRIES - 9)
        fill(path, made, ENTRIES, ENTRIES)
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
        began, used = time.perf_counter(), time.process_time()
        ledger.check()
        print(
            json.dumps(
                {
                    "entries": ENTRIES,
                    "filled_seconds": filling,
                    "megabytes": round(path.stat().st_size / 1e6),
                    "begin_seconds_at_1000": early,
                    "begin_seconds_at_100000": late,
                    "budget_seconds": seconds(lambda: ledger.budget("population 0")),
                    "budget_by_profile_seconds": seconds(lambda: ledger.total("population 0", 1e-4)),
                    "list_first_line_seconds": first,
                    "list_seconds": listed,
                    "list_lines": lines,
                    "check_cpu_seconds": round(time.process_time() - used, 3),
                    "check_seconds": round(time.perf_counter() - began, 3),
                }
            )
        )


if __name__ == "__main__":
    main()
