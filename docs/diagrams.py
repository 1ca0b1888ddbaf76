"""Diagrams of the first pages: sampling and crowds, a certificate, years of releases, a map, synthetic rows.

Every number in them is computed here by the package. They are drawn on a white card, so that they are legible on dark
pages too.
"""

from __future__ import annotations

import math
import random
from itertools import pairwise

import numpy as np

import crowdblend as cb
from crowdblend.kinds.shared.places import Places
from crowdblend.lab.demo import town
from crowdblend.methods.designs import Stratum
from crowdblend.methods.estimates.estimator import Estimator
from crowdblend.methods.estimates.laws import ExactCounts
from crowdblend.methods.planning.plan import answer_together
from crowdblend.methods.planning.request import PlanRequest
from crowdblend.reading.figures.drawing import GRID, GROUND, INK, LINE, PALETTE, QUIET, Drawing, wrap
from crowdblend.reading.figures.maps import PointMap
from crowdblend.reading.reports.places import count_in_grid
from crowdblend.trusted.calculus import RULES, Derivation
from crowdblend.trusted.guarantees.guessing import percent, right_guess

BLUE, ORANGE, GREEN = PALETTE[0], PALETTE[1], PALETTE[2]
LEFT_OUT = "#c9d1d9"
RATE, EPSILON, DELTA = 0.5, 1.0, 1e-6
EDGE = 28


class Card(Drawing):
    """A drawing on white."""

    def __init__(self, width: float, height: float) -> None:
        super().__init__()
        self.size = (width, height)
        self.rectangle(0.5, 0.5, width - 1, height - 1, fill="white", stroke="#d8dee4", radius=8)

    def arrow(self, x: float, y: float, x2: float, y2: float) -> None:
        """A line with a head at its second end, to the right or upwards."""
        self.line(x, y, x2, y2, stroke=LINE, thickness=1.5)
        heads = ((-7, -4), (-7, 4)) if y == y2 else ((-4, 7), (4, 7))
        for right, down in heads:
            self.line(x2 + right, y2 + down, x2, y2, stroke=LINE, thickness=1.5)

    def drawn(self) -> str:
        """The picture as SVG."""
        return self.svg(*self.size)


def how() -> str:
    """Population, sample, publication; and the chance of every published count with a person and without."""
    k = cb.plan(rate=RATE, epsilon=EPSILON, delta=DELTA).k
    guarantee = cb.plan(rate=RATE, epsilon=EPSILON, delta=DELTA).certificate().differential()
    assert guarantee is not None
    classes = {"women, 20–39": 96, "men, 20–39": 84, "men, 80–99": 18}
    card, coins = Card(940, 650), random.Random(20120819)
    columns = (EDGE, 326, 648)
    card.text(columns[0], 34, "1  The population", size=16, weight=600)
    card.text(columns[1], 34, "2  A secret coin for each person", size=16, weight=600)
    card.text(columns[2], 34, "3  What is published", size=16, weight=600)
    card.text(columns[0], 56, "Everybody, in classes fixed beforehand", color=QUIET)
    card.text(columns[1], 56, f"keeps them with probability {RATE:g}: the sample", color=QUIET)
    card.text(columns[2], 56, f"exact counts of crowds of k = {k} or more", color=QUIET)
    estimator = Estimator(ExactCounts(k), Stratum.at_rate(RATE))
    top = 92.0
    for number, (name, people) in enumerate(classes.items()):
        kept = [coins.random() < RATE for _ in range(people)]
        you = 37 if number == 0 else None
        height = _crowd(card, columns[0], top, name, [True] * people, you)
        _crowd(card, columns[1], top, "", kept, you)
        middle = top + 20 + height / 2
        card.arrow(columns[1] - 48, middle, columns[1] - 18, middle)
        card.arrow(columns[2] - 48, middle, columns[2] - 18, middle)
        _published(card, columns[2], middle, sum(kept), k, estimator)
        top += max(height, 40) + 44
    card.line(EDGE, top - 4, 940 - EDGE, top - 4, stroke=GRID, thickness=1.5)
    _with_and_without(card, classes["women, 20–39"], k, (columns[1] + 20, top + 24, 940 - EDGE))
    card.text(EDGE, top + 28, "Why that hides you", size=16, weight=600)
    card.lines(
        EDGE,
        top + 52,
        [
            "The count changes from sample to",
            "sample by more than one person could",
            "change it. Whoever sees it cannot tell",
            "whether you (the ringed dot) are in it.",
        ],
        size=13,
    )
    card.lines(
        EDGE,
        top + 138,
        [f"A guess is right at most {percent(right_guess(guarantee))}", "of the time; a coin, 50 %."],
        size=13,
        color=INK,
    )
    return card.drawn()


