"""The whole way in a browser, from the data to the published folder; every request goes to the studio itself."""

import re
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import playwright.sync_api as playwright
import pytest

import crowdblend as cb
from crowdblend.lab.demo import town
from tests import cases
from tests.accessibility import findings
from tests.needs import QUIET, chromium
from tests.studio.running import Running, fill, running
from tests.studio.steward import SEEN, WAIT, Steward

CHROMIUM = chromium()

FIRST_PAGE_BYTES, FIRST_PAGE_REQUESTS = 300_000, 12


@pytest.fixture(scope="module")
def studio(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """One studio for the module."""
    root = tmp_path_factory.mktemp("studio") / "root"
    fill(root)
    with running(root) as started:
        yield started


@dataclass
class Browsing:
    """A browser that has opened the printed address: what it asked for, and what went wrong in it."""

    context: Any
    asked: list[Any] = field(default_factory=list)
    said: list[str] = field(default_factory=list)
    first_page: list[int] = field(default_factory=list)
    """The size of everything that the first page loaded."""


@pytest.fixture(scope="module")
def browsing(studio: Running) -> Iterator[Browsing]:
    """One browser for the module."""
    with playwright.sync_playwright() as player:
        browser = player.chromium.launch(executable_path=CHROMIUM, args=QUIET)
        made = Browsing(browser.new_context(**SEEN))
        made.context.on("request", lambda request: made.asked.append(request))  # noqa: PLW0108 - it takes no builtin
        made.context.on("console", lambda line: made.said.append(line.text) if line.type == "error" else None)
        made.context.on("weberror", lambda error: made.said.append(str(error.error)))
        first = made.context.new_page()
        first.goto(studio.address)
        first.wait_for_load_state("networkidle")
        made.first_page = [len(request.response().body()) for request in made.asked if "/start" not in request.url]
        first.close()
        yield made
        elsewhere = [request.url for request in made.asked if not request.url.startswith((studio.origin, "data:"))]
        browser.close()
    assert not elsewhere


@pytest.fixture
def steward(browsing: Browsing, studio: Running) -> Iterator[Steward]:
    """Somebody with a fresh tab; nothing goes wrong in it that only the console would say."""
    page = browsing.context.new_page()
    browsing.said.clear()
    yield Steward(page, studio)
    page.close()
    assert [line for line in browsing.said if "status of 4" not in line] == []


@pytest.fixture(scope="module")
def checked(browsing: Browsing) -> Callable[[Any], None]:
    """Hold a page against the rules of axe, of which none may be broken.

    Every day, one page of each template with a form, and the colours, which all share, of one page by day and by night.
    """
    seen = set[tuple[str, bool]]()

    def check(page: Any) -> None:
        template = re.sub(r"\d+", "", page.url), page.evaluate("matchMedia('(prefers-color-scheme: dark)').matches")
        if not cases.THOROUGH and (template in seen or not page.url.endswith(("/columns", "/release", "/publish"))):
            return
        colours = cases.THOROUGH or not any(template[1] == night for _, night in seen)
        seen.add(template)
        assert findings(page, colours=colours) == []

    return check


SEX = cb.values("female", "male")


def assert_wrote(steward: Steward, publish: Any, population: str, **given: Any) -> None:
    """The policy that the studio wrote is the one that Python would make, about the file of that population."""
    root = steward.studio.root
    about = {"person": "person_id", "population": population, "epsilon": 1, **given}
    wanted = cb.Policy(source=str(root / f"{population}.parquet"), publish=publish, **about)
    assert cb.load_policy(root / f"{population}-{wanted.kind}.toml") == wanted


def test_the_first_page_is_small(browsing: Browsing) -> None:
    assert 4 < len(browsing.first_page) <= FIRST_PAGE_REQUESTS
    assert 50_000 < sum(browsing.first_page) <= FIRST_PAGE_BYTES


def test_a_survey_table(steward: Steward, checked: Callable[[Any], None]) -> None:
    page, root = steward.page, steward.studio.root
    steward.begin("table")
    assert page.is_disabled("button:has-text('Next: Columns')")
    assert page.input_value("#person") == "person_id"  # proposed by its name
    assert "Name the people the data are about" in page.inner_text("#why-not")
    checked(page)
    steward.describe(design="coins")
    steward.column(1, "values", values="female\nmale")
    steward.column(2, "width", **{"from": "0", "to": "90", "width": "10"})
    page.click("#column-2 details.more > summary")
    page.check("#c2-f-key-top")
    page.wait_for_selector("#column-2-status:has-text('10 classes')")
    assert page.locator("#column-2 .labels li").first.inner_text() == "0–9"  # a box, since ages are whole numbers
    checked(page)
    steward.onward("Release")
    assert "“Share of people sampled” is missing" in page.inner_text("#why-not")
    assert page.locator("[aria-invalid]").count() == 0  # nothing was typed yet
    page.fill("#s-rate", "0.25")
    page.wait_for_selector("#plan .lead")
    assert "A group of 100 people" in page.inner_text("#plan .lead")
    page.wait_for_selector("#plan :text('with this release')")
    checked(page)
    steward.onward("Rehearse")
    page.fill("#people", "3000")
    page.click("button:has-text('Rehearse')")
    page.wait_for_selector("iframe.report", timeout=WAIT)
    assert "of the made-up people in the sample were suppressed" in steward.texts()
    assert not Path(steward.studio.ledger).exists()
    frame = page.frame_locator("iframe.report")
    assert frame.locator("h1").inner_text() == "Rehearsal on made-up people"
    checked(page)
    steward.onward("Publish")
    assert "can guess whether your data were used" in steward.texts()
    checked(page)
    steward.publish()
    assert page.frame_locator("iframe.report").locator("h1").inner_text()
    checked(page)
    page.click("text=Verify it")
    page.wait_for_selector("text=Verified: the derivation is sound", timeout=WAIT)
    columns = {"sex": SEX, "age": cb.intervals(0, 90, width=10, top=True, whole=True)}
    assert_wrote(steward, cb.Table(), "town", sampling=cb.Coins(0.25), columns=columns, delta=1e-6)
    assert cb.verify(root / "town-table").facts["kind"] == "table"
    assert [entry.status for entry in cb.Ledger(str(steward.studio.ledger)).entries()] == ["finished"]


def test_a_slow_press_is_not_lost_when_the_button_is_drawn_anew(steward: Steward) -> None:
    page = steward.page
    steward.begin("table")
    page.fill("#population", "slow pressers")
    onward = page.locator("#onward a:has-text('Next: Columns')")
    onward.wait_for()
    page.focus("#population")
    page.keyboard.type(" of the town")
    box = onward.bounding_box()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    with page.expect_response(lambda answer: answer.request.method == "POST"):
        page.mouse.down()  # the field is left, which keeps what was typed
    page.wait_for_load_state("networkidle")
    page.mouse.up()
    page.wait_for_selector(".steps .here:has-text('Columns')")


def test_a_running_job_survives_a_reload_and_is_cancelled_cleanly(steward: Steward) -> None:
    page, root = steward.page, steward.studio.root
    number = steward.draft("cancelled")
    steward.go(f"/drafts/{number}/rehearse")
    page.wait_for_load_state("load")
    before = set((root / ".crowdblend-studio" / "jobs").glob("*/*rehearsal*"))
    page.fill("#people", "900000")
    page.click("button:has-text('Rehearse')")
    page.wait_for_selector(".job progress")
    page.reload()
    page.wait_for_selector(".job progress")
    page.click("button:has-text('Cancel')")
    page.wait_for_selector("text=Cancelled.", timeout=WAIT)
    assert set((root / ".crowdblend-studio" / "jobs").glob("*/*rehearsal*")) == before


@pytest.mark.slow  # every day test_pages.py sends the same mistakes; what the script shows of them is seen here
def test_errors_of_every_step(steward: Steward) -> None:
    page = steward.page
    number = steward.begin("table")
    steward.describe(population="errors")
    steward.go(f"/drafts/{number}/release")
    assert "No plan yet" in page.inner_text("#plan")
    steward.go(f"/drafts/{number}/columns")
    assert "Declare the domain of at least one column" in page.inner_text("#why-not")
    page.click("#column-2 > summary")
    page.select_option("#way-2", "width")
    page.wait_for_selector("#c2-f-key-to")
    page.wait_for_selector("#column-2-classes:has-text('Still needed: From, To, Width')")
    page.fill("#c2-f-key-from", "0")
    page.fill("#c2-f-key-width", "30")
    page.fill("#c2-f-key-to", "ten")
    page.wait_for_selector("#column-2 .badge.incomplete")
    page.wait_for_selector("#column-2-classes .refused")
    assert page.is_disabled("button:has-text('Next: Release')")
    page.fill("#c2-f-key-from", "0")
    page.fill("#c2-f-key-to", "90")
    page.fill("#c2-f-key-width", "30")
    steward.onward("Release")
    page.fill("#s-epsilon", "-1")
    page.wait_for_selector("#plan :text('No plan yet')")
    page.wait_for_selector("#s-epsilon[aria-invalid=true] + .wrong:has-text('Privacy loss')")
    assert page.get_attribute("#plan a", "href").endswith("/release#at=privacy%3Aepsilon")
    assert page.is_disabled("button:has-text('Next: Rehearse')")
    page.fill("#s-epsilon", "1")
    steward.onward("Rehearse")
    page.fill("#people", "many")
    page.click("button:has-text('Rehearse')")
    page.wait_for_selector(".refused :text('takes a whole number')")
    steward.go(f"/drafts/{number}/publish")
    page.fill("#confirm", "somebody else")
    assert page.is_disabled("button[data-confirmed]")
    (steward.studio.root / "taken").mkdir()
    page.fill("#out", "taken")
    page.fill("#confirm", "errors")
    page.click("button[data-confirmed]")
    page.wait_for_selector(".refused", timeout=WAIT)
    steward.go(f"/drafts/{number}/result")
    assert page.url.endswith("/publish")


@pytest.mark.slow  # every day test_pages.py sends from a page that is older than the draft; here its refusal is shown
def test_two_tabs_do_not_overwrite_each_other(steward: Steward, browsing: Browsing) -> None:
    page = steward.page
    number = steward.draft("tabs")
    steward.go(f"/drafts/{number}/release")
    other = browsing.context.new_page()
    other.goto(page.url)
    other.fill("#s-epsilon", "0.5")
    other.wait_for_selector("#summary :text('0.5')")
    page.fill("#s-epsilon", "3")
    page.wait_for_selector("#refused :text('changed in another tab')")
    page.reload()
    assert page.input_value("#s-epsilon") == "0.5"
    page.fill("#s-epsilon", "2")
    page.wait_for_selector("#summary bdi:text-is('2')")
    other.close()


def test_pages_elsewhere(steward: Steward, checked: Callable[[Any], None]) -> None:
    page, studio = steward.page, steward.studio
    policy = cb.Policy(
        person="person_id",
        population="elsewhere_and_around" * 3,
        columns={"sex": cb.values("female", "male", other="other")},
        sampling=cb.Poisson(0.5),
        epsilon=1.0,
        delta=1e-6,
        publish=cb.Table(),
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a new ledger, or people of another walk, are worth one
        cb.release(town(500), policy, out=studio.root / "elsewhere-table", ledger=cb.Ledger(studio.ledger))
    steward.go("/ledger")
    assert "elsewhere" in steward.texts()
    checked(page)
    page.set_viewport_size({"width": 400, "height": 900})
    assert page.evaluate("document.documentElement.scrollWidth") <= 400
    page.set_viewport_size(SEEN["viewport"])
    steward.go("/releases")
    checked(page)
    page.click("text=elsewhere-table")
    page.wait_for_selector(".trees details")
    page.click(".trees > details > summary >> nth=0")
    assert "Source:" in page.inner_text(".trees > details >> nth=0")
    checked(page)
    steward.go("/gallery")
    checked(page)
    steward.go("/gallery/attacks/duplicate")
    page.click("button.primary")
    page.wait_for_selector(".chart svg", timeout=WAIT)
    assert "Ours stays within its guarantee" in steward.texts()
    checked(page)


@pytest.mark.slow  # templates and styles change seldom; the other walks look at pages
def test_every_width_and_colour(steward: Steward, checked: Callable[[Any], None]) -> None:
    """Light pages are held against the rules on the other walks."""
    page = steward.page
    page.emulate_media(color_scheme="dark")
    number = steward.draft("widths")
    steward.go("/")
    checked(page)
    for step in ("data", "columns", "release", "publish"):
        steward.go(f"/drafts/{number}/{step}")
        for width in (1600, 360):
            page.set_viewport_size({"width": width, "height": 800})
            assert page.evaluate("document.documentElement.scrollWidth") <= width
        checked(page)
    page.emulate_media(media="print")
    checked(page)


def test_the_keyboard_is_enough_to_begin(steward: Steward) -> None:
    page = steward.page
    steward.go("/")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    page.focus("button.card[value=table]")
    page.keyboard.press("Enter")
    page.wait_for_selector(".files")
    page.focus(".files button[value='town.parquet']")
    page.keyboard.press("Enter")
    page.wait_for_selector("#population")


def test_nothing_of_the_data_was_shown_before_the_release(studio: Running) -> None:
    drafts = (studio.root / ".crowdblend-studio" / "drafts").glob("*.json")
    told = "".join(path.read_text(encoding="utf-8") for path in drafts)
    # Districts are in every row of the data, and nobody typed one.
    assert "Harbour" not in told
    assert Path(studio.root / "town.parquet").is_file()
