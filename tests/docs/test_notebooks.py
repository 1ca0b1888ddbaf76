"""Every notebook runs, without Jupyter, and shows what it shows in the repository."""

import json
from pathlib import Path
from typing import Any

import pytest

from docs.notebooks import execute

FOLDER = Path(__file__).parents[2] / "docs" / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))
QUICK = ("survey", "attack")


@pytest.mark.parametrize(
    "path",
    [pytest.param(path, id=path.stem, marks=() if path.stem in QUICK else pytest.mark.slow) for path in NOTEBOOKS],
)
def test_a_notebook_shows_what_it_says(path: Path) -> None:
    """Text for text; pages and figures have tests of their own. `make docs` writes all outputs again."""
    kept = json.loads(path.read_text(encoding="utf-8"))
    for cell, shown in zip(execute.executed(kept)["cells"], kept["cells"], strict=True):
        assert plain(cell) == plain(shown), "".join(cell["source"])


def plain(cell: dict[str, Any]) -> list[Any]:
    """What a cell prints and shows as text, and whether it shows a page too."""
    return [
        output.get("text") or (output["data"]["text/plain"], sorted(output["data"]))
        for output in cell.get("outputs", ())
    ]


def test_notebooks_are_linked_and_clean() -> None:
    page = (FOLDER.parent / "python.md").read_text(encoding="utf-8")
    assert len(NOTEBOOKS) == 7
    for path in NOTEBOOKS:
        assert f"notebooks/{path.name}" in page, path.stem
        text = path.read_text(encoding="utf-8")
        assert len(text) < 150_000
        assert "Traceback" not in text
        assert "/tmp/" not in text
