"""The listings in docs/ledger.md are what the command prints."""

import re
import shlex
from pathlib import Path

import pytest

from crowdblend.ledger import Ledger, Spending, ledger
from crowdblend.ledger.declarations import Declarations, Limit
from crowdblend.ledger.filters import order_for
from crowdblend.ledger.limits import Accounts
from crowdblend.methods.planning.plan import plan
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


def test_how_many_releases_fit_each_way_of_counting() -> None:
    """The numbers in the table of both ways are those of `ledger plan`."""
    guarantees = with_profile(plan(k=8, rate=0.1, epsilon=1.0).certificate())
    release = Spending("residents", "planned", True, "table", guarantees, "out")
    fitting = [
        Accounts((), Declarations()).releases_that_fit(Limit("residents", 3.0, 1e-5, None, "ann", order=order), release)
        for order in (order_for(3.0, 1e-5), None)
    ]
    said = "at (3, 10⁻⁵) {} of (1, 2.3·10⁻⁷) at rate 0.1 instead of {}"
    assert said.format(*fitting) in PAGE.read_text(encoding="utf-8")
