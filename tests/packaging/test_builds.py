"""Wheel and source archive: the same bytes for the same sources, and everything in them that is needed."""

import itertools
import os
import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement

import crowdblend

ROOT = Path(__file__).parents[2]
SOURCES = ("src", "tools", "requirements", "pyproject.toml", "MANIFEST.in", "README.md", "LICENSE", "CHANGELOG.md",
           "CITATION.cff", "CONTRIBUTING.md", "ARCHITECTURE.md", "SECURITY.md")  # fmt: skip
BUILD = (
    "import sys; import reproducible_build as build; target = sys.argv[1]; "
    "build.build_wheel(target); build.build_sdist(target)"
)


def built(folder: Path, *, umask: int) -> dict[str, bytes]:
    """The archives of a copy of the sources whose files are new and have other permissions."""
    copy, target = folder / "copy", folder / "dist"
    target.mkdir(parents=True)
    old = os.umask(umask)
    try:
        for name in SOURCES:
            source = ROOT / name
            if source.is_dir():
                ignored = shutil.ignore_patterns("__pycache__", "*.egg-info")
                shutil.copytree(source, copy / name, ignore=ignored, copy_function=shutil.copyfile)
            else:
                copy.mkdir(exist_ok=True)
                shutil.copyfile(source, copy / name)
        path = os.pathsep.join([str(copy / "tools"), os.environ.get("PYTHONPATH", "")])
        subprocess.run(
            [sys.executable, "-c", BUILD, str(target)],
            cwd=copy, env={**os.environ, "PYTHONPATH": path}, check=True, capture_output=True,
        )  # fmt: skip
    finally:
        os.umask(old)
    return {file.name: file.read_bytes() for file in target.iterdir()}


@pytest.mark.slow
def test_two_builds_are_one(tmp_path: Path) -> None:
    first, second = built(tmp_path / "a", umask=0o022), built(tmp_path / "b", umask=0o077)
    assert len(first) == 2
    assert first.keys() == second.keys()
    for name in first:
        assert first[name] == second[name], name
    wheel = next(path for path in (tmp_path / "a" / "dist").glob("*.whl"))
    with zipfile.ZipFile(wheel) as archive:
        held = set(archive.namelist())
    assert {"crowdblend/py.typed", "crowdblend/lab/demo/town-table.toml", "crowdblend/api/release.py"} <= held
    assert not any(name.startswith(("tests", "tools")) for name in held)
    source = next(path for path in (tmp_path / "a" / "dist").glob("*.tar.gz"))
    with tarfile.open(source) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert {"tools/reproducible_build.py", "LICENSE", "CITATION.cff", "SECURITY.md"} <= names


def project() -> dict[str, Any]:
    """Return what pyproject.toml says of the package."""
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def test_what_the_main_job_needs_is_no_extra() -> None:
    needed = {Requirement(line).name for line in project()["dependencies"]}
    assert {"duckdb", "pyarrow", "numpy", "scipy", "python-flint", "cryptography", "click"} <= needed


def test_the_extra_all_is_every_other_extra() -> None:
    extras = project()["optional-dependencies"]
    [everything] = map(Requirement, extras["all"])
    assert everything.name == "crowdblend"
    assert everything.extras == extras.keys() - {"all"}


def test_no_dependency_has_an_upper_bound() -> None:
    lines = [*project()["dependencies"], *itertools.chain(*project()["optional-dependencies"].values())]
    bounds = [(line, bound.operator) for line in lines for bound in Requirement(line).specifier]
    assert len(bounds) >= len(project()["dependencies"])
    assert [line for line, operator in bounds if operator not in (">=", "!=")] == []


def test_the_conda_recipe_needs_what_the_package_needs() -> None:
    text = (ROOT / "packaging" / "conda" / "meta.yaml").read_text(encoding="utf-8")
    assert f'version = "{crowdblend.__version__}"' in text
    _, run = text.split("  run:\n")
    listed = [line.strip().removeprefix("- ") for line in run.split("\ntest:")[0].splitlines() if line.strip()]
    on_conda = {"duckdb": "python-duckdb"}
    wanted = [Requirement(line) for line in project()["dependencies"]]
    python = f"python {project()['requires-python']}"
    assert sorted(listed) == sorted([python, *(f"{on_conda.get(it.name, it.name)} {it.specifier}" for it in wanted)])


def test_the_version_is_written_once() -> None:
    cited = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert f"\nversion: {crowdblend.__version__}\n" in cited
    assert f'"{crowdblend.__version__}"' not in (ROOT / "pyproject.toml").read_text(encoding="utf-8")
