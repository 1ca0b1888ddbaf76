"""What a release costs the audit, by family, as one JSON object: python -m bench.audit [runs]

Every run is a whole release of a few made-up people: the coin, the classes, the mechanism, the files written and read
again; one at a time with a fresh key each, and in batches, which is how the audit measures its own power. Figures are
microseconds of CPU for one release, without what is done once, and one process has all of them.
"""

from __future__ import annotations

import json
import os
import sys
import time
from dataclasses import replace
from typing import Any

from crowdblend.lab.auditing.statistical.subject import hard_sizes
from tests.lab.rehearsal.families import FAMILIES

# A batch is warm when it has seen what comes often.
BATCHES = 20


def microseconds(subject: Any, runs: int) -> float:
    """The CPU time of one run."""
    pairs = subject.pairs()
    population = pairs[min(2, len(pairs) - 1)].more
    subject.observe(population, max(10, runs // 10))
    started = time.process_time()
    subject.observe(population, runs)
    return round(1e6 * (time.process_time() - started) / runs, 1)


def main() -> None:
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 500
    found: dict[str, Any] = {"runs": runs, "load": os.getloadavg()[0]}
    for name, family in FAMILIES.items():
        batched = family.subject(hard_sizes)
        found[name] = {
            "one_at_a_time": microseconds(replace(batched, stacked=False), runs),
            "in_batches": microseconds(batched, BATCHES * runs),
        }
    print(json.dumps(found))


if __name__ == "__main__":
    main()
