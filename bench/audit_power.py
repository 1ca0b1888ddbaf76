"""How often audits find what is wrong, as one JSON object: python -m bench.audit_power [--injected] [--understate F]

Audits of every family of our own mechanisms, at parameters where its guarantee is tight, or with a bug injected into
its plan. A claim that is wrong must be refuted in 95 % of the audits, a true one in no more than the stated error.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from dataclasses import dataclass

from crowdblend.lab.auditing.statistical.run import Verdict, audit
from crowdblend.lab.auditing.statistical.subject import Subject, hard_sizes
from crowdblend.lab.auditing.statistical.workers import workforce
from tests.lab.rehearsal.families import FAMILIES, Family
from tests.lab.rehearsal.injected_bugs import INJECTED_BUGS, InjectedBug

POWER = 0.95


@dataclass(frozen=True)
class Repeated:
    """How many audits had a finding, and how many runs they took together."""

    times: int
    findings: int
    runs: int


def repeat(subject: Subject, times: int, *, runs: int, error: float, workers: int = 1) -> Repeated:
    """Audit `times` times with fresh randomness."""
    with workforce(subject, workers) as force:
        verdicts = list(force(_once, [(runs, error)] * times))
    return Repeated(times, sum(one.finding for one in verdicts), sum(one.runs for one in verdicts))


def _once(subject: Subject, runs: int, error: float) -> Verdict:
    return audit(subject, runs=runs, error=error, bound=False)


def counted(family: Family | InjectedBug, asked: argparse.Namespace) -> dict[str, object]:
    """The findings of some audits of one family."""
    subject = family.subject(hard_sizes, understated=asked.understate)
    started, workers = time.perf_counter(), min(os.cpu_count() or 1, asked.repeat)
    found = repeat(subject, asked.repeat, runs=asked.runs, error=asked.error, workers=workers)
    mistake = {"mistake": family.words} if isinstance(family, InjectedBug) else {}
    return {
        **{"family": family.name, **mistake, "epsilon": subject.guarantee.epsilon, "delta": subject.guarantee.delta},
        **{"audits": found.times, "findings": found.findings, "runs": found.runs},
        "seconds": round(time.perf_counter() - started, 1),
    }


def main() -> None:
    options = argparse.ArgumentParser()
    options.add_argument("--injected", action="store_true", help="with a bug in each")
    options.add_argument("--family", action="append", help="only this one")
    options.add_argument("--understate", type=float, default=1.0, help="claim epsilon divided by this")
    options.add_argument("--repeat", type=int, default=1, help="how many audits of each")
    options.add_argument("--runs", type=int, default=100_000, help="runs of an audit at most")
    options.add_argument("--error", type=float, default=1e-3, help="how likely a false alarm may be")
    asked = options.parse_args()
    known: dict[str, Family] | dict[str, InjectedBug] = INJECTED_BUGS if asked.injected else FAMILIES
    rows = [counted(known[name], asked) for name in asked.family or known]
    wrong = asked.injected or asked.understate > 1
    most = asked.error * asked.repeat
    passed = all(row["findings"] >= POWER * asked.repeat if wrong else row["findings"] <= most for row in rows)
    how = {"understated": asked.understate, "error": asked.error, "most_runs": asked.runs}
    print(json.dumps({"passed": passed, **how, "families": rows}))
    sys.exit(0 if passed else 1)


if __name__ == "__main__":
    main()
