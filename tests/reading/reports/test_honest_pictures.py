"""Figures show every declared label; what is not published is neither zero nor left out; nothing sums cut cells."""

import re
from pathlib import Path
from typing import Any

import pytest

from crowdblend.kinds.points.view import _fit_digits
from crowdblend.reading.figures.maps import PointMap
from crowdblend.reading.reports.write import report_html
from tests.cases import for_each
from tests.reading.reports.releases import NOISY, SUPPRESSED, release, table

DOMAIN: dict[str, Any] = {
    "age": {"recoding": "intervals", "labels": ["[0, 50)", "≥ 50"]},
    "sex": {"recoding": "values", "labels": ["Female", "Male", "Other", "Not stated"]},
}


def texts(html: str) -> list[list[str]]:
    """The texts of every figure; those of a narrow page say the same."""
    drawn = []
    for figure in re.findall(r"<figure>.*?</figure>", html, re.S):
        wide, *narrow = [
            re.findall(r"<text[^>]*>(.*?)</text>", svg) for svg in re.findall(r"<svg.*?</svg>", figure, re.S)
        ]
        assert all(set(wide) == set(one) for one in narrow)
        drawn.append(wide)
    return drawn


def test_every_declared_label_is_drawn_and_a_missing_one_has_an_upper_end(tmp_path: Path) -> None:
    html = report_html(release(tmp_path, table(), columns=DOMAIN))
    ages, sexes, both = texts(html)
    assert {"[0, 50)", "≥ 50"} <= set(ages)
    assert {"Female", "Male", "Other", "Not stated"} <= set(sexes)
    # Two finest cells of either age are not shown: at most 68 sampled people, so at most 161 people.
    assert sum(text.startswith("not published: 0 to 16") for text in sexes) == 2
    assert {"Other", "Not stated"} <= set(both)
    assert "lower ends" in html
    assert "up to 84 people of the population" in html


def test_captions_hold_in_the_dark_where_shades_are_turned_round(tmp_path: Path) -> None:
    places = table(x=[0.25, 0.25], y=[0.25, 0.75], estimate=[None, None], low=[1, 1], high=[9, 9])
    pages = release(tmp_path / "t", table(), columns=DOMAIN), release(tmp_path / "p", places, kind="points")
    for page in map(report_html, pages):
        captions = " ".join(re.findall(r"<figcaption>(.*?)</figcaption>", page, re.S))
        assert "There are more where a" in captions
        assert not re.search("darker|lighter|brighter", captions)


def test_a_sum_over_suppressed_cells_is_no_estimate(tmp_path: Path) -> None:
    html = report_html(release(tmp_path, table(), columns=DOMAIN))
    ages, sexes, _ = texts(html)
    # 101 published people of the sample are a lower end of what there may be, and no bar of 202.
    assert [text for text in ages if " to " in text] == ["146 to 377", "2,339 to 2,710"]
    assert not any("202" in text for text in ages)
    # No cell of the women is missing, so there it is an estimate.
    assert any(text.startswith("2,520 (") for text in sexes)


def test_an_open_domain_has_lower_ends_only(tmp_path: Path) -> None:
    opened = {"age": {"recoding": "prefix", "length": 2}, "sex": {"recoding": "prefix", "length": 1}}
    ages, *_ = texts(report_html(release(tmp_path, table(), columns=opened)))
    assert [text for text in ages if "at least" in text] == ["at least 146", "at least 2,339"]


def test_noisy_tables_show_estimates_with_error_bars(tmp_path: Path) -> None:
    html = report_html(release(tmp_path, table(), columns=DOMAIN, mechanism=NOISY))
    ages, *_ = texts(html)
    assert any(re.fullmatch(r"202 \(1\d\d to 2\d\d\)", text) for text in ages)
    assert "Every cell is published" in html
    assert "lose more" not in html


def test_nothing_adds_up_cells_that_were_cut_off(tmp_path: Path) -> None:
    html = report_html(release(tmp_path, table(), columns=DOMAIN, mechanism={**NOISY, "show_from": 3}))
    assert "No totals are shown" in html
    assert "1,336" not in html
    assert not texts(html)


@pytest.mark.parametrize("mechanism", [SUPPRESSED, NOISY])
def test_no_dictionary_is_printed(tmp_path: Path, mechanism: dict[str, Any]) -> None:
    html = report_html(release(tmp_path, table(), columns=DOMAIN, mechanism=mechanism))
    assert f"<td>k</td><td>{mechanism['k']}</td>" in html
    assert not re.search(r"\{&#x27;|\{'|None", html)


def test_title_publisher_and_date_are_shown(tmp_path: Path) -> None:
    about = {"title": "People of <b>Harbour</b>", "publisher": "Office", "licence": "CC-BY-4.0"}
    html = report_html(release(tmp_path, table(), about=about, date="2026-11-16"))
    assert "<h1>People of &lt;b&gt;Harbour&lt;/b&gt;</h1>" in html
    assert "Office · CC-BY-4.0 · 2026-11-16" in html


@for_each(
    ("value", "error", "shown"),
    [
        (16_021.7, 430.0, "16,020"),
        (148_213_777.0, 2.8e7, "148,000,000"),
        (-0.4, 19_000.0, "0"),
        (1.23456, 0.031, "1.235"),
    ],
)
def test_numbers_of_points_have_the_digits_that_their_error_leaves(value: float, error: float, shown: str) -> None:
    assert _fit_digits(value, error) == shown


def test_a_map_is_to_scale() -> None:
    """A degree of longitude at 60 degrees north is half as long as one of latitude."""
    flat = PointMap([], [], ("x", "y"), (0, 0, 3, 1), (0.0, 0.0), 0.95).svg()
    north = PointMap([], [], ("lon", "lat"), (0, 59.5, 2, 60.5), (0.0, 0.0), 0.95).svg()
    for drawn, ratio in ((flat, 1 / 3), (north, 1.0)):
        wide, high = map(float, re.search(r'<rect [^>]*width="([\d.]+)" height="([\d.]+)"', drawn).groups())
        assert high / wide == pytest.approx(ratio, rel=0.01)
