"""The figures on the pages show what the code computes today."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

from tests.figures.pictures import Picture

DOCS = Path(__file__).parents[2] / "docs"


def load_drawing():
    spec = importlib.util.spec_from_file_location("draw", DOCS / "draw.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


DRAW = load_drawing()


# These two take longest; tests/papers holds their numbers against the papers.
LONG = ("lqs-figure2", "lqs-figure6")


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.slow if name in LONG else ()) for name in DRAW.names()]
)
def test_committed_figures_are_current(name: str) -> None:
    committed = Picture.parse((DOCS / "images" / f"{name}.svg").read_text(encoding="utf-8"))
    committed.assert_same(Picture.parse(DRAW.drawing(name)))  # where they differ: run make docs
    assert len(committed.texts()) > 3


def test_every_figure_is_on_a_page() -> None:
    pages = "".join(page.read_text(encoding="utf-8") for page in [*DOCS.rglob("*.md"), *DOCS.parent.glob("*.md")])
    assert {path.name for path in (DOCS / "images").iterdir() if f"images/{path.name}" not in pages} == set()
