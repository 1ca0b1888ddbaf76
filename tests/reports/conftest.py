"""What tests of reports share."""

from __future__ import annotations

import pytest

from crowdblend.cli import main as entry


@pytest.fixture
def run(monkeypatch, capsys):
    """`crowdblend report` in this process: exit code, stdout and stderr."""

    def call(*arguments) -> tuple[int, str, str]:
        monkeypatch.setattr("sys.argv", ["crowdblend", "report", *map(str, arguments)])
        with pytest.raises(SystemExit) as left:
            entry.main()
        out, err = capsys.readouterr()
        return left.value.code, out, err

    return call
