"""Runs spread over processes. Each makes its own randomness, and none is forked: a fork would share it."""

from __future__ import annotations

import pickle
import signal
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from contextlib import contextmanager
from multiprocessing import get_context
from typing import Any

from crowdblend.auditing.statistical.schedule import Task
from crowdblend.auditing.statistical.subject import Observed, Pair, Subject
from crowdblend.errors import InvalidInput

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
        waiting = set(submitted(self._pool, _observe_here, [(task,) for task in tasks]))
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
    pool = processes(subject, workers, _prepare)
    try:
        yield Together(pool)
    finally:
        pool.shutdown(cancel_futures=True)


def processes(subject: Subject, workers: int, prepare: Callable[[Subject], None]) -> ProcessPoolExecutor:
    """A pool of processes, none of them started yet, each of which gets the subject first."""
    try:
        pickle.dumps(subject)
    except (pickle.PicklingError, TypeError, AttributeError):
        raise InvalidInput(
            "The subject cannot be sent to other processes. Use functions that they can import instead of lambdas, or "
            "one worker."
        ) from None
    return ProcessPoolExecutor(workers, mp_context=get_context("spawn"), initializer=prepare, initargs=(subject,))


def submitted(
    pool: ProcessPoolExecutor, function: Callable[..., Any], calls: Iterable[tuple[Any, ...]]
) -> list[Future[Any]]:
    """Submit calls to the pool; an interruption from the keyboard is for this process alone.

    A process that is started while interruptions are ignored ignores them for good, and ends with the pool.
    """
    here = threading.current_thread() is threading.main_thread()
    before = signal.signal(signal.SIGINT, signal.SIG_IGN) if here else None
    try:
        return [pool.submit(function, *arguments) for arguments in calls]
    finally:
        if here:
            signal.signal(signal.SIGINT, before)


def _prepare(subject: Subject) -> None:
    _here["subject"], _here["pairs"] = subject, list(subject.pairs())


def _observe_here(task: Task) -> tuple[Task, Observed]:
    return task, _observe(_here["subject"], _here["pairs"], task)


def _observe(subject: Subject, pairs: list[Pair], task: Task) -> Observed:
    pair = pairs[task.pair]
    return subject.observe(pair.fewer if task.side else pair.more, task.runs)
