"""What it takes to know a source again, as one JSON object: python bench/identity.py [rows]

CPU seconds of this process, after everything is loaded: the people of a column of numbers and of texts, and the rows.
"""

from __future__ import annotations

import json
import resource
import sys
import tempfile
from pathlib import Path

from bench.engine import POLICY, TEXTS, generate
from crowdblend.engines.identity import identify
from crowdblend.ledger import Wanted
from crowdblend.policies import parse_policy

ROWS = POLICY.replace('person = "person_id"', "rows_are_people = true")


def cpu() -> float:
    """CPU seconds of this process."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def main(rows: int) -> None:
    """Identify a generated table, twice each, and print the second figure."""
    figures = {}
    with tempfile.TemporaryDirectory() as name:
        generate(Path(name), rows)
        for what, text in (("numbers", POLICY), ("texts", TEXTS), ("rows", ROWS)):
            policy = parse_policy(text, Path(name))
            for _ in range(2):
                before = cpu()
                identify(policy.data, policy.resources, Wanted(bytes(32)))
                figures[what] = round(cpu() - before, 2)
    print(json.dumps({"rows": rows, "cpu": figures}, indent=2))


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 10_000_000)
