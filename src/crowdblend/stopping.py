"""Ctrl-C, and signals that end the process: a sentence that says what was recorded goes with them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from crowdblend.errors import CrowdblendError


@contextmanager
def when_stopped(sentence: Callable[[], str]) -> Iterator[None]:
    """Add this sentence, as a note, to what stops the work inside, where it has none and is no error of ours.

    The sentence is made when something stops, so that it says how far the work is by then.
    """
    try:
        yield
    except CrowdblendError:
        raise
    except BaseException as problem:
        if not getattr(problem, "__notes__", ()):
            problem.add_note(sentence())
        raise
