"""One release of every golden policy, described but without figures."""

from pathlib import Path

import pytest

from crowdblend.policies.load import parse_policy
from crowdblend.publishing.release import release
from tests.golden.releases import KEY, POLICIES

ABOUT = '[about]\ntitle = "People of *Harbour*"\npublisher = "Office"\nlicence = "CC-BY-4.0"\nperiod = "2025"\n'
NAMES = (
    *("table", "table-noise", "table-flag", "table-open", "table-drawn", "table-biased"),
    *("table-register", "table-visits"),
    *("microdata", "points", "outlier-table", "statistics", "synopsis", "graph"),
)


@pytest.fixture(scope="session")
def folders(sources: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("folders")
    for name in NAMES:
        text = '[release]\nformat = "csv"\n' + POLICIES[name] + ABOUT
        release(parse_policy(text, sources), folder / name, key=KEY)
    release(parse_policy(POLICIES["table"], sources), folder / "table-parquet", key=KEY)
    return {name: folder / name for name in (*NAMES, "table-parquet")}
