"""Progress on stderr: a line with rows and pace, or a bar where the end is known. Silent when nobody watches."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from crowdblend.lazy import lazy_imports

with lazy_imports():
    from rich import console
    from rich import progress as rich


class ProgressLine:
    """A line that is drawn again and again; paused, it leaves the terminal to a question."""

    def __init__(self, bar: rich.Progress) -> None:
        self._bar = bar
        self._task = bar.add_task("starting", pace="", total=None)

    def __call__(self, phase: str, rows: int) -> None:
        """Show what is done, and how fast; a paused line goes on."""
        elapsed = self._bar.tasks[0].elapsed or 0
        pace = f"{rows:,} rows, {rows / elapsed:,.0f} rows/s" if rows and elapsed > 0.2 else ""
        self._bar.update(self._task, description=phase, pace=pace)
        self._bar.start()

    def pause(self) -> None:
        """Take the line away until there is something to show again."""
        self._bar.stop()


@contextmanager
def progress_line(*, quiet: bool) -> Iterator[ProgressLine | None]:
    """Yield a callback that draws, or None when stderr is no terminal."""
    if quiet or not sys.stderr.isatty():
        yield None
        return
    texts = rich.TextColumn("{task.description}"), rich.TextColumn("{task.fields[pace]}")
    with _progress_bar(rich.SpinnerColumn(), *texts, rich.TimeElapsedColumn()) as bar:
        yield ProgressLine(bar)


@contextmanager
def progress_bar(*, quiet: bool) -> Iterator[Callable[[str, int, int], None] | None]:
    """Yield a callback that takes the phase, what is done and what there is in all; None when stderr is no terminal."""
    if quiet or not sys.stderr.isatty():
        yield None
        return
    text = rich.TextColumn("{task.description}")
    with _progress_bar(text, rich.BarColumn(), rich.MofNCompleteColumn(), rich.TimeRemainingColumn()) as bar:
        task = bar.add_task("starting", total=None)
        yield lambda phase, done, total: bar.update(task, description=phase, completed=done, total=total)


def _progress_bar(*columns: rich.ProgressColumn) -> rich.Progress:
    return rich.Progress(*columns, console=console.Console(stderr=True), transient=True)
