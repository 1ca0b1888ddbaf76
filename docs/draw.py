"""Draw the figures of the pages: diagrams, kinds, papers, attacks, speed, and the lattice around a chosen recoding.

`make docs` runs this, and `python -m docs.draw how` draws one of them. A test compares what the figures show with what
is committed.
"""

from __future__ import annotations

import sys
from pathlib import Path

from bench import release_page
from crowdblend.lab.attacks import ATTACKS, attack
from crowdblend.lab.papers import reproduce
from docs.diagrams import DIAGRAMS
from docs.kind_pictures import KIND_PICTURES

IMAGES = Path(__file__).parent / "images"
GROWTH = "speed-growth"
REPRODUCTIONS = ("lqs-figure2", "lqs-figure6", "cbp-proposition12", "zkp-politics")


def names() -> list[str]:
    """The figures that can be drawn, by the names of their files."""
    return [
        *DIAGRAMS,
        *(f"kind-{name}" for name in KIND_PICTURES),
        *REPRODUCTIONS,
        *(f"attack-{name}" for name in ATTACKS),
        GROWTH,
    ]


def drawing(name: str) -> str:
    """One figure as SVG."""
    if name == GROWTH:
        return release_page.growth(release_page.read()).svg()
    if name in DIAGRAMS:
        return DIAGRAMS[name]()
    if name.startswith("kind-"):
        return KIND_PICTURES[name.removeprefix("kind-")]()
    if name.startswith("attack-"):
        return attack(name.removeprefix("attack-")).launch(0).chart.svg()
    chart = reproduce(name).chart
    assert chart is not None, f"{name} has a figure"
    return chart.svg()


if __name__ == "__main__":
    for image in sys.argv[1:] or names():
        (IMAGES / f"{image}.svg").write_text(drawing(image), encoding="utf-8")
