"""Every mark of every chart is recomputed from facts and data, in the measure that its caption names."""

import random
import re
from itertools import pairwise
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv as arrow_csv
import pytest

import crowdblend as cb
from crowdblend.kinds.points.facts import PointsFacts
from crowdblend.kinds.statistics.facts import StatisticsFacts
from crowdblend.kinds.synopsis.facts import SynopsisFacts
from crowdblend.policies.load import parse_policy
from crowdblend.publishing.release import release
from crowdblend.publishing.synthesis.facts import SyntheticFacts
from crowdblend.reading.release import PublishedRelease
from crowdblend.reading.reports.places import MOST_TILES, tile_edges
from crowdblend.reading.reports.write import report_html
from tests.cases import for_each
from tests.golden.releases import KEY, POLICIES, PROGRAMMES
from tests.reading.reports.drawn import Drawn, Tile, bars_of, dots_of, figures_of, found, tables_of, tiles_of
from tests.reading.reports.releases import release as made

# What is drawn of a place is right to a pixel's hundredth, of a few hundred.
NEAR = 2e-3
# In the golden policies: what people say, by the labels of the data.
SPOKEN = {f"[{age}, {age + 10})": f"{age} to under {age + 10}" for age in range(0, 90, 10)} | {"≥ 90": "90 and over"}
COARSE = {f"[{age}, {age + 30})": f"{age} to under {age + 30}" for age in range(0, 90, 30)}
COUNTS = re.compile(r"(?P<what>[^.:]*) by (?P<one>\w+)\. (?P<how>.*)")
PAIRS = re.compile(r"(?P<what>[^.:]*) by (?P<one>\w+) \(down\) and (?P<other>\w+) \(across\)\. (?P<how>.*)")


@pytest.mark.parametrize("name", POLICIES | PROGRAMMES)
def test_every_mark_is_what_its_caption_says(name: str, sources: Path, tmp_path: Path) -> None:
    text = '[release]\nformat = "csv"\n' + (POLICIES | PROGRAMMES)[name]
    release(parse_policy(text, sources), tmp_path / "out", key=KEY, ledger=None)
    folder = cb.read(tmp_path / "out")
    page = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    for drawn in figures_of(page):
        one = folder
        if folder.is_programme:
            (one,) = (of for named, of in folder.publications.items() if re.match(f"{named}-[a-z]+$", drawn.section))
        check(drawn, one)
    for caption, heads, rows in tables_of(page):
        assert all(len(row) == len(heads) for row in rows), caption


def check(drawn: Drawn, one: PublishedRelease) -> None:
    """Hold a figure against facts and data; a figure that nothing is known about fails."""
    if one.kind in OTHERS:
        OTHERS[one.kind](drawn, one)
    elif drawn.caption.startswith("How many published cells"):
        check_sizes(drawn, one)
    elif pair := PAIRS.fullmatch(drawn.caption):
        check_pair(drawn, one, pair["one"], pair["other"], pair["how"])
    else:
        single = COUNTS.fullmatch(drawn.caption)
        assert single, drawn.caption
        check_margin(drawn, one, single["one"], single["how"])


