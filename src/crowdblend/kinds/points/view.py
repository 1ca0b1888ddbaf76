"""Points: the map with its blocks, and statistics with the error that noise is expected to make."""

from __future__ import annotations

import math

import numpy as np

from crowdblend.kinds.points.facts import FAILURE, AxisFacts, AxisMoves, PointsFacts
from crowdblend.kinds.shared.outputs import PointsOutput
from crowdblend.kinds.shared.places import QUANTILES, Places
from crowdblend.kinds.table.view import bars
from crowdblend.reading.figures.maps import PointMap, Rectangle
from crowdblend.reading.notes import sentences
from crowdblend.reading.release import PublishedRelease
from crowdblend.reading.reports.blocks import Block, Heading, Table, figure
from crowdblend.reading.reports.places import Tile, count_in_boxes, count_in_grid, read_places, tile_edges
from crowdblend.reading.reports.text import enumeration, label, shorten
from crowdblend.reading.reports.view import Part, View
from crowdblend.trusted.guarantees.wording import round_up

MOST_LINES = 4_000
_RARELY = f"with probability {100 * FAILURE:g} % at most"


def view(folder: PublishedRelease, figures: bool) -> View:
    """Read the points once, and show what they add up to."""
    ((name, file), *_) = folder.files.items()
    written = folder.output(name)
    facts = folder.facts
    assert isinstance(facts, PointsFacts)
    axes = list(facts.axes)
    found = written.places() if isinstance(written, PointsOutput) else read_places(file, axes)
    noise = facts.moves(max(found.points, 1))
    others = list(facts.domains)
    parts = [Part("data", "What was published", _map(facts, found, noise, figures))]
    if found.points > 1:
        parts.append(Part("statistics", "What the points add up to", _statistics(facts, found, noise)))
    return View(
        heading=f"Points: {enumeration(axes)}" + (f", with {enumeration(others)}" if others else ""),
        what=f"points, each of them one {facts.counted.one} moved by noise",
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


def _map(facts: PointsFacts, found: Places, noise: list[AxisMoves], drawn: bool) -> list[Block]:
    if not found.points:
        return ["No point was published: no block reached the crowd size. It does not mean nobody is there."]
    if len(facts.axes) == 1:
        return _bars(facts, found, noise, drawn)
    if not drawn:
        return ["This page has no figures, and so no map of the points. They are in the data file."]
    axes = list(facts.axes)
    outlines = _outlines(facts, axes, [(axis.low, axis.high) for axis in facts.axes.values()])
    tiles, what = _tiles(facts, found, noise, outlines)
    (left, right), (bottom, top) = ((axis.low, axis.high) for axis in list(facts.axes.values())[:2])
    drawing = PointMap(
        tiles=tiles,
        blocks=outlines,
        names=(shorten(axes[0], 40), shorten(axes[1], 40)),
        bounds=(left, bottom, right, top),
        noise=(noise[0].moved, noise[1].moved),
        sure=1 - FAILURE,
    )
    caption = (
        f"Published points of the sample by {shorten(axes[0])} and {shorten(axes[1])}. {what} There are more where a "
        f"tile stands out more: shades follow the {drawing.shades}{drawing.scale_words}.{_LINES if outlines else ''} "
        "Below the map are its scale and the size of the noise. Where there is no tile nothing is published; that does "
        "not mean that nobody is there."
    )
    return [figure(lambda narrow: drawing.svg(narrow=narrow), caption)]


_LINES = " Thin lines are the blocks."


def _bars(facts: PointsFacts, found: Places, noise: list[AxisMoves], drawn: bool) -> list[Block]:
    """Return the only axis as bars, which are blocks or no finer than the noise."""
    ((name, axis),) = facts.axes.items()
    edges, what = _edges(facts, axis, noise[0])
    counts, _ = np.histogram(found.axes[0], bins=edges, weights=found.counts)
    ends = [f"{edge:,.10g}" for edge in edges]
    totals = [(f"{low} to {high}", int(n)) for low, high, n in zip(ends, ends[1:], counts, strict=False)]
    exact = "with the exact number of its published points" if _is_exact(facts) else _MOVED
    caption = (
        f"Published points of the sample by {shorten(name)}, between its declared bounds. A bar is {what}, {exact}. "
        f"Blocks below the crowd size are left out: where there {'is no bar' if drawn else 'are 0'}, there may be "
        f"{facts.counted.many}."
    )
    rows = [[text, f"{number:,}"] for text, number in totals]
    return bars(totals, caption, drawn) or [Table([shorten(name), "points"], rows, caption, {1})]


_MOVED = "no finer than the noise; some of its points lay in others before they were moved"


def _is_exact(facts: PointsFacts) -> bool:
    """Return True if the number of published points in a block is exact."""
    return facts.keep_in == "block"


def _edges(facts: PointsFacts, axis: AxisFacts, noise: AxisMoves) -> tuple[list[float], str]:
    """Return the edges of tiles along an axis, and what a tile is: blocks, or a length no finer than the noise."""
    if _is_exact(facts) and axis.width is not None:
        edges = tile_edges(axis.low, axis.high, axis.width, axis.width)
        blocks = round((edges[1] - edges[0]) / axis.width)
        return edges, "a block" if blocks == 1 else f"{blocks} blocks"
    edges = tile_edges(axis.low, axis.high, axis.resolution, noise.deviation)
    return edges, f"{float(f'{edges[1] - edges[0]:.3g}'):,.10g} wide"


def _tiles(
    facts: PointsFacts, found: Places, noise: list[AxisMoves], outlines: list[Rectangle]
) -> tuple[list[Tile], str]:
    """Return the tiles of the first two axes with their points, and a sentence on what a tile is."""
    exact = "with the exact number of its published points"
    if _is_exact(facts) and facts.blocks and len(facts.axes) == 2 and outlines:
        boxes = count_in_boxes(found, outlines)
        if boxes is not None:
            return boxes, f"A tile is a block, {exact}."
    (across, wide), (up, high) = (
        _edges(facts, axis, on) for axis, on in zip(list(facts.axes.values())[:2], noise, strict=False)
    )
    tiles = count_in_grid(found, across, up)
    if not (_is_exact(facts) and all(axis.width is not None for axis in list(facts.axes.values())[:2])):
        return tiles, f"A tile is {wide.removesuffix(' wide')} by {high.removesuffix(' wide')}, {_MOVED}."
    number = wide if wide == high == "a block" else f"{wide} by {high}"
    beyond = " over all blocks of the other axes" if len(facts.axes) > 2 else ""
    return tiles, f"A tile is {number}{beyond}, {exact}."


def _population(folder: PublishedRelease, facts: PointsFacts, points: int) -> list[tuple[str, str]]:
    """Return how many people the points stand for; hidden classes add to the upper end."""
    if not points or not facts.tables["data"].laws.add_up:
        return []
    found = folder.margin(()).intervals
    low, high = int(found.low[0]), int(found.high[0])
    return [] if high < 0 else [(f"{facts.counted.many} of the population, 95 % interval", f"{low:,} – {high:,}")]


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
        f"mean by the lean at most, and not at all where {facts.counted.many} are spread evenly over each block.",
        "bounds": " Points that are put back onto the bounds lean inwards. That does not average out: it moves a mean "
        "by the lean at most.",
    }.get(facts.keep_in, "")
    return [
        f"Statistics of the published points, and what noise does to them; {facts.counted.many} that were not sampled "
        "or not shown are no part of it.",
        Heading("Mean"),
        f"The noise averages out over many points.{lean}",
        _means(places, noise, leaning=bool(lean)),
        Heading("Quantiles"),
        f"On each axis noise moved any of them by more than this {_RARELY}: {_each(noise, 'all_moved')}.",
        _quantiles(places, noise),
        Heading("Distances"),
        f"Two {facts.counted.many} at one place are published further apart than this {_RARELY}, on each axis: "
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
