"""Points: the map with its blocks, and statistics with the error that noise is expected to make."""

from __future__ import annotations

from functools import partial

import numpy as np

from crowdblend.figures.maps import Rectangle, point_map
from crowdblend.guarantees.wording import three_digits
from crowdblend.kinds.points.facts import PointsFacts
from crowdblend.kinds.table.view import bars
from crowdblend.reading.notes import missing_rows, probability
from crowdblend.reading.release import PublishedRelease
from crowdblend.reports import places
from crowdblend.reports.page import Block, Heading, Part, Table, View, figure
from crowdblend.reports.places import AxisNoise, Places, read_places
from crowdblend.reports.text import enumeration, label, round_up, shorten

MOST_LINES = 4_000
MOST_BARS = 40


def view(folder: PublishedRelease, figures: bool) -> View:
    """Read the points once, and show what they add up to."""
    path = next(iter(folder.files.values()))
    facts = folder.facts
    assert isinstance(facts, PointsFacts)
    axes = list(facts.axes)
    found = read_places(path, axes)
    shapes = facts.displacements
    # The noise of the largest blocks along every axis.
    noise = [
        AxisNoise(*(max(getattr(shape[name], part) for shape in shapes) for part in ("mean", "deviation", "width")))
        for name in axes
    ]
    others = list(facts.domains)
    parts = [Part("data", "What was published", _map(facts, found, axes, figures))]
    if found.points > 1:
        parts.append(Part("statistics", "What the points add up to", _statistics(facts, found, axes, noise)))
    return View(
        heading=f"Points: {enumeration(axes)}" + (f", with {enumeration(others)}" if others else ""),
        what="points, each of them one person moved by noise",
        keys=(*_population(folder, facts, found.points), ("published points", f"{found.points:,}")),
        reading=_reading(facts, axes, noise),
        parts=parts,
    )


def _reading(facts: PointsFacts, axes: list[str], noise: list[AxisNoise]) -> list[str]:
    rate = facts.rate
    moved = enumeration(f"{round_up(on.mean)} in {shorten(name, 40)}" for name, on in zip(axes, noise, strict=True))
    many = "people" if facts.rows_per_person is None else "points"
    stands = f" One point stands for about {three_digits(1 / rate)} {many}." if rate else ""
    inclusion = facts.design.inclusion
    if inclusion is not None and inclusion.least < inclusion.most:
        stands = f" It kept each person with probability {probability(inclusion)}."
    kept = {
        "block": "Every point was kept in its own block, so the number of points in a block is exact.",
        "bounds": "Points that left the bounds were put back onto them, so the edges hold too many.",
    }.get(facts.keep_in, "Points may lie outside the declared bounds: noise knows none.")
    note = [] if facts.counting_note is None else [facts.counting_note]
    one = "one place of a person" if note else "one person"
    return [
        *note,
        f"Each point is {one} of a random sample, moved by noise.{stands} The order of the rows means nothing.",
        f"In the largest blocks a point moved by {moved} on average; in smaller blocks by less.",
        *missing_rows(facts.tables["data"]),
        kept,
    ]


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
    bins, outlines = places.bin_points(shown_places, bounds[:2]), _outlines(facts, axes, bounds)
    names, corners = (shorten(axes[0], 40), shorten(axes[1], 40)), (left, bottom, right, top)

    caption = (
        f"Published points of the sample by {shorten(axes[0])} and {shorten(axes[1])}, darker for more; thin lines "
        "are the blocks. Where nothing is shown, no block reached the crowd size."
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


def _statistics(facts: PointsFacts, places: Places, axes: list[str], noise: list[AxisNoise]) -> list[Block]:
    kept = facts.keep_in != "none"
    moved = float(np.sqrt(sum(on.deviation**2 for on in noise)))
    return [
        "Statistics of the published points. The expected error is what the noise of the largest blocks makes of "
        "them; people who were not sampled or not shown are no part of it.",
        Heading("Mean"),
        _means(places, axes, noise, kept),
        Heading("Quantiles"),
        _quantiles(places, axes, noise),
        f"Noise moves points by about {_number(moved)}: smaller distances are noise, larger ones are real.",
    ]


def _means(shown_places: Places, axes: list[str], noise: list[AxisNoise], kept: bool) -> Table:
    errors = [places.mean_error(on, shown_places.points, folded=kept) for on in noise]
    rows = [
        [
            label(name),
            _fit_digits(np.average(shown_places.axes[at], weights=shown_places.counts), errors[at]),
            _number(errors[at]),
        ]
        for at, name in enumerate(axes)
    ]
    return Table(["axis", "mean", "expected error"], rows, "Means of the published points", {1, 2})


def _quantiles(shown_places: Places, axes: list[str], noise: list[AxisNoise]) -> Table:
    rows = [
        [label(name), *(_fit_digits(q, noise[at].mean) for q in shown_places.quantiles(at)), _number(noise[at].mean)]
        for at, name in enumerate(axes)
    ]
    headers = ["axis", *(f"{100 * q:g} %" for q in places.QUANTILES), "expected error, at most about"]
    return Table(headers, rows, "Quantiles of the published points", range(1, len(headers)))


def _number(value: float) -> str:
    """Return an error or a distance to two digits."""
    return f"{float(f'{float(value):.2g}'):,.10g}"


def _fit_digits(value: float, error: float) -> str:
    """Return a value with the digits that its error leaves: one more than the first digit of the error."""
    if not error > 0 or not np.isfinite(error):
        return f"{float(value):,.6g}"
    digits = 1 - int(np.floor(np.log10(error)))
    return f"{round(float(value), digits) + 0.0:,.{min(max(digits, 0), 12)}f}"
