"""Every notebook runs in a Jupyter kernel, with ipywidgets and without, and shows what it shows in the repository."""

import json
from pathlib import Path
from typing import Any

import pytest

from docs.notebooks import execute

FOLDER = Path(__file__).parents[2] / "docs" / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))
QUICK = ("survey", "attack")


@pytest.mark.filterwarnings("ignore")  # of the packages of Jupyter
@pytest.mark.parametrize(
    ("path", "widgets"),
    [
        pytest.param(path, widgets, id=f"{path.stem}-{'with' if widgets else 'without'}-ipywidgets", marks=marks)
        for path in NOTEBOOKS
        for widgets in (False, True)
        for marks in [() if path.stem in QUICK and not widgets else pytest.mark.slow]
    ],
)
def test_a_notebook_shows_what_it_says(path: Path, widgets: bool) -> None:
    """Text for text; pages and figures have tests of their own. `make docs` writes all outputs again."""
    kept = json.loads(path.read_text(encoding="utf-8"))
    for cell, shown in zip(execute.executed(kept, widgets=widgets)["cells"], kept["cells"], strict=True):
        assert plain(cell) == plain(shown), "".join(cell["source"])


@pytest.mark.filterwarnings("ignore")
def test_a_kernel_has_widgets_or_not() -> None:
    source = "import importlib.util as u; print(u.find_spec('IPython') is not None, end=' ')\n"
    source += "try:\n    import ipywidgets\n    print('with')\nexcept ImportError:\n    print('without')"
    cell = {"cell_type": "code", "id": "one", "metadata": {}, "source": [source], "outputs": [], "execution_count": 1}
    kept = {"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    ran = [execute.executed(kept, widgets=widgets)["cells"][0]["outputs"] for widgets in (True, False)]
    said = [outputs[0]["text"][0].split() for outputs in ran]
    assert said == [["True", "with"], ["True", "without"]]


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
