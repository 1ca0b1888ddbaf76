"""The line of progress leaves the terminal to a question, and goes on afterwards."""

import io

import pytest

from crowdblend.cli.progress import progress_line


class Terminal(io.StringIO):
    """Where somebody watches."""

    def isatty(self) -> bool:
        return True


def test_a_paused_line_writes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    monkeypatch.setattr("sys.stderr", terminal)
    monkeypatch.setenv("TERM", "xterm")
    with progress_line(quiet=False) as progress:
        assert progress is not None
        progress.pause()
        assert "starting" in terminal.getvalue()
        asked = terminal.tell()
        progress("reading", 5)
        assert "reading" in terminal.getvalue()[asked:]
        progress("rehearsing", 5, 20)
        assert "rehearsing  5 of 20" in terminal.getvalue()
        written = terminal.tell()
        progress("rehearsing", 6, 20)  # a few times a second, not at every step
        assert terminal.tell() == written
    assert terminal.getvalue().endswith("\x1b[K")


def test_nobody_watches() -> None:
    with progress_line(quiet=True) as progress:
        assert progress is None
