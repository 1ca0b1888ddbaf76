"""The line of progress leaves the terminal to a question, and goes on afterwards."""

import io
import time

import pytest

from crowdblend.cli.progress import progress_line


class Terminal(io.StringIO):
    """Where somebody watches."""

    def isatty(self) -> bool:
        return True


def test_a_paused_line_writes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Drawn ten times a second, it would write over the question."""
    terminal = Terminal()
    monkeypatch.setattr("sys.stderr", terminal)
    monkeypatch.setenv("TERM", "xterm")
    with progress_line(quiet=False) as progress:
        assert progress is not None
        progress.pause()
        assert "starting" in terminal.getvalue()
        asked = terminal.tell()
        time.sleep(0.3)
        assert terminal.tell() == asked
        progress("reading", 5)
        assert "reading" in terminal.getvalue()[asked:]


def test_nobody_watches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stderr", io.StringIO())
    with progress_line(quiet=False) as progress:
        assert progress is None
