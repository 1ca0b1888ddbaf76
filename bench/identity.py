"""What it takes to know a source again, as one JSON object: python -m bench.identity [rows]

CPU seconds of this process, after everything is loaded: the people of a column of numbers and of texts, and rows alone;
beside them a whole release without a ledger, and the share that knowing the source again would add to it.
"""

from __future__ import annotations

import json
import resource
import sys
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path

import duckdb

from bench.engine import POLICY, TEXTS, generate
from crowdblend.ledger import FingerprintRequest
from crowdblend.policies.load import parse_policy
from crowdblend.publishing.release import release
from crowdblend.sources.engines.choice import identify

POLICIES = {
    "numbers": POLICY,
    "texts": TEXTS,
    "rows": POLICY.replace('person = "person_id"', "rows_are_people = true"),
    "numbers, CSV": POLICY.replace("people.parquet", "people.csv"),
}


def cpu(work: Callable[[], object]) -> float:
    """CPU seconds of this process for a piece of work."""
    before = resource.getrusage(resource.RUSAGE_SELF)
    work()
    after = resource.getrusage(resource.RUSAGE_SELF)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main(rows: int) -> None:
    """Release a generated table and identify it; the second figure of two each."""
    figures = {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        generate(folder, rows)
        duckdb.sql(f"COPY (FROM '{folder / 'people.parquet'}') TO '{folder / 'people.csv'}'")
        for what, text in POLICIES.items():
            policy = parse_policy(text.replace("k = 20\n", ""), folder)
            for turn in range(2):
                out = folder / f"{what} {turn}"
                whole = cpu(partial(release, policy, out))
                known = cpu(partial(identify, policy.data, policy.resources, FingerprintRequest(bytes(32))))
            figures[what] = {"identity": round(known, 2), "release": round(whole, 2), "share": round(known / whole, 2)}
    print(json.dumps({"rows": rows, "cpu": figures}, indent=2))


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 10_000_000)
