"""Points: the map with its blocks, and statistics with the error that noise is expected to make."""

from __future__ import annotations

import math
from functools import partial

import numpy as np

from crowdblend.figures.maps import Rectangle, point_map
from crowdblend.kinds.points.facts import FAILURE, AxisMoves, PointsFacts
from crowdblend.kinds.table.view import bars
from crowdblend.reading.notes import sentences
from crowdblend.reading.release import PublishedRelease
from crowdblend.releases.outputs import PointsOutput
from crowdblend.releases.places import QUANTILES, Places
from crowdblend.reports.blocks import Block, Heading, Table, figure
from crowdblend.reports.places import bin_points, read_places
from crowdblend.reports.text import enumeration, label, round_up, shorten
from crowdblend.reports.view import Part, View

MOST_LINES = 4_000
MOST_BARS = 40
_RARELY = f"with probability {100 * FAILURE:g} % at most"


def view(folder: PublishedRelease, figures: bool) -> View:
    """Read the points once, and show what they add up to."""
    ((name, path), *_) = folder.files.items()
    written = folder.output(name)
    facts = folder.facts
    assert isinstance(facts, PointsFacts)
    axes = list(facts.axes)
    found = written.places() if isinstance(written, PointsOutput) else read_places(path, axes)
    noise = facts.moves(max(found.points, 1))
    others = list(facts.domains)
    parts = [Part("data", "What was published", _map(facts, found, axes, figures))]
    if found.points > 1:
        parts.append(Part("statistics", "What the points add up to", _statistics(facts, found, noise)))
    return View(
        heading=f"Points: {enumeration(axes)}" + (f", with {enumeration(others)}" if others else ""),
        what="points, each of them one person moved by noise",
        keys=(*_population(folder, facts, found.points), ("published points", f"{found.points:,}")),
        reading=_reading(facts, noise),
        parts=parts,
    )


def _reading(facts: PointsFacts, noise: list[AxisMoves]) -> list[str]:
    kept = {
        "block": "Every point was kept in its own block, so the number of points in a block is exact.",
        "bounds": "Points that left the bounds were put back onto them, so the edges hold too many.",
    }.get(facts.keep_in, "Points may lie outside the declared bounds: noise knows none.")
    return [
        *sentences(facts, facts.tables["data"]),
        "Each point was moved by noise. The order of the rows means nothing.",
        f"On each axis noise moved a point by more than this {_RARELY}: {_each(noise, 'moved')}.",
        kept,
    ]


def _each(noise: list[AxisMoves], what: str) -> str:
    """Return a distance on every axis, each in its own unit."""
    return enumeration(f"{round_up(getattr(on, what))} in {shorten(on.name, 40)}" for on in noise)


def _map(facts: PointsFacts, shown_places: Places, axes: list[str], drawn: bool) -> list[Block]:
    if not shown_places.points:
        return ["No point was published: no block reached the crowd size. It does not mean nobody is there."]
    bounds = [(axis.low, axis.high) for axis in facts.axes.values()]
    if len(axes) == 1:
        # As many bars as blocks, since noise is about a block wide.
        number = min(facts.axes[axes[0]].blocks or MOST_BARS, MOST_BARS)
        counts, edges = np.histogram(shown_places.axes[0], bins=number, range=bounds[0], weights=shown_places.counts)
        ends = [f"{edge:,.10g}" for edge in edges]
        totals = [(f"{low} to {high}", int(n)) for low, high, n in zip(ends, ends[1:], counts, strict=False)]
        caption = (
            f"Published points of the sample by {shorten(axes[0])}, between its declared bounds. Blocks below the "
            f"crowd size are left out: where there {'is no bar' if drawn else 'are 0'}, there may be people."
        )
        rows = [[text, f"{number:,}"] for text, number in totals]
        return bars(totals, caption, drawn) or [Table([shorten(axes[0]), "points"], rows, caption, {1})]
    if not drawn:
        return ["This page has no figures, and so no map of the points. They are in the data file."]
    (left, right), (bottom, top) = bounds[:2]
    bins, outlines = bin_points(shown_places, bounds[:2]), _outlines(facts, axes, bounds)
    names, corners = (shorten(axes[0], 40), shorten(axes[1], 40)), (left, bottom, right, top)

    caption = (
        f"Published points of the sample by {shorten(axes[0])} and {shorten(axes[1])}: there are more where a square "
        "stands out more; thin lines are the blocks. Where nothing is shown, no block reached the crowd size."
    )
    draw = partial(point_map, bins, outlines, names=names, bounds=corners)
    return [figure(lambda narrow: draw(narrow=narrow), caption)]


