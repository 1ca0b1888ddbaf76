"""What the columns of a release mean, as its data package says it."""

import json
import shutil
import warnings
from pathlib import Path

import pytest

from crowdblend.policies.load import parse_policy
from crowdblend.publishing.release import release
from tests.cases import for_each
from tests.golden.releases import KEY, POLICIES
from tests.reading.conftest import NAMES


@pytest.mark.slow  # a second reader of the format, which changes seldom
@for_each("name", [*NAMES, "table-parquet"])
def test_frictionless_finds_nothing_wrong(name: str, folders: dict[str, Path]) -> None:
    """Metadata and data: types, required values, enumerations, hashes and sizes."""
    from frictionless import validate

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = validate(str(folders[name] / "datapackage.json"))
    assert not [problem.message for task in found.tasks for problem in task.errors]
    assert not found.errors
    assert found.valid
    assert len(found.tasks) == len(list(folders[name].glob("*.csv"))) + len(list(folders[name].glob("*.parquet")))


@pytest.mark.slow
def test_frictionless_finds_what_is_wrong(folders: dict[str, Path], tmp_path: Path) -> None:
    """So that the test above can fail."""
    from frictionless import validate

    for at, (file, old, new) in enumerate(
        (("datapackage.json", '"type": "integer"', '"type": "date"'), ("data.csv", "Harbour", "Atlantis"))
    ):
        copy = tmp_path / str(at)
        shutil.copytree(folders["table"], copy)
        (copy / file).write_text((copy / file).read_text().replace(old, new))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            assert not validate(str(copy / "datapackage.json")).valid


@pytest.mark.parametrize(("name", "noun"), [("table-register", "people"), ("table-visits", "rows")])
def test_rows_are_not_called_people(name: str, noun: str, sources: Path, tmp_path: Path) -> None:
    release(parse_policy(POLICIES[name], sources), tmp_path / "out", key=KEY, ledger=None)
    resources = json.loads((tmp_path / "out" / "datapackage.json").read_text(encoding="utf-8"))["resources"]
    assert resources[0].get("encoding") == ("utf-8" if resources[0]["format"] == "csv" else None)  # text alone has one
    meanings = {field["name"]: field["description"] for field in resources[0]["schema"]["fields"]}
    assert noun in meanings["count"]
    assert ("people" in meanings["estimate"]) == (noun == "people")
