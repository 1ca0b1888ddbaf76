"""Whether audits find as often as they foresee, as one JSON object: python -m bench.audit_outlook FAMILY RUNS [TIMES]

Each time the outlook of an audit of so many runs says how likely it is at least to refute half of ε, and an audit of
the same release that claims half of ε tries to.
"""

from __future__ import annotations

import json
import sys
from statistics import fmean

from crowdblend.lab.auditing.statistical.outlook import foresee
from crowdblend.lab.auditing.statistical.run import audit
from crowdblend.lab.auditing.statistical.subject import hard_sizes
from tests.lab.rehearsal.families import FAMILIES


def main() -> None:
    name, runs, times = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]) if len(sys.argv) > 3 else 20
    honest, half = (FAMILIES[name].subject(hard_sizes, understated=factor) for factor in (1.0, 2.0))
    stated = [foresee(honest, runs=runs).half_refuted for _ in range(times)]
    found = [audit(half, runs=runs, bound=False).finding for _ in range(times)]
    figures = {
        "family": name,
        "runs": runs,
        "audits": times,
        "findings": sum(found),
        "stated": round(fmean(stated), 3),
        "most": round(max(stated), 3),
    }
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
