"""Which kinds of release go with which designs, and how: `python -m docs.combinations` plans all of them again.

A cell is a kind, a design and a way: by itself, ten releases, a recoding chosen by the data, two publications by each
split, or several rows of a person. What was found is in combinations.json, from which the page is written.
"""

from __future__ import annotations

import json
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import crowdblend as cb
from crowdblend.errors import CrowdblendError
from crowdblend.policies.publication import Publication
from crowdblend.policies.sampling_section import Sampling

FOUND = Path(__file__).with_suffix(".json")
WORKS = "works"
# Seconds after which a plan is given up here, and what is said then.
LONGEST, LONG = 120, "Planning takes longer than this page waits for. Try it."
HEAD = """# Combinations

Generated: every kind with every design, planned at ε = 1 and δ = 1e-6. ✓ is planned and certified; a number leads to
the reason of a refusal, below. Noise takes all of a survey (`thin = 1`), or its weights without `thin`; crowds, parts
and fresh coins take `thin = 0.8`.

"""
# The sampling of crowds, and of noise, which leaves nobody of a survey out.
DESIGNS: dict[str, Callable[[bool], Sampling]] = {
    "poisson": lambda _: cb.Poisson(0.2),
    "coins": lambda _: cb.Coins(0.2),
    "survey": lambda noise: cb.Survey(4_000, of=80_000, thin=1.0 if noise else 0.8),
    "strata": lambda _: cb.Strata("region", {"north": 0.1, "south": 0.2}),
    "weights": lambda noise: cb.Weights("weight", thin=None if noise else 0.8),
    "biased": lambda _: cb.Biased(0.19, 0.2, rate=0.2),
    "everybody": lambda _: cb.Everybody(),
}
WAYS: dict[str, dict[str, Any]] = {
    "plain": {},
    "series": {"releases": 10},
    "chosen recoding": {"recoding": cb.Choosing(epsilon=0.1, using="population")},
    "people": {"split": "people"},
    "fresh": {"split": "fresh"},
    "budget": {"split": "budget"},
    "several rows": {"rows_per_person": 2},
}
KINDS = ("table", "microdata", "points", "outlier-table", "statistics", "synopsis", "graph")
NOISE = ("outlier-table", "statistics", "synopsis")


def publication(kind: str, way: str, by: tuple[str, ...], *, everybody: bool, name: str | None) -> Publication:
    """One publication of a kind; `by` is the column that a design needs published, if any."""
    noisy = {"budget": "noise", "several rows": "threshold"}
    below: dict[str, Any] = {"below_k": noisy[way]} if way in noisy and not everybody else {}
    statistic = cb.GraphStatistic(name="connectivity", samples=1_000)
    made: dict[str, Callable[[], Publication]] = {
        "table": lambda: cb.Table(*by, "age", name=name, **below),
        "microdata": lambda: cb.Microdata(*by, "age", name=name),
        "points": lambda: cb.Points(*by, "east", "north", noise_epsilon=1.0, keep_in="block", name=name),
        "outlier-table": lambda: cb.OutlierTable(*by, "age", limit=400, name=name),
        "statistics": lambda: cb.Statistics(cb.median("income"), name=name),
        "synopsis": lambda: cb.Synopsis(*by, "age", conjunctions=1, name=name),
        "graph": lambda: cb.Graph(statistic, people=80_000, degree_bound=50, name=name),
    }
    return made[kind]()


def policy(kind: str, design: str, way: str) -> cb.Policy:
    """The policy of a cell; refused here where it cannot even be written."""
    sampling, terms = DESIGNS[design](kind in NOISE and way not in ("people", "fresh")), dict(WAYS[way])
    if "recoding" in terms and design != "poisson":
        terms["recoding"] = cb.Choosing(epsilon=0.1, using="split", share=0.1)
    several = "split" in terms
    by = {"strata": ("region",), "weights": ("weight",)}.get(design, ())
    width: Any = [10, 20] if "recoding" in terms else 20
    columns: dict[str, Any] = {"age": cb.intervals(0, 100, width=width)}
    if kind == "points":
        columns = {one: cb.axis(-10, 10, resolution=0.05, width=4) for one in ("east", "north")}
    elif kind == "statistics":
        columns = {"income": cb.bounds(0, 100, resolution=1)}
    known = {"region": ["north", "south"], "weight": cb.breaks(5, 6, 7.5, 9, 10.5)}
    columns |= {one: known[one] for one in by}
    names = ("a", "b") if several else (None,)
    publish = [publication(kind, way, by, everybody=design == "everybody", name=name) for name in names]
    if kind == "graph":
        more: dict[str, Any] = {} if design == "everybody" else {"sampling": sampling}
        more |= {"delta": 1e-6} if several else {}
        return cb.Policy(epsilon=1.0, publish=publish, **terms, **more)
    given: dict[str, Any] = {"person": "id", "epsilon": 1.0, "columns": columns, "sampling": sampling, **terms}
    if kind in ("statistics", "synopsis") and design != "survey":
        given["people"] = 80_000
    pure = (design == "everybody" and kind == "table") or kind in ("statistics", "synopsis")
    given |= {} if pure and not several else {"delta": 1e-6}
    return cb.Policy(publish=publish, **given)


def outcome(kind: str, design: str, way: str) -> str:
    """What planning a cell comes to: that it works, or why it is refused."""
    try:
        policy(kind, design, way).plan()
    except CrowdblendError as error:
        return str(error).split("\n", maxsplit=1)[0]
    return WORKS


def cells() -> Iterator[tuple[str, str, str]]:
    """Every combination."""
    return ((kind, design, way) for kind in KINDS for design in DESIGNS for way in WAYS)


def page() -> str:
    """The page, from what was found."""
    found: dict[str, str] = json.loads(FOUND.read_text(encoding="utf-8"))
    reasons: dict[str, int] = {}
    parts = [HEAD, f"{sum(one == WORKS for one in found.values())} of {len(found)} combinations work.\n"]
    for kind in KINDS:
        parts.append(f"\n## {kind}\n\n| design | {' | '.join(WAYS)} |\n|---|{'---|' * len(WAYS)}\n")
        for design in DESIGNS:
            said = [found["/".join((kind, design, way))] for way in WAYS]
            marks = ["✓" if one == WORKS else str(reasons.setdefault(one, len(reasons) + 1)) for one in said]
            parts.append(f"| `{design}` | {' | '.join(marks)} |\n")
    listed = "".join(f"{number}. {reason}\n" for reason, number in reasons.items())
    return "".join([*parts, f"\n## Reasons\n\n{listed}"])


def _late(*_: object) -> None:
    raise TimeoutError


def main() -> None:
    """Plan every cell, and keep what was found."""
    signal.signal(signal.SIGALRM, _late)
    found = {}
    for cell in cells():
        signal.alarm(LONGEST)
        try:
            found["/".join(cell)] = outcome(*cell)
        except TimeoutError:
            found["/".join(cell)] = LONG
        signal.alarm(0)
    FOUND.write_text(json.dumps(found, indent=0, ensure_ascii=False, sort_keys=True) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
