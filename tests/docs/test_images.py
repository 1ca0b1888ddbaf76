"""The figures on the pages show what the code computes today."""

from pathlib import Path

import pytest

from crowdblend.policies.registry import KINDS
from docs import draw
from docs.kind_pictures import KIND_PICTURES
from tests.cases import some_daily
from tests.reading.figures.pictures import Picture

DOCS = Path(__file__).parents[2] / "docs"


# These two take longest, and are not among those of every day; tests/lab/papers holds their numbers against the papers.
LONG = ("lqs-figure2", "lqs-figure6")


@pytest.mark.parametrize("name", some_daily(sorted(draw.names(), key=LONG.__contains__), 8))
def test_committed_figures_are_current(name: str) -> None:
    committed = Picture.parse((DOCS / "images" / f"{name}.svg").read_text(encoding="utf-8"))
    committed.assert_same(Picture.parse(draw.drawing(name)))  # where they differ: run make docs
    assert len(committed.texts()) > 3


def test_every_figure_is_on_a_page() -> None:
    pages = "".join(page.read_text(encoding="utf-8") for page in [*DOCS.rglob("*.md"), *DOCS.parent.glob("*.md")])
    assert {path.name for path in (DOCS / "images").iterdir() if f"images/{path.name}" not in pages} == set()


def test_every_kind_has_a_picture_of_what_comes_out() -> None:
    """Points have their map, and synthetic rows their diagram."""
    assert {*KIND_PICTURES, "points", "synthetic"} == set(KINDS)
