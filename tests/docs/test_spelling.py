"""Pages, notebooks and sources hold none of the misspellings that codespell knows; its list is part of its wheel."""

from pathlib import Path

import codespell_lib as codespell
import pytest

ROOT = Path(__file__).parents[2]
LOOKED_AT = ("*.md", "docs/**/*.md", "docs/**/*.ipynb", "docs/*.py", "src/**/*.py", "src/**/templates/**/*.html")
# Words that are meant: a product in proofs, and one formula in three arithmetics.
MEANT = "bu,arithmetics"


def misspelled(*files: Path, printed: pytest.CaptureFixture[str]) -> list[str]:
    codespell.main("--config", "/dev/null", "--ignore-words-list", MEANT, *map(str, files))
    return printed.readouterr().out.splitlines()


def test_nothing_is_misspelled(capsys: pytest.CaptureFixture[str]) -> None:
    files = sorted({file for pattern in LOOKED_AT for file in ROOT.glob(pattern)})
    assert len(files) > 300
    assert misspelled(*files, printed=capsys) == []


def test_a_misspelling_is_found(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = tmp_path / "page.md"
    page.write_text("A guarantee that is seperate.\n", encoding="utf-8")
    (found,) = misspelled(page, printed=capsys)
    assert "seperate ==> separate" in found
