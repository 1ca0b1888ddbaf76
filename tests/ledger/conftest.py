"""Ledgers that several tests begin with."""

from collections.abc import Callable
from pathlib import Path

import pytest

from crowdblend.kinds import plan
from crowdblend.ledger import Ledger
from crowdblend.policies.load import parse_policy
from crowdblend.publishing.pending import pending_release, warn
from crowdblend.sources.engines.choice import default_engine
from tests.ledger.databases import DATABASES, place
from tests.ledger.files import filled
from tests.ledger.sources import policy


@pytest.fixture(params=DATABASES)
def ledger(request: pytest.FixtureRequest, tmp_path: Path) -> Ledger:
    """A new ledger, in every database."""
    return Ledger.create(place(request.param, tmp_path))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A file with three finished releases."""
    return filled(tmp_path / "ledger.sqlite")


@pytest.fixture
def begin(ledger: Ledger, tmp_path: Path) -> Callable[..., None]:
    """A release up to its entry in the ledger, which is all that decides."""

    def run(source: str, **named) -> None:
        planned = plan(parse_policy(policy(source, **named), tmp_path))
        key = bytes([len(ledger.entries())]) * 32
        pending = pending_release(planned, "/out", ledger, key, default_engine())
        warn(pending)
        ledger.begin(pending.spending, identity=pending.identity, key=key)

    return run
