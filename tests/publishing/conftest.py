"""Releases that several files of tests hold against their certificates."""

from pathlib import Path

import pytest

from crowdblend.policies.load import parse_policy
from crowdblend.publishing.release import release
from tests.golden.releases import KEY, POLICIES


@pytest.fixture(scope="session")
def releases(sources: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """One release of every golden policy."""
    folder = tmp_path_factory.mktemp("releases")
    for name, text in POLICIES.items():
        changed = '[release]\nformat = "csv"\n' + text
        release(parse_policy(changed, sources), folder / name, key=KEY)
    return {name: folder / name for name in POLICIES}
