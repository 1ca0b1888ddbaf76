"""Runs spread over processes. Each makes its own randomness, and none is forked: a fork would share it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, ProcessPoolExecutor, wait
from contextlib import contextmanager
from multiprocessing import get_context
from typing import Any

from crowdblend.audit.statistical.schedule import Task
from crowdblend.audit.statistical.subject import Observed, Pair, Subject

_here: dict[str, Any] = {}


class Alone:
    """All work in this process."""

    def __init__(self, subject: Subject) -> None:
        self._subject, self._pairs = subject, list(subject.pairs())

    def run(self, tasks: Iterable[Task]) -> Iterator[tuple[Task, Observed]]:
        """What each task saw, as it comes."""
        for task in tasks:
            yield task, _observe(self._subject, self._pairs, task)


class Together:
    """Work spread over several processes."""

    def __init__(self, pool: ProcessPoolExecutor) -> None:
        self._pool = pool

    def run(self, tasks: Iterable[Task]) -> Iterator[tuple[Task, Observed]]:
        """What each task saw, as it comes."""
        waiting = {self._pool.submit(_observe_here, task) for task in tasks}
        while waiting:
            done, waiting = wait(waiting, return_when=FIRST_COMPLETED)
            for finished in done:
                yield finished.result()


@contextmanager
def workforce(subject: Subject, workers: int) -> Iterator[Alone | Together]:
    """Processes that know the subject, or this one."""
    if workers == 1:
        yield Alone(subject)
        return
    pool = ProcessPoolExecutor(workers, mp_context=get_context("spawn"), initializer=_prepare, initargs=(subject,))
    try:
        yield Together(pool)
    finally:
        pool.shutdown(cancel_futures=True)


def _prepare(subject: Subject) -> None:
    _here["subject"], _here["pairs"] = subject, list(subject.pairs())


def _observe_here(task: Task) -> tuple[Task, Observed]:
    return task, _observe(_here["subject"], _here["pairs"], task)


def _observe(subject: Subject, pairs: list[Pair], task: Task) -> Observed:
    pair = pairs[task.pair]
    return subject.observe(pair.fewer if task.side else pair.more, task.runs)
