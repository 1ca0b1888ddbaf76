"""Runs spread over processes. Each makes its own randomness, and none is forked: a fork would share it."""

from __future__ import annotations

import os
import pickle
import signal
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from contextlib import contextmanager
from multiprocessing import get_context
from typing import Any, TypeVar

from crowdblend.errors import InvalidInput

Result = TypeVar("Result")
# Makes calls of a function, with what the workers know as its first argument; results as they come.
Workforce = Callable[[Callable[..., Result], Iterable[tuple[Any, ...]]], Iterator[Result]]

_SAFE_PATH = "PYTHONSAFEPATH"
_here: dict[str, Any] = {}


@contextmanager
def workforce(context: object, workers: int) -> Iterator[Workforce[Any]]:
    """Processes that know something, or this one."""
    if workers == 1:
        yield lambda function, calls: (function(context, *arguments) for arguments in calls)
        return
    pool = processes(context, workers)
    try:
        yield lambda function, calls: (
            done.result() for done in as_completed(submit_calls(pool, _call, [(function, *each) for each in calls]))
        )
    finally:
        pool.shutdown(cancel_futures=True)


def processes(context: object, workers: int) -> ProcessPoolExecutor:
    """Return a pool of processes, none of them started yet, each of which is told first what to know."""
    try:
        pickle.dumps(context)
    except (pickle.PicklingError, TypeError, AttributeError):
        raise InvalidInput(
            "The subject cannot be sent to other processes. Use functions that they can import instead of lambdas, or "
            "one worker."
        ) from None
    with _starting():  # the pool starts a process that keeps track of its locks
        return ProcessPoolExecutor(workers, mp_context=get_context("spawn"), initializer=_prepare, initargs=(context,))


def submit_calls(
    pool: ProcessPoolExecutor, function: Callable[..., Any], calls: Iterable[tuple[Any, ...]]
) -> list[Future[Any]]:
    """Submit calls to the pool, which starts processes for them."""
    with _starting():
        return [pool.submit(function, *arguments) for arguments in calls]


@contextmanager
def _starting() -> Iterator[None]:
    """Keep interruptions from the keyboard, and modules in the working folder, away from processes that start inside.

    A process that is started while interruptions are ignored ignores them for good, and ends with the pool. Python's
    own modules come first in it: by default it would import those that lie in the working folder.
    """
    here = threading.current_thread() is threading.main_thread()
    before = signal.signal(signal.SIGINT, signal.SIG_IGN) if here else None
    safe = os.environ.get(_SAFE_PATH, "")
    os.environ[_SAFE_PATH] = "1"
    try:
        yield
    finally:
        os.environ[_SAFE_PATH] = safe  # blank says no
        if here:
            signal.signal(signal.SIGINT, before)


def _prepare(context: object) -> None:
    _here["known"] = context


def _call(function: Callable[..., Any], *arguments: Any) -> Any:
    return function(_here["known"], *arguments)
