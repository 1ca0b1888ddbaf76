"""Reports of every kind in a real browser: on a phone and a desk, in light and dark, with axe-core, and on paper."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from crowdblend.policies.load import parse_policy
from crowdblend.publishing.release import release
from tests import cases
from tests.accessibility import findings
from tests.golden.releases import KEY, POLICIES
from tests.needs import QUIET, chromium

# Every kind but that of tables with rows, and the table with most on its page.
RELEASES = ("table", "table-population", "microdata", "points", "outlier-table", "statistics", "synopsis", "graph")
PHONE, DESK = 390, 1280
# Colours do not depend on the width, nor the layout on the colours: one page is seen in every way, the others in two.
SEEN = ((PHONE, "light"), (DESK, "dark"))
EVERY_WAY = (*SEEN, (360, "dark"), (768, "light"), (1600, "light"))
# Numbers at axes, and labels, that run into each other.
COLLISIONS = """() => [...document.querySelectorAll("figure svg")].filter(svg => svg.checkVisibility()).flatMap(svg => {
    const texts = [...svg.querySelectorAll("text:not([transform])")].map(text => [text, text.getBoundingClientRect()]);
    const meet = (a, b) => a.left < b.right && b.left < a.right && a.top + 2 < b.bottom - 2 && b.top + 2 < a.bottom - 2;
    return texts.flatMap(([one, a], at) => texts.slice(at + 1).filter(([, b]) => meet(a, b))
        .map(([other]) => `${one.textContent} | ${other.textContent}`));
})"""
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


def test_a_report_checks_the_files_that_are_dropped_on_it(browser: Any, sources: Path, tmp_path: Path) -> None:
    folder = release(parse_policy(POLICIES["table-one"], sources), tmp_path / "out", key=KEY).folder
    page = browser.new_page()
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto((folder / "report.html").as_uri())

    def said(*files: Path) -> str:
        page.set_input_files("#check-files", files)
        page.wait_for_selector("#check-said li:last-child:has-text('Not checked here')")
        return str(page.inner_text("#check-said"))

    whole = said(*folder.iterdir())
    assert whole.count("unchanged, the certified bytes") == 4
    assert "certificate.json: the same hashes as this page" in whole
    assert "4 checked by SHA-256" in whole
    assert "crowdblend verify checks these" in whole
    changed = tmp_path / "data.parquet"
    changed.write_bytes((folder / "data.parquet").read_bytes() + b"\0")
    alone = said(changed)
    assert "data.parquet: CHANGED" in alone
    assert "Do not use these files" in alone
    assert "README.md, datapackage.json: not dropped, and so not checked" in alone
    other = release(parse_policy(POLICIES["table"], sources), tmp_path / "other", key=KEY).folder
    assert "certificate.json: other hashes than this page" in said(other / "certificate.json")
    assert "notes.txt: not one of the certified files" in said(_noted(tmp_path / "notes.txt"))
    assert len(asked) == 1  # nothing left the page
    page.close()


def _noted(path: Path) -> Path:
    path.write_text("something else", encoding="utf-8")
    return path


# Reports share one template and its styles: every day one with figures and a table.
DAILY = ("table",)


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=() if name in DAILY else pytest.mark.slow) for name in RELEASES]
)
def test_a_report_can_be_read_by_everybody(name: str, browser: Any, sources: Path, tmp_path: Path) -> None:
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
        # All reports have the same colours: every day the light ones are looked at on one page.
        if (width, scheme) in SEEN or cases.THOROUGH:
            colours = (width, scheme) in SEEN and (scheme == "dark" or name == "table" or cases.THOROUGH)
            assert findings(page, colours=colours) == [], f"{width} px, {scheme}"
        assert page.evaluate(COLLISIONS) == []
    if name == "table" and cases.THOROUGH:
        page.emulate_media(media="print", color_scheme="dark")
        assert findings(page) == []
    page.emulate_media(media="null", color_scheme="light")
    page.set_viewport_size({"width": PHONE, "height": 844})
    assert page.evaluate(OFF_THE_PAGE) == []
    assert page.evaluate(SHRUNK) == 0
    assert page.evaluate(BARS_THAT_SCROLL) == 0
    pages = re.findall(rb"/Type\s*/Page[^s]", page.pdf(format="A4"))
    assert 1 <= len(pages) <= 4
    assert asked == [address]
    page.close()
