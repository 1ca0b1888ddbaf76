"""The same audit many times: how often it finds something."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import as_completed
from dataclasses import dataclass

from crowdblend.auditing.statistical.run import audit
from crowdblend.auditing.statistical.subject import Subject
from crowdblend.auditing.statistical.verdict import Verdict
from crowdblend.auditing.statistical.workers import processes, submitted

_here: dict[str, Subject] = {}


@dataclass(frozen=True)
class Repeated:
    """How many audits had a finding, and how many runs they took together."""

    times: int
    findings: int
    runs: int


def repeat(
    subject: Subject,
    times: int,
    *,
    runs: int,
    error: float,
    workers: int = 1,
    progress: Callable[[int, int], None] | None = None,
) -> Repeated:
    """Audit `times` times with fresh randomness; `progress` gets how many are done, and how many had a finding."""
    verdicts: list[Verdict] = []

    def keep(verdict: Verdict) -> None:
        verdicts.append(verdict)
        if progress:
            progress(len(verdicts), sum(one.finding for one in verdicts))

    if workers == 1:
        for _ in range(times):
            keep(audit(subject, runs=runs, error=error, bound=False))
    else:
        pool = processes(subject, workers, _prepare)
        try:
            for done in as_completed(submitted(pool, _once, [(runs, error)] * times)):
                keep(done.result())
        finally:
            pool.shutdown(cancel_futures=True)
    return Repeated(times, sum(one.finding for one in verdicts), sum(one.runs for one in verdicts))


def _prepare(subject: Subject) -> None:
    _here["subject"] = subject


def _once(runs: int, error: float) -> Verdict:
    return audit(_here["subject"], runs=runs, error=error, bound=False)
