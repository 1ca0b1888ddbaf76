"""The folder explains itself: datapackage.json, README.md, and hashes of every file."""

import json
import shutil
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest

from crowdblend.errors import DoesNotVerify, InvalidInput
from crowdblend.policies.load import parse_policy
from crowdblend.publishing.release import release
from crowdblend.reading.readme import readme
from crowdblend.reading.release import read
from crowdblend.reading.verification.consistency import verify_release
from crowdblend.trusted.calculus import sha256_of, verify_file
from tests.cases import for_each
from tests.golden.releases import DISTRICTS, POLICIES
from tests.reading.conftest import NAMES
from tests.reading.reports.releases import release as made


def package(folder: Path) -> Any:
    return json.loads((folder / "datapackage.json").read_text())


@for_each("name", NAMES)
def test_every_file_is_covered(name: str, folders: dict[str, Path], tmp_path: Path) -> None:
    folder = folders[name]
    files = verify_file(folder).facts["files"]
    assert {file.name for file in folder.iterdir()} == {*files, "certificate.json"}
    assert {"README.md", "datapackage.json", "report.html"} < set(files)
    for file in files:
        copy = tmp_path / file
        shutil.copytree(folder, copy)
        (copy / file).write_bytes((copy / file).read_bytes() + b" ")
        with pytest.raises(DoesNotVerify) as refused:
            verify_release(copy)
        assert refused.value.code == "file-edited"


def test_every_declared_label_is_in_the_folder(folders: dict[str, Path]) -> None:
    fields = {field["name"]: field for field in package(folders["table"])["resources"][0]["schema"]["fields"]}
    assert fields["district"]["categories"] == list(DISTRICTS)
    assert fields["age"]["categoriesOrdered"]
    assert not fields["district"]["categoriesOrdered"]
    described = package(folders["table"])
    assert described["title"] == "People of *Harbour*"
    assert described["licenses"] == [{"name": "CC-BY-4.0", "title": "CC-BY-4.0"}]
    assert described["contributors"] == [{"title": "Office", "role": "publisher"}]
    own = described["crowdblend"]
    assert own["unpublished_cell"] == {"low": 0, "high": 84}
    assert own["sampling"]["rate"] == 0.5
    assert own["guarantees"]
    assert (
        package(folders["table-open"])["resources"][0]["schema"]["fields"][0]["crowdblend"]["recoding"]["length"] == 3
    )


def test_pandas_reads_the_declared_categories_in_three_lines(folders: dict[str, Path]) -> None:
    """The lines of docs/reading.md."""
    folder = folders["table-parquet"]
    fields = json.loads((folder / "datapackage.json").read_text())["resources"][0]["schema"]["fields"]
    kinds = {
        f["name"]: pd.CategoricalDtype(f["categories"], f["categoriesOrdered"]) for f in fields if "categories" in f
    }
    data = pd.read_parquet(folder / "data.parquet").astype(kinds)
    assert list(data["district"].cat.categories) == list(DISTRICTS)
    assert data["age"].cat.ordered
    assert data.groupby("district", observed=False)["sampled"].sum().loc["Mills"] == 0


@for_each("name", NAMES)
def test_readme_explains_estimates_of_the_file_or_says_who_computes_them(name: str, folders: dict[str, Path]) -> None:
    text = (folders[name] / "README.md").read_text(encoding="utf-8")
    columns = (folders[name] / "data.csv").read_text(encoding="utf-8").split("\n")[0].replace('"', "").split(",")
    explained = "estimate, low and high" in text
    assert not explained or ({"estimate", "low", "high"} <= set(columns)) != ("which crowdblend read computes" in text)
    assert name != "microdata" or (explained and "Rows of the sample" in text)


def test_texts_of_the_policy_are_no_markup(folders: dict[str, Path]) -> None:
    assert (folders["table"] / "README.md").read_text().startswith("# People of &#42;Harbour&#42;\n")


@for_each("text", ["", "two\\nlines", "x" * 600, "\\u0007"])
def test_about_is_one_line_that_can_be_read(text: str, tmp_path: Path) -> None:
    with pytest.raises(InvalidInput) as refused:
        parse_policy(POLICIES["table"] + f'[about]\ntitle = "{text}"\n', tmp_path)
    assert refused.value.where == "[about] title"


def test_nothing_but_the_data_and_the_policy_decides_what_else_is_in_the_folder(folders: dict[str, Path]) -> None:
    """The explaining files are the same whatever the secret sample was, once the published data are the same."""
    from crowdblend.publishing.description import describe

    folder = folders["table"].parent / "again"
    folder.mkdir()
    before = verify_file(folders["table"])
    shutil.copy(folders["table"] / "data.csv", folder)
    facts = {**before.facts, "files": {"data.csv": sha256_of(folder / "data.csv")}}
    describe(folder, type(before)(before.derivations, before.stated, facts), before.facts["date"])
    for file in folders["table"].iterdir():
        assert (folder / file.name).read_bytes() == file.read_bytes()


def test_readers_are_told_to_select_all_labels(tmp_path: Path) -> None:
    """Rows without one of their labels would be taken for the whole: here five columns, of which none is left out."""
    columns = {name: ["x", "y"] for name in ("a", "b", "c", "d", "e")}
    folder = made(
        tmp_path,
        pa.table({**columns, "sampled": [60, 41], "estimate": [120.0, 82.0], "low": [90, 60], "high": [150, 99]}),
    )
    text = readme(read(folder))
    wanted = ", ".join(f'"{name}"' for name in (*columns, "estimate", "low", "high"))
    assert text.count(wanted) == 3


def test_the_file_that_is_opened_has_the_synthetic_rows(sources: Path, tmp_path: Path) -> None:
    release(parse_policy(POLICIES["synthetic"], sources), tmp_path / "out", ledger=None)
    text = (tmp_path / "out" / "README.md").read_text(encoding="utf-8")
    assert 'pd.read_parquet("synthetic.parquet")' in text
    assert "FROM 'synthetic.parquet'" in text
    # What is true of several tables stands once.
    lines = [line.partition(": ")[2] for line in text.splitlines() if line.startswith("- ") and ": " in line]
    assert len(set(lines)) == len(lines)
