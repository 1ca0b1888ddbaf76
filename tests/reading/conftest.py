"""One release of every golden policy, described but without figures."""

from pathlib import Path

import pytest

from crowdblend.policies import parse_policy
from crowdblend.publishing.release import release
from tests.golden.releases import KEY, POLICIES, write_sources

ABOUT = '[about]\ntitle = "People of *Harbour*"\npublisher = "Office"\nlicence = "CC-BY-4.0"\nperiod = "2025"\n'
NAMES = (
    *("table", "table-noise", "table-flag", "table-open", "table-drawn", "table-biased"),
    *("table-register", "table-visits"),
    *("microdata", "points", "outlier-table", "statistics", "synopsis", "graph"),
)


@pytest.fixture(scope="session")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("folders")
    write_sources(folder)
    with pytest.MonkeyPatch.context() as quick:
        quick.setattr("crowdblend.reports.write_report", lambda to, **_: (to / "report.html").write_text("left out"))
        for name in NAMES:
            text = '[release]\nformat = "csv"\n' + POLICIES[name] + ABOUT
            release(parse_policy(text, folder), folder / name, key=KEY)
        release(parse_policy(POLICIES["table"], folder), folder / "table-parquet", key=KEY)
    return {name: folder / name for name in (*NAMES, "table-parquet")}
