"""Releases that several files of tests hold against their certificates."""

import shutil
from pathlib import Path

import pytest

from crowdblend.ledger import Ledger
from crowdblend.policies.load import parse_policy
from crowdblend.publishing.release import release
from tests.golden.releases import KEY, POLICIES
from tests.publishing.killing import prepare


@pytest.fixture(scope="session")
def releases(sources: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """One release of every golden policy."""
    folder = tmp_path_factory.mktemp("releases")
    for name, text in POLICIES.items():
        changed = '[release]\nformat = "csv"\n' + text
        release(parse_policy(changed, sources), folder / name, key=KEY)
    return {name: folder / name for name in POLICIES}


@pytest.fixture(scope="session")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A steward's folder, to be copied."""
    folder = tmp_path_factory.mktemp("prepared") / "place"
    prepare(folder)
    return folder


@pytest.fixture
def place(prepared: Path, tmp_path: Path) -> Path:
    """A steward's folder."""
    shutil.copytree(prepared, tmp_path / "place")
    return tmp_path / "place"


@pytest.fixture
def ledger(place: Path) -> Ledger:
    """The ledger in it."""
    return Ledger.open(place / "ledger.sqlite")
