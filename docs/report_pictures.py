"""Make the pictures of docs/reading.md: two places of a report about the made-up town.

    python -m docs.report_pictures

It needs Playwright and Chromium.
"""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright

import crowdblend as cb
from crowdblend.lab.demo import town

IMAGES = Path(__file__).parent / "images"
SIZE = {"width": 900, "height": 1180}
DISTRICTS = ("Harbour", "Old Town", "Riverside", "Hillside", "Station", "Garden City", "University", "Mills")
POLICY = cb.Policy(
    person="person_id",
    population="residents",
    sampling=cb.Poisson(0.5),
    epsilon=1.0,
    delta=1e-6,
    columns={
        "sex": cb.values("female", "male"),
        "age": cb.intervals(0, 90, width=10, top=True, whole=True),
        "district": cb.values(*DISTRICTS),
    },
    publish=cb.Table("sex", "age", "district"),
)


def main() -> None:
    """Publish the town with a fixed key, open its report, and keep what is seen of two places."""
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as player:
        done = cb.release(town(20_000), POLICY, out=Path(folder) / "town", ledger=None, key=bytes([5]) * 32)
        assert done.folder is not None
        browser = player.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        page = browser.new_page(viewport=SIZE)
        page.goto((done.folder / "report.html").as_uri())
        page.screenshot(path=IMAGES / "report.png")
        page.get_by_role("heading", name="What was published").evaluate("heading => heading.scrollIntoView()")
        page.screenshot(path=IMAGES / "report-numbers.png")
        browser.close()


if __name__ == "__main__":
    main()
