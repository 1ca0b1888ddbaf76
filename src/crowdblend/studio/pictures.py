"""Charts for pages of any width, and a column's classes: numbers on a ruler to scale, all else as labels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypedDict

from markupsafe import Markup

from crowdblend.methods.recoding.classes import Recoding
from crowdblend.methods.recoding.intervals import Breaks, Intervals
from crowdblend.policies.columns import Column
from crowdblend.policies.domains import AxisDomain, NumberDomain
from crowdblend.reading.figures.charts import Chart
from crowdblend.reading.figures.recodings import class_ruler
from crowdblend.reading.reports.text import inline_svg

MOST_LABELS = 24
_MOST_BLOCKS = 400
_MOST_STEPS = 50


class ChartPictures(TypedDict):
    """A chart as SVG text, drawn for a screen and for a phone."""

    title: str
    wide: str
    narrow: str


def draw_chart(chart: Chart) -> ChartPictures:
    """Return the chart as plain data, which a job can hand over."""
    return {"title": chart.title, "wide": chart.svg(), "narrow": chart.svg(narrow=True)}


@dataclass(frozen=True)
class Level:
    """The classes of one recoding; a column that offers several to choose from has several."""

    classes: int | None
    labels: tuple[str, ...]
    ruler: Markup | None


@dataclass(frozen=True)
class Picture:
    """The classes of a column, in words and drawn."""

    words: str
    levels: tuple[Level, ...]


def picture_of(column: Column) -> Picture:
    """Return the picture of a column whose domain is complete."""
    domain = column.domain
    if isinstance(domain, NumberDomain | AxisDomain):
        unit = "blocks" if isinstance(domain, AxisDomain) and domain.width else "steps"
        step = domain.width if isinstance(domain, AxisDomain) and domain.width else domain.resolution
        count = int((domain.stop - domain.start) / step)
        # More steps than can be told apart are drawn as one bar between the bounds.
        blocks = count if count <= _MOST_STEPS else 1
        ends = [float(domain.start) + float(domain.stop - domain.start) * at / blocks for at in range(blocks + 1)]
        words = f"{count:,} {unit} of {step:,} from {domain.start:,} to {domain.stop:,}"
        return Picture(words, (Level(None, (), _ruler(ends, words)),))
    levels = tuple(_level(recoding) for recoding in column.recodings)
    sizes = [f"{level.classes:,}" if level.classes is not None else "an open number of" for level in levels]
    words = f"{' or '.join(sizes)} classes" + (", to be chosen" if column.chooses else "")
    return Picture(words, levels)


def _level(recoding: Recoding) -> Level:
    labels = tuple(recoding.labels or ())
    # Whole numbers fall into 10–19, not between 10 and 20: their classes are boxes, not stretches of an axis.
    whole = isinstance(recoding, Intervals | Breaks) and recoding.whole
    return Level(recoding.size, labels[:MOST_LABELS], None if whole else _draw(recoding))


def _draw(recoding: Recoding) -> Markup | None:
    if isinstance(recoding, Intervals):
        inside = len(recoding.own_labels) - recoding.bottom - recoding.top
        if inside > _MOST_BLOCKS:
            return None
        ends = [float(recoding.end(step)) for step in range(inside)] + [float(recoding.stop)]
    elif isinstance(recoding, Breaks):
        ends = [float(end) for end in recoding.breaks]
        if len(ends) > _MOST_BLOCKS or len(ends) < 2:
            return None
    else:
        return None
    return _ruler(ends, f"{len(ends) - 1} intervals", bottom=recoding.bottom, top=recoding.top)


def _ruler(ends: list[float], words: str, *, bottom: bool = False, top: bool = False) -> Markup:
    return inline_svg(class_ruler(ends, bottom=bottom, top=top), words)
