"""Every example in README and docs is run, and says what the page says."""

import doctest
import importlib.util
import pkgutil
import re
import shlex
from pathlib import Path

import pytest
from click.testing import CliRunner

import crowdblend
from crowdblend.cli import main as entry

ROOT = Path(__file__).parents[2]
PAGES = sorted([ROOT / "README.md", *(ROOT / "docs").rglob("*.md")])
BLOCK = re.compile(r"^```(console|python)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def blocks(kind: str) -> list[object]:
    return [
        pytest.param(match[2], id=f"{page.name}-{number}")
        for page in PAGES
        for number, match in enumerate(BLOCK.finditer(page.read_text(encoding="utf-8")), 1)
        if match[1] == kind
    ]


def run(arguments: list[str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setattr("sys.argv", ["crowdblend", *arguments])
    with pytest.raises(SystemExit):
        entry.main()
    out, err = capsys.readouterr()
    return out + err


def test_the_pages_have_examples() -> None:
    assert len(blocks("console")) >= 6
    assert len(blocks("python")) >= 4


@pytest.mark.parametrize("text", blocks("console"))
def test_console(
    text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    for step in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
        command, _, expected = step.partition("\n")
        program, *arguments = shlex.split(command)
        assert program == "crowdblend"
        got = run(arguments, capsys, monkeypatch)
        assert _tidy(got) == _tidy(expected)


def _tidy(text: str) -> list[str]:
    return [line.rstrip() for line in text.strip().splitlines()]


@pytest.mark.parametrize(
    "page", [page for page in PAGES if "```python" in page.read_text()], ids=lambda page: page.name
)
def test_python(page: Path) -> None:
    """The blocks of a page are one session."""
    text = "\n".join(match[2] for match in BLOCK.finditer(page.read_text(encoding="utf-8")) if match[1] == "python")
    test = doctest.DocTestParser().get_doctest(text, {}, page.name, None, 0)
    results = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE).run(test)
    assert results.attempted > 0
    assert results.failed == 0


def test_docstrings() -> None:
    attempted = 0
    for module in pkgutil.walk_packages(crowdblend.__path__, "crowdblend."):
        found = importlib.util.find_spec(module.name)
        assert found is not None
        # Looking for examples in every docstring takes long, and only few files have any.
        if found.origin is not None and ">>> " in Path(found.origin).read_text(encoding="utf-8"):
            loaded, runner = importlib.import_module(module.name), doctest.DocTestRunner()
            for test in doctest.DocTestFinder().find(loaded, module.name):
                # Those of public names are one session, which is run as docs/api.md.
                if test.name.removeprefix(f"{module.name}.") not in crowdblend.__all__:
                    attempted += runner.run(test).attempted
            assert runner.summarize().failed == 0, module.name
    assert attempted >= 4


def test_help_names_every_command() -> None:
    listed = CliRunner().invoke(entry.cli, ["--help"]).output
    assert all(name in listed for name in entry.COMMANDS)
