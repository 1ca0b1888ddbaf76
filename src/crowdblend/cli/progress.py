"""Progress on stderr: what is done, of how much where the end is known, and how fast. Silent when nobody watches."""

from __future__ import annotations

import shutil
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

import click

# Seconds between two writings of the same phase.
_OFTEN = 0.1


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


@contextmanager
def progress_line(*, quiet: bool) -> Iterator[ProgressLine | None]:
    """Yield a callback that writes, or None when stderr is no terminal."""
    if quiet or not sys.stderr.isatty():
        yield None
        return
    line = ProgressLine()
    try:
        yield line
    finally:
        line.pause()
