"""What the columns of a release mean, as its data package says it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from crowdblend.policies.load import parse_policy
from crowdblend.publishing.release import release
from tests.golden.releases import KEY, POLICIES, write_sources


@pytest.mark.parametrize(("name", "noun"), [("table-register", "people"), ("table-visits", "rows")])
def test_rows_are_not_called_people(name: str, noun: str, tmp_path: Path) -> None:
    write_sources(tmp_path)
    release(parse_policy(POLICIES[name], tmp_path), tmp_path / "out", key=KEY, ledger=None)
    resources = json.loads((tmp_path / "out" / "datapackage.json").read_text(encoding="utf-8"))["resources"]
    meanings = {field["name"]: field["description"] for field in resources[0]["schema"]["fields"]}
    assert noun in meanings["count"]
    assert ("people" in meanings["estimate"]) == (noun == "people")