def _crowd(card: Card, x: float, top: float, name: str, kept: list[bool], you: int | None) -> float:
    """Dots in rows of 16, those left out in grey; the height of the rows is returned."""
    across, step = 16, 14
    if name:
        card.text(x, top, f"{name}: {len(kept)} people", color=INK)
    for at, inside in enumerate(kept):
        place = (x + 6 + at % across * step, top + 22 + at // across * step)
        if at == you:
            card.dot(*place, 7.5, fill=ORANGE)
            card.dot(*place, 5.5, fill="white")
        card.dot(*place, 4, fill=BLUE if inside else LEFT_OUT)
    return math.ceil(len(kept) / across) * step


def _published(card: Card, x: float, y: float, count: int, k: int, estimator: Estimator) -> None:
    """One cell of the table as a reader sees it."""
    card.rectangle(x, y - 28, 264, 56, fill=GROUND, radius=6)
    if count < k:
        card.text(x + 14, y - 9, "missing", size=15, color=QUIET, weight=600)
        card.text(x + 14, y + 12, f"fewer than {k} in the sample; not zero", color=QUIET)
        return
    cell = estimator.cells(np.array([count]))
    card.text(x + 14, y - 9, f"{count} in the sample", size=15, weight=600)
    ends = f"{int(cell.low[0])} to {int(cell.high[0])}"
    card.text(x + 14, y + 12, f"about {float(cell.estimate[0]):g} people ({ends})", color=QUIET)


def _with_and_without(card: Card, people: int, k: int, place: tuple[float, float, float]) -> None:
    """The binomial chances of every count, drawn beside each other, from k on."""
    left, top, right = place
    card.text(left, top + 4, f"How likely is each count of a class of {people}?", size=13, weight=600)
    card.rectangle(left, top + 18, 11, 11, fill=ORANGE)
    card.text(left + 17, top + 24, "with you", color=QUIET)
    card.rectangle(left + 88, top + 18, 11, 11, fill=BLUE)
    card.text(left + 105, top + 24, "without you", color=QUIET)
    counts = range(k - 1, 64)
    chances = {n: [math.comb(n, j) / 2**n for j in counts] for n in (people, people - 1)}
    high, bottom, step = max(map(max, chances.values())), top + 140, (right - left) / len(counts)
    for at, j in enumerate(counts):
        for offset, (n, fill) in enumerate(((people, ORANGE), (people - 1, BLUE))):
            height = 98 * chances[n][at] / high
            card.rectangle(left + (at + 0.12 + 0.38 * offset) * step, bottom - height, 0.36 * step, height, fill=fill)
        if j % 5 == 0:
            card.text(left + (at + 0.5) * step, bottom + 12, str(j), color=QUIET, anchor="middle")
    card.line(left, bottom, right, bottom, stroke=LINE)
    card.text((left + right) / 2, bottom + 30, "people of the class in the sample", color=QUIET, anchor="middle")


def certificate() -> str:
    """The derivation of one guarantee, from the sentence down to the theorem that a reader can look up."""
    planned = cb.plan(rate=RATE, epsilon=EPSILON, delta=DELTA)
    root = planned.certificate().derivations[1]
    assert root.conclusion == planned.certificate().differential()
    card, middle = Card(860, 640), 300.0
    card.text(EDGE, 30, "A certificate is a tree that anyone can compute again", size=16, weight=600)
    _box(
        card,
        middle,
        84,
        [f"A guess is right at most {percent(right_guess(root.conclusion))} of the time", _says(root)],
        wide=330,
        fill="#e7f1f8",
    )
    choice = root.premises[0]
    for upper, lower in pairwise((84.0, 184.0, 284.0)):
        card.arrow(middle, lower - 31, middle, upper + 31)
    _box(card, middle, 184, [f"rule {root.rule.id}", "sampled and crowds only: differentially private"], wide=330)
    _box(card, middle, 284, [f"rule {choice.rule.id}", "the best of the theorems that apply"], wide=330)
    places = (110.0, 300.0, 490.0)
    for x, branch in zip(places, choice.premises, strict=True):
        best = branch.conclusion == choice.conclusion
        card.line(x, 384 - 28, x, 336, stroke=LINE, thickness=1.5)
        _box(
            card,
            x,
            384,
            [f"{branch.rule.id}", f"δ = {branch.conclusion.delta:.3g}"],
            wide=176,
            fill="#e6f4ef" if best else GROUND,
        )
        card.line(x, 384 + 28, x, 432, stroke=LINE, thickness=1.5)
    for y in (336, 432):
        card.line(places[0], y, places[2], y, stroke=LINE, thickness=1.5)
    card.arrow(middle, 336, middle, 284 + 31)
    card.line(middle, 432, middle, 484 - 31, stroke=LINE, thickness=1.5)
    leaf = choice.premises[0].premises[0]
    _box(card, middle, 484, [f"leaf: {leaf.rule.id}", f"crowds below k = {leaf.conclusion.k} are dropped"], wide=330)
    _beside(card, choice.premises[0])
    card.line(EDGE, 546, 860 - EDGE, 546, stroke=GRID, thickness=1.5)
    card.lines(
        EDGE,
        570,
        [
            "crowdblend verify starts from the leaves, computes every conclusion again in arithmetic that rounds",
            "outward, and compares. One changed number, rule or file, and it is refused. Nobody needs to be trusted",
            "for that. Whether the assumptions are true is for you to judge: they are listed in the certificate.",
        ],
        size=13,
    )
    return card.drawn()


def _says(step: Derivation) -> str:
    return f"ε = {step.conclusion.epsilon:g}, δ = {step.conclusion.delta:.3g}"


def _box(card: Card, x: float, y: float, texts: list[str], *, wide: float, fill: str = GROUND) -> None:
    """A node: its first line stands out."""
    card.rectangle(x - wide / 2, y - 28, wide, 56, fill=fill, stroke="#c3ccd5", radius=6)
    card.text(x, y - 9, texts[0], size=13, anchor="middle", weight=600)
    card.text(x, y + 12, texts[1], color=QUIET, anchor="middle")


def _beside(card: Card, step: Derivation) -> None:
    """What stands behind the best branch: the theorem, its proof, and what it takes for granted."""
    x = 612
    card.rectangle(x, 56, 220, 466, fill="white", stroke="#9fd0bd", radius=6)
    card.text(x + 14, 80, step.rule.id, size=13, weight=600, color="#00674b")
    y = 106.0
    parts = [
        ("Theorem", wrap(RULES[step.rule.id].theorem.statement, 192, 11.5)),
        ("Proof", ["docs/proofs.md"]),
        (
            "Assumes",
            [line for one in step.rule.theorem.assumes for line in wrap(f"• {_plain(one.pattern)}", 192, 11.5)],
        ),
    ]
    for heading, texts in parts:
        card.text(x + 14, y, heading, weight=600)
        card.lines(x + 14, y + 19, texts, size=11.5)
        y += 19 + len(texts) * 11.5 * 1.45 + 16


def _plain(pattern: str) -> str:
    return pattern.replace("{rate}", f"{RATE:g}").replace("{k}", "k").replace("{rate:g}", f"{RATE:g}")


def series() -> str:
    """The total ε of yearly releases at rate 0.1 and k = 8, added up and by profile."""
    years = (1, 2, 3, 5, 7, 10, 15, 20, 30)
    rows = [
        {"releases": year, **answer_together(PlanRequest(rate=0.1, k=8, delta=1e-5, releases=year)).bounds}
        for year in years
    ]
    card, left, right, top, bottom = Card(760, 430), 76, 600, 84, 370
    card.text(EDGE, 30, "What yearly releases come to together", size=16, weight=600)
    card.text(EDGE, 54, "rate 0.1, k = 8, a fresh sample every year; total ε at δ = 1e-5", color=QUIET)
    highest = 35

    def place(year: float, epsilon: float) -> tuple[float, float]:
        return left + (year - 1) / 29 * (right - left), bottom - epsilon / highest * (bottom - top)

    for tick in range(0, highest + 1, 5):
        y = place(1, tick)[1]
        card.line(left, y, right, y, stroke=GRID)
        card.text(left - 10, y, str(tick), color=QUIET, anchor="end")
    for year in (1, 5, 10, 15, 20, 25, 30):
        card.text(place(year, 0)[0], bottom + 16, str(year), color=QUIET, anchor="middle")
    card.text((left + right) / 2, bottom + 40, "years", size=13, anchor="middle")
    card.text(EDGE - 4, (top + bottom) / 2, "total ε", size=13, anchor="middle", angle=-90)
    for name, words, color in (("added", "added up", ORANGE), ("profile", "by profile", BLUE)):
        points = [place(row["releases"], row[name]) for row in rows]
        for start, end in pairwise(points):
            card.line(*start, *end, stroke=color, thickness=2.4)
        for point in points:
            card.dot(*point, 3.2, fill=color)
        last = rows[-1][name]
        card.text(points[-1][0] + 12, points[-1][1] - 9, words, size=13, color=color, weight=600)
        card.text(points[-1][0] + 12, points[-1][1] + 9, f"ε = {last:.3g} after 30", color=QUIET)
    return card.drawn()


def points_map() -> str:
    """Published points of the made-up town, in bins, with the blocks drawn over them."""
    bounds = (-10.0, 10.0)
    policy = cb.Policy(
        person="person_id",
        sampling=cb.Poisson(0.1),
        epsilon=1.0,
        delta=1e-6,
        columns={name: cb.axis(*bounds, resolution=0.05, width=2) for name in ("east", "north")},
        publish=cb.Points("east", "north", noise_epsilon=1.0, keep_in="block"),
    )
    done = cb.release(town(100_000), policy, ledger=None, key=bytes([4]) * 32)
    axes = tuple(done.data.column(name).to_numpy() for name in ("east", "north"))
    published = Places(axes, np.ones(len(axes[0]), np.int64))
    steps = np.arange(bounds[0], bounds[1], 2.0)
    blocks = [(x, y, x + 2, y + 2) for x in steps for y in steps]
    edges = [*steps.tolist(), bounds[1]]
    drawn = PointMap(
        tiles=count_in_grid(published, edges, edges),
        blocks=blocks,
        names=("km east", "km north"),
        bounds=(-10, -10, 10, 10),
        noise=(0.0, 0.0),
        sure=0.95,
    )
    return on_white(drawn.svg())


def synthetic_rows() -> str:
    """Published tables, the model that is fitted to them, and rows drawn from it: nothing else is read."""
    card = Card(940, 250)
    columns = (EDGE, 340, 652)
    for x, title, below in zip(
        columns,
        ("1  Published tables", "2  A model", "3  Synthetic rows"),
        (
            "with the variance of their noise",
            "people of a few sorts, fitted to all of them",
            "balanced, so that the fit is kept",
        ),
        strict=True,
    ):
        card.text(x, 34, title, size=16, weight=600)
        card.text(x, 56, below, color=QUIET)
    for at, names in enumerate((("age", "sex"), ("age", "education"), ("sex", "education"))):
        card.rectangle(columns[0], 78 + 40 * at, 200, 30, fill=GROUND, stroke="#c3ccd5", radius=6)
        card.text(columns[0] + 14, 93 + 40 * at, " × ".join(names))
    for at, fill in enumerate((BLUE, ORANGE, GREEN)):
        card.rectangle(columns[1], 82 + 40 * at, 90 - 22 * at, 22, fill=fill)
        card.text(
            columns[1] + 100, 93 + 40 * at, ("age, sex, education", "of each sort", "independent")[at], color=QUIET
        )
    for at, row in enumerate(("20–39, female, school", "40–59, male, bachelor", "0–19, female, none")):
        card.text(columns[2], 93 + 40 * at, row)
    card.arrow(columns[1] - 66, 130, columns[1] - 22, 130)
    card.arrow(columns[2] - 66, 130, columns[2] - 22, 130)
    card.line(EDGE, 206, 940 - EDGE, 206, stroke=GRID, thickness=1.5)
    card.text(EDGE, 228, "No data about people are read: the rows guarantee what the tables guarantee.", color=INK)
    return card.drawn()


def on_white(svg: str) -> str:
    """A picture of the package on a white card, legible on dark pages."""
    head, _, rest = svg.partition(">")
    return f'{head}><rect width="100%" height="100%" rx="8" fill="white"></rect>{rest}'


DIAGRAMS = {
    "how": how,
    "certificate": certificate,
    "series": series,
    "points-map": points_map,
    "synthesize": synthetic_rows,
}
