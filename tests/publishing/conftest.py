"""What tests of publishing share."""

from pathlib import Path

import pytest

from crowdblend.reports import write_report


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Releases whose page has no figures, which take most of the time."""

    def plain(folder: Path, **_: object) -> Path:
        return write_report(folder, figures=False)

    monkeypatch.setattr("crowdblend.reports.write_report", plain)
