"""Every test of the Python interface has a ledger folder of its own."""

from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def own_ledger(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the user's own ledger is in this test."""
    monkeypatch.delenv("CROWDBLEND_LEDGER", raising=False)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "home"))
    return tmp_path / "home" / "crowdblend" / "ledger.sqlite"