def rows_of(one: PublishedRelease, columns: list[str]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = one.margin(columns).table().to_pylist()
    return found


def check_margin(drawn: Drawn, one: PublishedRelease, column: str, how: str) -> None:
    rows = rows_of(one, [column])
    counter = one.tables["data"].laws.counter
    said = {text: spoken(row[column]) for row in rows for text in [row[column]]}
    assert all(row["low"] is not None for row in rows)
    estimates = [row["estimate"] for row in rows]
    if "There is no estimate" in how:
        assert all(estimate is None for estimate in estimates)
    elif "where there is none" in how:
        assert None in estimates
        assert any(estimate is not None for estimate in estimates)
    else:
        assert how.startswith("The line is the estimate;")
        assert None not in estimates
    assert ("no upper end" in how) == any(row["high"] is None for row in rows)
    for picture in drawn.pictures:
        texts = picture.texts()
        bars = bars_of(picture, upright=False)
        assert len(bars) in (0, len(rows))
        top = max([1, *(row["high"] if row["high"] is not None else 1.25 * row["low"] for row in rows)])
        for row, bar in zip(rows, bars, strict=False):
            high = top if row["high"] is None else row["high"]
            assert bar.strong == pytest.approx(row["low"], abs=NEAR * top)
            assert bar.faint == pytest.approx(high, abs=NEAR * top)
            if row["estimate"] is not None and row["estimate"] >= 0:
                assert bar.line == pytest.approx(row["estimate"], abs=NEAR * top)
            else:
                assert bar.line is None
        for row in rows:
            assert said[row[column]] in texts
            assert known(row, counter) in texts


def known(row: dict[str, Any], counter: str) -> str:
    """Everything that is known of a number, in the words of the page."""
    ends = f"at least {row['low']:,}" if row["high"] is None else f"{row['low']:,} to {row['high']:,}"
    if row[counter] is None:
        return "not published" if row["high"] is None else f"not published: {ends}"
    if row["estimate"] is None:
        return ends
    ends = "at most a few" if row["high"] == 0 and row["estimate"] < 0 else ends
    return f"{round(row['estimate']):,} ({ends})"


def check_pair(drawn: Drawn, one: PublishedRelease, first: str, second: str, how: str) -> None:
    counter = one.tables["data"].laws.counter
    rows = [row for row in rows_of(one, list(one.tables["data"].columns)[:2]) if row[counter] is not None]
    hidden = [row for row in rows_of(one, list(one.tables["data"].columns)[:2]) if row[counter] is None]
    by_labels = {(spoken(row[first]), spoken(row[second])): row for row in rows}
    (picture,) = drawn.pictures
    tiles = tiles_of(picture, [one for one, _ in by_labels], [other for _, other in by_labels])
    assert {(tile.row, tile.column) for tile in tiles} == set(by_labels)
    values = {}
    for tile in tiles:
        row = by_labels[tile.row, tile.column]
        text, values[tile] = tile_says(row, counter, how)
        assert tile.text == text
        assert tile.hatched == ("interval" in how and row["estimate"] is None)
    assert ("A hatched tile" in how) == any(tile.hatched for tile in tiles)
    assert ("logarithmic" in how) == (len(tiles) > 2 and 0 < 50 * min(values.values()) < max(values.values()))
    ordered = sorted(tiles, key=values.__getitem__)
    assert [darkness(tile) for tile in ordered] == sorted(map(darkness, tiles))
    if hidden:
        most = max(row["high"] for row in hidden) if all(row["high"] is not None for row in hidden) else None
        assert ("up to" in how) == (most is not None)
        assert most is None or f"it may be up to {most:,}." in how


def tile_says(row: dict[str, Any], counter: str, how: str) -> tuple[str, float]:
    """What a tile says, and what its shade follows, in the measure that its caption names."""
    measure = found(r"^A tile has (.*?)\. ", how)
    if measure == "the estimate":
        return f"{round(row['estimate']):,}", row["estimate"]
    if measure == "the 95 % interval":
        return f"{row['low']:,}–{row['high']:,}", (row["low"] + row["high"]) / 2
    if measure.startswith("the lower end of the 95 % interval"):
        return f"{row['low']:,}", row["low"]
    assert measure == "the published number"
    return f"{row[counter]:,}", row[counter]


def darkness(tile: Tile) -> float:
    return -sum(int(tile.shade[at : at + 2], 16) for at in (1, 3, 5))


def check_sizes(drawn: Drawn, one: PublishedRelease) -> None:
    table = one.margin().table().to_pylist()
    counter = one.tables["data"].laws.counter
    by_estimates = "by the estimated number" in drawn.caption
    held = [row["estimate"] if by_estimates else row[counter] for row in table if row[counter] is not None]
    assert None not in held
    for picture in drawn.pictures:
        texts = picture.texts()
        pairs = list(zip(texts[::2], texts[1::2], strict=True))
        assert sum(int(number.replace(",", "")) for _, number in pairs) == len(held)
        for text, number in pairs:
            low, high = size_ends(text)
            assert sum(low <= value < high for value in held) == int(number.replace(",", "")), text


def size_ends(text: str) -> tuple[float, float]:
    plain = text.replace(",", "")
    if plain == "0 or less":
        return -float("inf"), 1
    low, _, high = plain.partition("–")
    return int(low), int(high or low) + 1


def check_statistics(drawn: Drawn, one: PublishedRelease) -> None:
    assert isinstance(one.facts, StatisticsFacts)
    data = [row for file in one.files.values() for row in arrow_csv.read_csv(file.path).to_pylist()]
    names = {row["statistic"]: [other for other in data if other["statistic"] == row["statistic"]] for row in data}
    for picture in drawn.pictures:
        dots = dots_of(picture)
        (rows,) = [some for some in names.values() if matches(some, dots)]
        spread = max(abs(row["value"]) + row["error"] for row in rows)
        for row, (value, low, high) in zip(rows, dots, strict=True):
            assert high - value == pytest.approx(row["error"], abs=4 * NEAR * spread)
            assert low == pytest.approx(max(0.0, value - row["error"]), abs=4 * NEAR * spread) or low < 0
    assert f"with a probability of at least {one.facts.confidence:g};" in drawn.caption


def matches(rows: list[dict[str, Any]], dots: list[tuple[float, float, float]]) -> bool:
    if len(rows) != len(dots):
        return False
    near = NEAR * 2 * max(abs(row["value"]) + (row["error"] or 0) for row in rows)
    return all(abs(row["value"] - value) <= near for row, (value, _, _) in zip(rows, dots, strict=True))


def check_degrees(drawn: Drawn, one: PublishedRelease) -> None:
    (file,) = one.files.values()
    rows = [row for row in arrow_csv.read_csv(file.path).to_pylist() if row["statistic"] == "degrees"]
    for picture in drawn.pictures:
        for row, (value, low, high) in zip(rows, dots_of(picture), strict=True):
            assert value == pytest.approx(row["value"], abs=2 * NEAR)
            assert low == pytest.approx(max(0.0, row["value"] - row["error"]), abs=2 * NEAR)
            assert high == pytest.approx(min(1.0, row["value"] + row["error"]), abs=2 * NEAR)
            assert row["confidence"] == 0.95
    assert "except in 1 of 20 releases" in drawn.caption


def check_met(drawn: Drawn, one: PublishedRelease) -> None:
    assert isinstance(one.facts, SyntheticFacts)
    worst = sorted(one.facts.met, key=lambda table: -table.apart)
    for picture in drawn.pictures:
        for table, (value, low, high) in zip(worst, dots_of(picture), strict=True):
            near = 4 * NEAR * 100 * max(max(one.apart, one.noise) for one in worst)
            assert (value, low, high) == pytest.approx((100 * table.apart, 0.0, 100 * table.noise), abs=near)


def check_shares(drawn: Drawn, one: PublishedRelease) -> None:
    assert isinstance(one.facts, SynopsisFacts)
    column = found(r"^Synthetic rows by (\w+)", drawn.caption)
    (file,) = one.files.values()
    values = arrow_csv.read_csv(file.path).column(column).to_pylist()
    error = one.facts.errors[0]
    for picture in drawn.pictures:
        labels = [text for text in picture.texts() if text in set(values) | {spoken(str(value)) for value in values}]
        by_label = {spoken(str(value)): values.count(value) / len(values) for value in values}
        for label, (value, low, high) in zip(labels, dots_of(picture), strict=True):
            share = by_label[label]
            ends = (share, max(0.0, share - error), min(1.0, share + error))
            assert (value, low, high) == pytest.approx(tuple(100 * end for end in ends), abs=100 * 2 * NEAR)


def check_bars_of_points(drawn: Drawn, one: PublishedRelease) -> None:
    assert isinstance(one.facts, PointsFacts)
    ((axis, _),) = one.facts.axes.items()
    (file,) = one.files.values()
    places = arrow_csv.read_csv(file.path).column(axis).to_pylist()
    ends = [re.fullmatch(r"([\d,.]+) to ([\d,.]+)", text) for text in drawn.pictures[0].texts()[::2]]
    for bar, number in zip(ends, drawn.pictures[0].texts()[1::2], strict=True):
        assert bar
        low, high = (float(end.replace(",", "")) for end in bar.groups())
        assert sum(low <= place < high for place in places) == int(number.replace(",", ""))


@pytest.mark.parametrize("keep_in", ["block", "bounds", "none"])
def test_tiles_of_a_map_are_blocks_or_no_finer_than_the_noise(keep_in: str, tmp_path: Path) -> None:
    """Every tile has the points that lie in it, and its edges are those of blocks, or of cells where points moved."""
    draw = random.Random(11)
    places = [(draw.randrange(8) * 0.5 + 0.25, draw.randrange(4) * 0.5 + 0.25) for _ in range(400)]
    columns = {"x": [x for x, _ in places], "y": [y for _, y in places]}
    numbers = {"estimate": [None] * 400, "low": [1] * 400, "high": [9] * 400}
    page = report_html(made(tmp_path, pa.table({**columns, **numbers}), kind="points", keep_in=keep_in))
    facts = cb.read(tmp_path).facts
    assert isinstance(facts, PointsFacts)
    least = [1.0, 1.0] if keep_in == "block" else [axis.deviation for axis in facts.moves(400)]
    (drawn,) = figures_of(page)
    assert ("exact number" in drawn.caption) == (keep_in == "block")
    # Of a block of fewer than 35 sampled people; these points have no labels that could be missing.
    assert "A block with fewer is not shown: it may have up to 84 people" in page
    assert "combination of labels" not in page
    for picture in drawn.pictures:
        ground, *rest = picture.of("rect")
        left, top, wide, high = (float(ground[key]) for key in ("x", "y", "width", "height"))
        tiles = [tile for tile in rest if tile["fill"] != "none" and float(tile["x"]) < left + wide - 0.1]
        tiles = [tile for tile in tiles if float(tile["y"]) < top + high - 0.1]
        texts = [(at, text) for name, at, text in picture.shapes if name == "text"]
        total = 0
        for tile in tiles:
            x, y, w, h = (float(tile[key]) for key in ("x", "y", "width", "height"))
            ends = [4 * (x - left) / wide, 4 * (x + w - left) / wide]
            heights = [2 * (top + high - y - h) / high, 2 * (top + high - y) / high]
            for low, up, fewest, most in zip((ends[0], heights[0]), (ends[1], heights[1]), least, (4, 2), strict=True):
                step = 1.0 if keep_in == "block" else 0.5
                assert low / step == pytest.approx(round(low / step), abs=0.02)
                assert up - low >= min(fewest, most) - 0.01
            held = sum(ends[0] < one < ends[1] and heights[0] < other < heights[1] for one, other in places)
            inside = [
                text for at, text in texts if "x" in at and x < float(at["x"]) < x + w and y < float(at["y"]) < y + h
            ]
            assert inside in ([f"{held:,}"], [])
            total += held
        assert total == 400


@for_each("seed", range(200))
def test_tiles_are_whole_steps_wide_and_alike_where_they_can_be(seed: int) -> None:
    draw = random.Random(seed)
    steps, step, least = draw.randrange(1, 500), 10.0 ** draw.randrange(-4, 3), 10.0 ** draw.uniform(-4, 4)
    edges = tile_edges(-3 * step, (steps - 3) * step, step, least)
    widths = [(after - before) / step for before, after in pairwise(edges)]
    assert all(width == pytest.approx(round(width), abs=1e-6) for width in widths)
    assert len(widths) <= MOST_TILES
    assert all(width >= min(least / step, steps) - 1e-6 for width in widths[:-1])
    assert (edges[0], edges[-1]) == pytest.approx((-3 * step, (steps - 3) * step))
    assert all(width == pytest.approx(widths[0]) for width in widths[:-1])


def spoken(label: str) -> str:
    return (SPOKEN | COARSE).get(label, label)


OTHERS = {
    "statistics": check_statistics,
    "graph": check_degrees,
    "synthetic": check_met,
    "points": check_bars_of_points,
    "synopsis": check_shares,
}
