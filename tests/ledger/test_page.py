"""The listings in docs/ledger.md are what the command prints."""

import re
import shlex
from pathlib import Path

import pytest

from crowdblend.ledger import Ledger, Spending, ledger
from crowdblend.planning.plan import plan
from crowdblend.publishing.pending import with_profile
from tests.commands import crowdblend
from tests.ledger.spendings import DATA, DIGEST

PAGE = Path(__file__).parents[2] / "docs" / "ledger.md"


def test_the_listings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CROWDBLEND_LEDGER", str(tmp_path / "ledger.sqlite"))
    made, released = Ledger.create(), with_profile(plan(rate=0.1, epsilon=1.0, delta=1e-6).certificate())
    for day, population, kind, fresh in (
        ("02", "residents", "table", True),
        ("09", "residents", "microdata", True),
        ("16", "patients", "table", False),
    ):
        monkeypatch.setattr(ledger, "now", lambda day=day: f"2026-03-{day}T09:00:00+00:00")
        entry = made.begin(Spending(population, f"sample-{day}", fresh, kind, released, "out"))
        if fresh:
            made.finish(entry, certificate_digest=DIGEST, data_sha256=DATA)
    [block] = re.findall(r"^```text\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    for step in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
        command, _, expected = step.partition("\n")
        assert crowdblend(*shlex.split(command)[1:]).stdout == expected
