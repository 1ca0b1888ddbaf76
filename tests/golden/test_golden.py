"""Data, policy and key decide every published byte; a change of structure may not change them."""

import hashlib
import json
import os
import re
from pathlib import Path

import duckdb
import pytest

from crowdblend.policies.load import parse_policy
from crowdblend.publishing.release import release
from crowdblend.reading.reports.write import report_html
from tests.golden.releases import KEY, POLICIES, PROGRAMMES
from tests.golden.test_guarantees import described, written

HASHES = Path(__file__).parent / "hashes.json"


@pytest.mark.parametrize("name", POLICIES | PROGRAMMES)
def test_the_published_bytes_are_those_of_the_first_release(
    name: str, sources: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = '[release]\nformat = "csv"\n' + (POLICIES | PROGRAMMES)[name]
    done = release(parse_policy(text, sources), tmp_path / "out", key=KEY, ledger=None)
    found = hashes_of(tmp_path / "out")
    assert found
    assert described(done.certificate) == written()[name]
    # The page is made of what is in memory, and of the files it is the same.
    assert (tmp_path / "out" / "report.html").read_text(encoding="utf-8") == report_html(tmp_path / "out")
    run_readme(tmp_path / "out", monkeypatch)
    hashes = written_hashes() if HASHES.exists() else {}
    if os.environ.get("CROWDBLEND_WRITE_GOLDEN"):
        HASHES.write_text(json.dumps(hashes | {name: found}, indent=1, sort_keys=True) + "\n")
        return
    assert found == hashes[name]


def written_hashes() -> dict[str, dict[str, str]]:
    """The hashes that are written down, by release and file."""
    found: dict[str, dict[str, str]] = json.loads(HASHES.read_text())
    return found


def hashes_of(folder: Path) -> dict[str, str]:
    """Hashes of the published files, but for the rows of a model, whose last digits differ between processors."""
    files = [file for file in sorted(folder.glob("*.csv")) if file.stem != "synthetic"]
    return {file.name: hashlib.sha256(file.read_bytes()).hexdigest() for file in files}


def run_readme(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What README.md tells readers to run in pandas, SQL and Python runs in that very folder; it has no backslash."""
    text = (folder / "README.md").read_text(encoding="utf-8")
    assert "\\" not in text
    monkeypatch.chdir(folder)
    blocks = {
        name: "\n".join(line[4:] for line in code.split("\n") if line.startswith("    "))
        for name, code in _blocks(text)
    }
    exec(blocks["pandas"])
    assert duckdb.sql(blocks["SQL (DuckDB reads the file where it lies)"]).columns
    exec(blocks.get("Python, with estimates and intervals", ""))


def _blocks(text: str) -> list[tuple[str, str]]:
    """The sections of README.md that say how to open the data, by language."""
    return [(found[1], found[2]) for found in re.finditer(r"## In (.*?)\n(.*?)(?=\n## )", text, re.DOTALL)]
