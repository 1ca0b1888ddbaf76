"""Progress on stderr: what is done, of how much where the end is known, and how fast.

Where stderr is no terminal it is a log, which is kept: a line a minute, and no number of rows.
"""

from __future__ import annotations

import shutil
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

import click

# Seconds between two writings of the same phase, and between two lines of a log.
_OFTEN = 0.1
_SELDOM = 60.0


class ProgressLine:
    """A line that is written again and again; paused, it leaves the terminal to a question."""

    def __init__(self) -> None:
        self._begun, self._phase, self._next = time.monotonic(), "", 0.0
        self("starting", 0)

    def __call__(self, phase: str, steps: int, total: int | None = None) -> None:
        """Show what is done, and how fast; a paused line goes on."""
        now = time.monotonic()
        if phase == self._phase and now < self._next:
            return
        self._phase, self._next = phase, now + _OFTEN
        seconds = now - self._begun
        pace = f"{steps:,} rows, {steps / seconds:,.0f} rows/s" if steps and seconds > 0.2 else ""
        text = f"{phase}  {pace if total is None else f'{steps:,} of {total:,}'}  {seconds:.0f} s"
        click.echo(f"\r\x1b[K{text[: shutil.get_terminal_size().columns - 1]}", nl=False, err=True)

    def pause(self) -> None:
        """Take the line away until there is something to show again."""
        self._next = 0.0
        click.echo("\r\x1b[K", nl=False, err=True)


class ProgressLog:
    """Lines of a log, the first after a minute: the phase, the share of it that is done, and the seconds."""

    def __init__(self) -> None:
        self._begun = time.monotonic()
        self._next = self._begun + _SELDOM

    def __call__(self, phase: str, steps: int, total: int | None = None) -> None:
        """Write a line if a minute has passed since the last one."""
        now = time.monotonic()
        if now >= self._next:
            self._next = now + _SELDOM
            share = f", {100 * steps // total} %" if total else ""
            click.echo(f"crowdblend: {phase}{share}, {now - self._begun:.0f} s", err=True)

    def pause(self) -> None:
        """Do nothing: a question stands below the lines."""


@contextmanager
def progress_line(*, quiet: bool) -> Iterator[ProgressLine | ProgressLog | None]:
    """Yield a callback that writes, a line of a terminal or lines of a log; None if `quiet`."""
    if quiet:
        yield None
        return
    if not sys.stderr.isatty():
        yield ProgressLog()
        return
    line = ProgressLine()
    try:
        yield line
    finally:
        line.pause()
