"""Which files a source is, for whoever asks: reading, the ledger, `init` and the guess of the format."""

import errno
import os
import time
from pathlib import Path

import pytest

from crowdblend.errors import InvalidInput
from crowdblend.policies.files import format_of, source_files
from crowdblend.policies.header import read_header
from crowdblend.policies.load import parse_policy

TREE = (
    *(
        "a.csv",
        "b.CSV",
        "c.csv.gz",
        "d.tsv.zst",
        "e.txt",
        "f.parquet",
        "deep/g.csv",
        "deep/h.pq",
        "_SUCCESS",
        "_log.csv",
    ),
    *(".hidden.csv", "notes.md", "_temporary/i.csv", ".git/j.csv", "published/certificate.json", "published/data.csv"),
    *("published/data.parquet", "published/deep/k.csv", "l.csv.bz2", "m.parquet.gz", "csv"),
)
CSV = ["a.csv", "b.CSV", "c.csv.gz", "d.tsv.zst", "deep/g.csv", "e.txt"]


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    for name in TREE:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    return tmp_path


def names(folder: Path, source: str, kind: str) -> list[str]:
    return [str(file.relative_to(folder)) for file in source_files(str(folder / source), kind)]


def test_a_folder_is_its_files_of_one_format(tree: Path) -> None:
    assert names(tree, ".", "csv") == CSV
    assert names(tree, ".", "parquet") == ["deep/h.pq", "f.parquet"]


@pytest.mark.parametrize(
    ("pattern", "files"),
    [
        ("*", [name for name in CSV if "/" not in name]),
        ("**/*", CSV),
        ("*/*.csv", ["deep/g.csv"]),
        ("**/*.csv", ["a.csv", "deep/g.csv"]),
        ("*.md", ["notes.md"]),
        ("publ*/data.csv", []),
        ("_*", []),
    ],
)
def test_a_pattern_is_what_it_matches(tree: Path, pattern: str, files: list[str]) -> None:
    if files:
        assert names(tree, pattern, "csv") == files
    else:
        with pytest.raises(InvalidInput):
            names(tree, pattern, "csv")


def test_a_file_is_itself_wherever_it_lies(tree: Path) -> None:
    for name in ("_log.csv", "published/data.csv", "notes.md", "missing.csv"):
        assert names(tree, name, "csv") == [name]


def test_a_release_is_no_data(tree: Path) -> None:
    with pytest.raises(InvalidInput, match="certificate"):
        source_files(str(tree / "published"), "csv")


def test_a_file_does_not_count_twice(tree: Path) -> None:
    (tree / "again.csv").symlink_to(tree / "a.csv")
    for source in (".", "*.csv"):
        with pytest.raises(InvalidInput, match="twice"):
            source_files(str(tree / source), "csv")


@pytest.mark.parametrize(
    ("link", "leads_to"),
    [
        *(("b.csv", "x.csv"), ("sub/b.csv", "x.csv"), ("b.csv", ""), ("b", "")),
        *(("b.csv", "nothing.csv"), ("b.csv", "/none")),
    ],
)
def test_a_link_out_of_the_folder_of_the_data_is_refused(tmp_path: Path, link: str, leads_to: str) -> None:
    # What begins with the name of the folder is outside of it too.
    here, outside = tmp_path / "here", tmp_path / "here and there"
    data = here / "data"
    for folder in (data / "sub", outside):
        folder.mkdir(parents=True)
    for file in (data / "a.csv", outside / "x.csv"):
        file.write_text("id\n1\n")
    (data / link).symlink_to(outside / leads_to)
    for source in ("data", f"data/{link}*", f"d*/{link}", "data/**/*"):
        with pytest.raises(InvalidInput) as caught:
            source_files(str(here / source), "csv")
        assert (caught.value.code, caught.value.where) == ("data.link", "source"), source
        with pytest.raises(InvalidInput):
            read_header(here / source)
    assert source_files(str(data / "a.csv"), "csv")


def test_a_folder_that_cannot_be_looked_into_leaves_nobody_out(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    look = os.scandir

    def scandir(path: str) -> object:
        if Path(path) in (tree / "deep", tree / ".git"):
            raise PermissionError(errno.EACCES, "Permission denied", path)
        return look(path)

    monkeypatch.setattr(os, "scandir", scandir)
    with pytest.raises(InvalidInput) as caught:
        source_files(str(tree), "csv")
    assert caught.value.code == "data.unreadable"
    (tree / "deep").rename(tree / "_deep")
    assert source_files(str(tree), "csv")


def test_other_links_are_left_alone(tmp_path: Path) -> None:
    data, outside = tmp_path / "data", tmp_path / "outside"
    for folder in (data / ".store", data / "sub", outside):
        folder.mkdir(parents=True)
    for file in (data / ".store" / "b.csv", data / "sub" / "c.csv", outside / "x.csv", outside / "readme.md"):
        file.write_text("id\n1\n")
    (data / "b.csv").symlink_to(".store/b.csv")
    (data / "latest").symlink_to("sub")
    (data / "_old.csv").symlink_to(outside / "x.csv")
    (data / "readme.md").symlink_to(outside / "readme.md")
    (tmp_path / "named.csv").symlink_to(outside / "x.csv")
    (tmp_path / "named").symlink_to(data)
    for source, files in (("data", ["b.csv", "sub/c.csv"]), ("named", ["b.csv", "sub/c.csv"]), ("named.csv", ["."])):
        found = source_files(str(tmp_path / source), "csv")
        assert [file.relative_to(tmp_path / source).as_posix() for file in found] == files


def test_a_name_says_the_format() -> None:
    said = {name: format_of(name) for name in (*CSV, "x.ddb", "x.DuckDB", "f.PQ", "l.csv.bz2", "m.parquet.gz", "csv")}
    assert said == {
        **dict.fromkeys(CSV, "csv"),
        "x.ddb": "duckdb",
        "x.DuckDB": "duckdb",
        "f.PQ": "parquet",
        "l.csv.bz2": None,
        "m.parquet.gz": None,
        "csv": None,
    }


@pytest.mark.parametrize("before", ["", "[columns]\n", "[release]\n", "[columns]\nx = { "])
@pytest.mark.parametrize("part", ["a", '"a"', "'a'"])
def test_a_key_of_many_parts_is_refused_at_once(before: str, part: str) -> None:
    started = time.process_time()
    for parts in (100, 20_000):
        end = " = 1 }" if before.endswith("{ ") else " = 1"
        with pytest.raises(InvalidInput) as refused:
            parse_policy(f"{before}{'.'.join([part] * parts)}{end}\n")
        assert refused.value.code == "policy.toml"
    assert time.process_time() - started < 5
    with pytest.raises(InvalidInput) as refused:
        parse_policy(f"{before}{'.'.join([part] * 50)}{end}\n")
    assert refused.value.code != "policy.toml"
    long = "a" * 1_000_000  # no dots, in no time
    with pytest.raises(InvalidInput):
        parse_policy(f"x = '{long}'")
