"""The examples of the first pages, and forty uses of the public names, type-check in strict mode; wrong uses do not."""

import doctest
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from mypy import api

from tests.docs import uses

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs" / "start").glob("*.md"))]
BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
# pyarrow has no types, and an example shows the value of its last line.
UNCHECKED = (
    *("reportUnknownVariableType", "reportUnknownMemberType", "reportUnknownArgumentType"),
    "reportUnusedExpression",
)
STRICT = f"# pyright: strict, {', '.join(f'{rule}=false' for rule in UNCHECKED)}\n"
ERROR = re.compile(r"^(?:.*/)?(\w+)\.py:\d+: error: .*\[([a-z-]+)\]$", re.MULTILINE)
# Each with the error that mypy has to find in it.
WRONG = {
    "missing_publish": ("call-arg", "cb.Policy(person='id', columns={'sex': cb.values('f', 'm')})"),
    "unknown_argument": ("arg-type", "cb.Policy(publish=cb.Table('sex'), sample=10)"),
    "unknown_argument_of_a_table": ("arg-type", "cb.Table('sex', below='noise')"),
    "wrong_literal": ("arg-type", "cb.Table('sex', below_k='noisy')"),
    "wrong_split": ("arg-type", "cb.Policy(publish=cb.Table('sex'), split='persons')"),
    "no_limit": ("call-arg", "cb.OutlierTable('sex')"),
    "no_rate": ("call-arg", "cb.Coins()"),
    "no_design": ("arg-type", "cb.Policy(publish=cb.Table('sex'), sampling=0.5)"),
    "columns_that_are_numbers": ("arg-type", "cb.Table(1, 2)"),
    "text_for_a_number": ("arg-type", "cb.plan(rate='0.5', epsilon=1.0, delta=1e-6)"),
    "release_without_a_policy": ("call-arg", "cb.release('people.csv')"),
}


def page_sources() -> Iterator[tuple[str, str]]:
    """The Python of every page, as one file each."""
    for page in PAGES:
        text = "\n".join(BLOCK.findall(page.read_text(encoding="utf-8")))
        if text:
            yield f"page_{page.stem.lower()}", doctest.script_from_examples(text)


def right_sources() -> dict[str, str]:
    """Every file that has to type-check, by its name."""
    return {**dict(page_sources()), "uses": (ROOT / "tests" / "docs" / "uses.py").read_text(encoding="utf-8")}


def write_all(folder: Path, sources: Mapping[str, str]) -> list[str]:
    """Write files into a folder, and return their paths."""
    for name, text in sources.items():
        (folder / f"{name}.py").write_text(text, encoding="utf-8")
    return [str(folder / f"{name}.py") for name in sources]


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> list[tuple[str, str]]:
    """Every error that one run of mypy finds in all files, with the repository's settings and cache."""
    wrong = {f"wrong_{name}": f"import crowdblend as cb\n\n{text}\n" for name, (_, text) in WRONG.items()}
    files = write_all(tmp_path_factory.mktemp("types"), {**right_sources(), **wrong})
    with pytest.MonkeyPatch.context() as here:
        here.chdir(ROOT)
        printed, problem, _ = api.run(["--strict", *files])
    assert not problem, problem
    return ERROR.findall(printed)


def test_pages_and_uses_type_check(found: list[tuple[str, str]]) -> None:
    assert len(list(page_sources())) >= 4
    assert len(uses.USES) == len(set(uses.USES)) >= 40
    assert [error for error in found if not error[0].startswith("wrong_")] == []


def test_wrong_uses_do_not(found: list[tuple[str, str]]) -> None:
    assert {name: code for name, code in found if name.startswith("wrong_")} == {
        f"wrong_{name}": code for name, (code, _) in WRONG.items()
    }


def test_uses_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "education.csv").write_text("none;low\nschool;low\n", encoding="utf-8")
    for use in uses.USES:
        use()


@pytest.mark.slow
def test_pyright_agrees(tmp_path: Path) -> None:
    """A second opinion on the same files, in strict mode; `make test-slow` installs it."""
    pyright = Path(sys.executable).with_name("basedpyright")
    files = write_all(tmp_path, {name: STRICT + text for name, text in right_sources().items()})
    command = [pyright, "--level", "error", "--pythonpath", sys.executable, *files]
    done = subprocess.run(command, check=False, capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 0, done.stdout


def test_the_first_example_is_short() -> None:
    (first, *_) = BLOCK.findall((ROOT / "README.md").read_text(encoding="utf-8"))
    assert len(first.splitlines()) <= 12
