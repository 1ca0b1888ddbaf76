"""Ctrl-C, and signals that end the process: what was recorded goes with them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import NamedTuple

from crowdblend.errors import CrowdblendError, Interruption


class Standing(NamedTuple):
    """The progress of a release when something stops it, in words and as errors say it."""

    sentence: str
    recorded: bool | None = False
    entry: int | None = None


@contextmanager
def when_stopped(standing: Callable[[], Standing]) -> Iterator[None]:
    """Add this standing to what stops the work inside, where it has none and is no error of ours.

    It is asked for when something stops, so that it says how far the work is by then.
    """
    try:
        yield
    except CrowdblendError:
        raise
    except BaseException as problem:
        if not hasattr(problem, "standing"):
            add_standing(problem, standing())
        raise


def add_standing(problem: BaseException, standing: Standing) -> None:
    """Add a standing to an exception: its sentence as a note, the rest for `stopped_by`."""
    problem.add_note(standing.sentence)
    problem.standing = standing  # type: ignore[attr-defined]


def stopped_by(problem: BaseException, signal: int) -> Interruption:
    """Return the error of a command that a signal ended, with what was recorded."""
    standing: Standing = getattr(problem, "standing", Standing(""))
    stopped = Interruption("Stopped.", remedy=standing.sentence)
    stopped.signal, stopped.recorded, stopped.entry = signal, standing.recorded, standing.entry
    return stopped
