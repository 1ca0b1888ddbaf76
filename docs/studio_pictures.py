"""Make the pictures of docs/studio.md: a made-up town, published in a browser that nobody watches.

    python -m docs.studio_pictures

It needs the extra `studio`, Playwright and Chromium.
"""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

from tests.studio.running import fill, running
from tests.studio.steward import Steward

IMAGES = Path(__file__).parent / "images"
SIZE = {"width": 1280, "height": 860}


def picture(page: Page, name: str, height: int = SIZE["height"]) -> None:
    """What is seen of a page without scrolling, in a window of some height."""
    page.set_viewport_size({**SIZE, "height": height})
    page.wait_for_load_state("networkidle")
    page.evaluate("scrollTo(0, 0)")
    page.screenshot(path=IMAGES / f"studio-{name}.png")


def main() -> None:
    """Walk through the steps of a survey table, and keep a picture of some."""
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "town"
        fill(root, 20_000)
        with running(root) as studio, sync_playwright() as player:
            browser = player.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
            page = browser.new_page(viewport=SIZE)
            page.goto(studio.address)
            picture(page, "home")
            steward = Steward(page, studio)
            steward.begin("table")
            page.select_option("#person", "person_id")
            page.fill("#population", "town")
            page.wait_for_selector("#onward a.primary")
            picture(page, "data", 1_020)
            steward.describe()
            steward.column(1, "values", values="female\nmale")
            steward.column(2, "width", **{"from": "0", "to": "110", "width": "10"})
            picture(page, "columns", 1_250)
            steward.onward("Release")
            page.fill("#s-rate", "0.5")
            page.wait_for_selector("#summary :text('0.5')")
            page.wait_for_selector("#plan .lead")
            page.wait_for_selector("#plan :text('with this release')")
            picture(page, "release", 1_080)
            for button in ("add][value=microdata", "add][value=table"):
                with page.expect_navigation():
                    page.click(f"button[name={button}]")
            steward.more({"publish/0/name": "by_sex_and_age", "publish/2/name": "ages"})
            page.check("#publication-2 input[name='publish/2/columns'][value=age]")
            page.wait_for_timeout(3_000)  # three plans are made, one after the other
            page.wait_for_selector("#gives-fresh:has-text('people')")
            page.wait_for_selector("#plan :text('with this release')")
            picture(page, "programme", 1_120)
            for button in ("remove][value='2'", "remove][value='1'"):
                with page.expect_navigation():
                    page.click(f"button[name={button}]")
            steward.onward("Rehearse")
            steward.onward("Publish")
            steward.publish()
            page.frame_locator("iframe.report").locator("h1").wait_for()
            picture(page, "result")
            browser.close()


if __name__ == "__main__":
    main()