def _population(folder: PublishedRelease, facts: PointsFacts, points: int) -> list[tuple[str, str]]:
    """Return how many people the points stand for; hidden classes add to the upper end."""
    if not points or not facts.tables["data"].laws.add_up:
        return []
    found = folder.margin(()).intervals
    low, high = int(found.low[0]), int(found.high[0])
    return [] if high < 0 else [("people of the population, 95 % interval", f"{low:,} – {high:,}")]


def _outlines(facts: PointsFacts, axes: list[str], bounds: list[tuple[float, float]]) -> list[Rectangle]:
    """Return the blocks on the first two axes; none where there are too many to be seen."""
    if facts.blocks:
        outlines = {(box[0][0], box[1][0], box[0][1], box[1][1]) for box in facts.blocks}
        return sorted(outlines) if len(outlines) <= MOST_LINES else []
    widths = [facts.axes[name].width or 0.0 for name in axes[:2]]
    if not all(widths):
        return []
    along = [round((high - low) / width) for (low, high), width in zip(bounds, widths, strict=False)]
    if along[0] * along[1] > MOST_LINES:
        return []
    (left, _), (bottom, _) = bounds[:2]
    return [
        (left + i * widths[0], bottom + j * widths[1], left + (i + 1) * widths[0], bottom + (j + 1) * widths[1])
        for i in range(along[0])
        for j in range(along[1])
    ]


def _statistics(facts: PointsFacts, places: Places, noise: list[AxisMoves]) -> list[Block]:
    lean = {
        "block": " Points that are kept in their block lean towards its middle. That does not average out: it moves a "
        "mean by the lean at most, and not at all where people are spread evenly over each block.",
        "bounds": " Points that are put back onto the bounds lean inwards. That does not average out: it moves a mean "
        "by the lean at most.",
    }.get(facts.keep_in, "")
    return [
        "Statistics of the published points, and what noise does to them; people who were not sampled or not shown are "
        "no part of it.",
        Heading("Mean"),
        f"The noise averages out over many points.{lean}",
        _means(places, noise, leaning=bool(lean)),
        Heading("Quantiles"),
        f"On each axis noise moved any of them by more than this {_RARELY}: {_each(noise, 'all_moved')}.",
        _quantiles(places, noise),
        Heading("Distances"),
        f"Two people at one place are published further apart than this {_RARELY}, on each axis: "
        f"{_each(noise, 'apart')}. Smaller distances may be noise alone.",
    ]


def _means(shown_places: Places, noise: list[AxisMoves], *, leaning: bool) -> Table:
    rows = []
    for on, values in zip(noise, shown_places.axes, strict=True):
        mean, spread = np.average(values, weights=shown_places.counts), on.deviation / math.sqrt(shown_places.points)
        ends = [spread, on.lean] if leaning else [spread]
        rows.append([label(on.name), _fit_digits(mean, ends[-1]), *map(round_up, ends)])
    headers = ["axis", "mean", "standard deviation of its noise, at most", *(["lean, at most"] if leaning else [])]
    return Table(headers, rows, "Means of the published points", range(1, len(headers)))


def _quantiles(shown_places: Places, noise: list[AxisMoves]) -> Table:
    rows = [
        [label(on.name), *(_fit_digits(q, on.moved) for q in shown_places.quantiles(at))] for at, on in enumerate(noise)
    ]
    headers = ["axis", *(f"{100 * q:g} %" for q in QUANTILES)]
    return Table(headers, rows, "Quantiles of the published points", range(1, len(headers)))


def _fit_digits(value: float, error: float) -> str:
    """Return a value with the digits that its error leaves: one more than the first digit of the error."""
    if not error > 0 or not np.isfinite(error):
        return f"{float(value):,.6g}"
    digits = 1 - int(np.floor(np.log10(error)))
    return f"{round(float(value), digits) + 0.0:,.{min(max(digits, 0), 12)}f}"
