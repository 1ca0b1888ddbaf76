"""A newcomer who follows the first pages word for word gets where they lead."""

import re
import shlex
from pathlib import Path

import numpy as np
import pytest
from pyarrow import parquet

from crowdblend.lab.demo import town
from crowdblend.lab.demo.population import SURVEY_DAY
from crowdblend.ledger import Ledger
from tests.commands import crowdblend

ROOT = Path(__file__).parents[2]
COMMAND = re.compile(r"^    (crowdblend .+)$", re.MULTILINE)
POLICY = re.compile(r"^```toml\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def commands(page: str) -> list[list[str]]:
    """The commands of a page that stand by themselves, without the program's name and without comments."""
    text = (ROOT / page).read_text(encoding="utf-8")
    return [shlex.split(line, comments=True)[1:] for line in COMMAND.findall(text)]


def test_people_of_the_town_were_born_as_long_ago_as_they_are_old() -> None:
    people = town(3_000)
    since = (SURVEY_DAY - people["born"].to_numpy()).astype("timedelta64[D]").astype(int)
    days = np.floor(since - 365.25 * people["age"].to_numpy())
    assert (days.min(), days.max()) == (-1, 364)


def test_a_steward_publishes_and_a_reader_reads(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`crowdblend demo` stands beside its own tests; a smaller town is put where it leaves its own."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "own"))
    (tmp_path / "demo").mkdir()
    parquet.write_table(town(5_000), tmp_path / "demo" / "town.parquet")
    steward = commands("docs/start/steward.md")
    assert [words[0] for words in steward] == ["init", "release", "check", "release", "verify"]
    (policy,) = POLICY.findall((ROOT / "docs/start/steward.md").read_text(encoding="utf-8"))
    Ledger.create()  # made after a question, where somebody answers
    for words in steward:
        if words[0] == "release":
            (tmp_path / "policy.toml").write_text(policy, encoding="utf-8")
        asked = ["--yes"] if "--out" in words else []
        done = crowdblend(*words, *asked, folder=tmp_path)
        assert done.returncode == 0, done.stderr
    (tmp_path / "published").rename(tmp_path / "demo" / "town-table")
    for words in commands("docs/start/reader.md"):
        done = crowdblend(*words, folder=tmp_path)
        assert done.returncode == 0, done.stderr
    assert '"female"' in done.stdout


def test_the_readme_is_a_page() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 90
    assert [words[0] for words in commands("README.md")] == ["init", "release", "release", "verify", "studio"]
    assert all(f"docs/start/{page}.md" in text for page in ("steward", "reader", "python", "researcher"))
