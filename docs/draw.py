"""Draw the figures of the pages: papers, attacks, and the lattice around a chosen recoding.

`make docs` runs this; a test compares what the figures show with what is committed.
"""

from __future__ import annotations

from pathlib import Path

from crowdblend.attacks import ATTACKS, attack
from crowdblend.figures import Axis, draw_svg, line_chart, neighbours
from crowdblend.papers import reproduce
from crowdblend.planning import sweep
from crowdblend.planning.request import PlanRequest

IMAGES = Path(__file__).parent / "images"
REPRODUCTIONS = ("lqs-figure2", "lqs-figure6", "cbp-proposition12", "zkp-politics")
CHOSEN = ("chosen", 42_974.0)
FINER = [("age · width 10", 41_395.0), ("income · width 20000", 41_919.0)]
YEARS = (1, 2, 3, 5, 7, 10, 15, 20, 30, 40, 50)
COARSER = [
    ("age · width 100", 36_042.0),
    ("district · level 1", 42_017.0),
    ("education · level 1", 40_292.0),
    ("income · width 200000", 34_421.0),
]


def names() -> list[str]:
    """The figures that can be drawn, by the names of their files."""
    return ["around", "series", *REPRODUCTIONS, *(f"attack-{name}" for name in ATTACKS)]


def drawing(name: str) -> str:
    """One figure as SVG."""
    if name == "around":
        return neighbours(CHOSEN, FINER, COARSER, headings=("one column finer", "", "one column coarser"))
    if name == "series":
        return series()
    if name.startswith("attack-"):
        return draw_svg(attack(name.removeprefix("attack-")).launch(0).chart)
    spec = reproduce(name).spec
    assert spec is not None, f"{name} has a figure"
    return draw_svg(spec)


def series() -> str:
    """The total ε of yearly releases at rate 0.1 and k = 8, added up and by profile."""
    swept = sweep(PlanRequest(rate=0.1, k=8, delta=1e-5, releases=YEARS[-1]), "releases", YEARS)
    shown = {"added": "added up", "profile": "by profile"}
    rows = [
        {"releases": row["releases"], "epsilon": row[rule], "composed": shown[rule]}
        for rule in shown
        for row in swept.rows
        if row[rule] is not None
    ]
    return draw_svg(
        line_chart(
            rows,
            x=Axis("releases", "releases, each from a fresh sample", log=True),
            y=Axis("epsilon", "total epsilon at delta 1e-5", log=True),
            series="composed",
            title="What releases at rate 0.1 and k = 8 come to together",
        )
    )


if __name__ == "__main__":
    for image in names():
        (IMAGES / f"{image}.svg").write_text(drawing(image), encoding="utf-8")
