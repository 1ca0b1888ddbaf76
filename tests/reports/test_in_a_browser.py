"""Reports of every kind in a real browser: on a phone and a desk, in light and dark, with axe-core, and on paper."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from crowdblend.policies import parse_policy
from crowdblend.publishing.release import release
from tests.golden.releases import KEY, POLICIES
from tests.needs import QUIET, chromium

# The seven kinds, and the table with most on its page.
RELEASES = ("table", "table-population", "microdata", "points", "outlier-table", "statistics", "synopsis", "graph")
PHONE, DESK = 390, 1280
# Colours do not depend on the width, nor the layout on the colours: one page is seen in every way, the others in two.
SEEN = ((PHONE, "light"), (DESK, "dark"))
EVERY_WAY = (*SEEN, (PHONE, "dark"), (DESK, "light"))
# Figures of a phone that are smaller than they were drawn, so that nobody can read them.
SHRUNK = """() => [...document.querySelectorAll("figure .narrow svg")].filter(
    svg => svg.getBoundingClientRect().width < 0.99 * svg.width.baseVal.value).length"""
OFF_THE_PAGE = """() => [...document.querySelectorAll("figure .narrow svg text")].filter(
    text => text.getBoundingClientRect().right > document.documentElement.clientWidth).map(text => text.textContent)"""
BARS_THAT_SCROLL = """() => [...document.querySelectorAll("figure .scroll")].filter(
    box => box.offsetParent && box.nextElementSibling.className === "narrow").length"""


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    path = chromium()
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=path, args=QUIET)
        yield started
        started.close()


@pytest.mark.parametrize("name", RELEASES)
def test_a_report_can_be_read_by_everybody(name: str, browser: Any, sources: Path, tmp_path: Path) -> None:
    from axe_playwright_python.sync_playwright import Axe

    release(parse_policy(POLICIES[name], sources), tmp_path / name, key=KEY)
    address = (tmp_path / name / "report.html").as_uri()
    page = browser.new_page(viewport={"width": PHONE, "height": 844})
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(address)
    for width, scheme in SEEN if name != "table" else EVERY_WAY:
        page.set_viewport_size({"width": width, "height": 844})
        page.emulate_media(color_scheme=scheme)
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        found = Axe().run(page).response["violations"]
        assert not [(rule["id"], rule["nodes"][0]["html"][:200]) for rule in found], f"{width} px, {scheme}"
    page.set_viewport_size({"width": PHONE, "height": 844})
    assert page.evaluate(OFF_THE_PAGE) == []
    assert page.evaluate(SHRUNK) == 0
    assert page.evaluate(BARS_THAT_SCROLL) == 0
    pages = re.findall(rb"/Type\s*/Page[^s]", page.pdf(format="A4"))
    assert 1 <= len(pages) <= 4
    assert asked == [address]
    page.close()
