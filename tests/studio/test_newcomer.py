"""Somebody new to the studio: every press and every typed text is counted, from nothing to a verified folder."""

import io
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import playwright.sync_api as playwright
import pytest

import crowdblend as cb
from tests.needs import QUIET, chromium
from tests.studio.running import Running, running
from tests.studio.steward import SEEN, WAIT

CHROMIUM = chromium()


class Newcomer:
    """Somebody in a browser whose every interaction is counted."""

    def __init__(self, page: Any) -> None:
        self.page, self.clicks, self.typed = page, 0, set[str]()
        page.set_default_timeout(WAIT)

    def click(self, what: str) -> None:
        """Press something."""
        self.clicks += 1
        self.page.click(what)
        self.page.wait_for_load_state("load")

    def type(self, where: str, text: str) -> None:
        """Type a text into a field."""
        self.typed.add(text)
        self.page.fill(where, text)

    def onward(self, *steps: str) -> None:
        """Press the button of the next step, step after step."""
        for step in steps:
            self.click(f"a.button:has-text('Next: {step}')")
            self.page.wait_for_selector(f".steps .here:has-text('{step}')")


@pytest.fixture
def studio(tmp_path: Path) -> Iterator[Running]:
    """A studio in an empty folder."""
    with running(tmp_path / "root") as started:
        yield started


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """One browser for the module."""
    with playwright.sync_playwright() as player:
        started = player.chromium.launch(executable_path=CHROMIUM, args=QUIET)
        yield started
        started.close()


@pytest.fixture
def newcomer(browser: Any, studio: Running) -> Iterator[Newcomer]:
    """Somebody who opens the printed address."""
    page = browser.new_page(**SEEN)
    page.goto(studio.address)
    yield Newcomer(page)
    page.close()


@pytest.mark.slow  # test_browser.py goes the same way every day, and counts nothing
def test_a_made_up_town_is_published_and_verified(newcomer: Newcomer, studio: Running) -> None:
    page = newcomer.page
    newcomer.click("text=Try it with a made-up town")
    assert page.locator(".refused, [aria-invalid]").count() == 0  # nothing was typed yet
    newcomer.onward("Columns", "Release", "Rehearse", "Publish")
    newcomer.type("#confirm", "town")
    newcomer.click("button[data-confirmed]")
    assert page.inner_text(".job").startswith("Working")  # from the first second
    newcomer.click("text=See the result")
    folder = studio.root / "town-table"
    assert str(folder) in page.inner_text("#main")
    with page.expect_download() as loaded:
        page.click("text=Download the folder (ZIP)")
    zipped = zipfile.ZipFile(loaded.value.path())
    assert sorted(zipped.namelist()) == sorted(f"{folder.name}/{file.name}" for file in folder.iterdir())
    with page.expect_download() as loaded:
        page.click("text=as CSV for Excel")
    text = Path(loaded.value.path()).read_bytes()
    assert text.startswith(b'\xef\xbb\xbf"sex"')
    assert io.StringIO(text.decode("utf-8-sig")).read().count("\n") == cb.read(folder).data.num_rows + 1
    newcomer.click("text=Verify it")
    page.wait_for_selector("text=Verified: the derivation is sound", timeout=WAIT)
    assert newcomer.clicks <= 14
    assert newcomer.typed == {"town"}
    assert cb.verify(folder).facts["kind"] == "table"
    # What was published stays; a corrected draft is published beside it.
    page.goto(f"{studio.origin}/")
    newcomer.click("a:has-text('town · made-up')")
    newcomer.click("button:has-text('Begin the next draft')")
    page.wait_for_selector(".files")
