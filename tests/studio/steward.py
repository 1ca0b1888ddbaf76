"""What a steward does in the browser, step by step, in the words of the pages."""

from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from playwright.sync_api import TimeoutError as TookTooLong

from tests.studio.running import Running

WAIT = 60_000
# How pages are seen: nothing moves while a job runs, since drawing that takes most of the time.
SEEN: dict[str, Any] = {"viewport": {"width": 1280, "height": 900}, "reduced_motion": "reduce"}


class Steward:
    """Somebody with the studio open in a tab."""

    def __init__(self, page: Any, studio: Running) -> None:
        self.page, self.studio = page, studio
        # A busy machine takes its time; waiting costs nothing.
        page.set_default_timeout(WAIT)

    def go(self, path: str) -> None:
        """Open an address of the studio."""
        self.page.goto(self.studio.origin + path)

    def begin(self, kind: str, source: str = "town.parquet") -> str:
        """Begin a draft of a kind about a file; its number."""
        self.go("/")
        self.page.click(f"button.card[value={kind}]")
        self.page.click(f".files button[value='{source}']")
        self.page.wait_for_selector("#population")
        self.page.wait_for_load_state("load")  # scripts listen from here on
        return str(self.page.url).split("/drafts/")[1].split("/")[0]

    def draft(self, population: str, source: str = "town.parquet") -> str:
        """A table whose data and first column are settled, sent as the pages would send it; its number."""
        headers = {
            "sec-fetch-site": "same-origin",
            "origin": self.studio.origin.rpartition("/")[0],
            "hx-request": "true",
        }

        def send(path: str, form: dict[str, str]) -> Any:
            return self.page.context.request.post(self.studio.origin + path, form=form, headers=headers)

        number = send("/drafts", {"kind": "table"}).url.split("/drafts/")[1].split("/")[0]
        send(f"/drafts/{number}/source", {"source": source})
        send(f"/drafts/{number}/data", {"data:person": "person_id", "data:population": population})
        kept = send(f"/drafts/{number}/columns", {"place": "1", "way": "values", "key:values": "female\nmale"})
        assert kept.ok
        return str(number)

    def describe(
        self, *, person: str | None = "person_id", population: str = "town", design: str | None = None
    ) -> None:
        """Say who is protected, whose data they are, and what the table is."""
        chosen = f"input[name=design][value={design}]"
        if design is not None and not self.page.is_checked(chosen):
            # Another design has other fields: the page is loaded again, and what is typed before is not on it.
            with self.page.expect_navigation(timeout=WAIT):
                self.page.check(chosen)
        if person is not None:
            self.page.select_option("#person", person)
        self.page.fill("#population", population)
        self.onward("Columns")

    def more(self, texts: Mapping[str, str]) -> None:
        """Fill in further fields by their names, and wait until they are kept."""
        for name, text in texts.items():
            field = self.page.locator(f"[name='{name}']:not([type=hidden])")
            field.evaluate(
                "one => { for (let at = one; at; at = at.parentElement) if (at.tagName === 'DETAILS') at.open = true }"
            )
            with self.page.expect_response(lambda answer: answer.request.method == "POST"):
                if field.evaluate("one => one.tagName") == "SELECT":
                    field.select_option(text)
                else:
                    field.fill(text)
                    field.blur()
            self.page.wait_for_load_state("networkidle")

    def column(self, place: int, way: str, **texts: str) -> None:
        """Declare the domain of a column, until it is ready."""
        column = self.page.locator(f"#column-{place}")
        if not column.evaluate("one => one.open"):
            column.locator("summary").first.click()
        self.page.select_option(f"#way-{place}", way)
        self.page.wait_for_selector(f"#c{place}-f-key-{next(iter(texts))}")
        for name, text in texts.items():
            self.page.fill(f"#c{place}-f-key-{name}", text)
        self.page.wait_for_selector(f"#column-{place} .badge.ready", timeout=WAIT)

    def onward(self, step: str) -> None:
        """Take the next step, once it can be taken."""
        for _ in range(5):
            self.page.click(f"a.button:has-text('Next: {step}')", timeout=WAIT)
            # An answer that arrives between pressing and releasing puts a new button there: then it is pressed again.
            with suppress(TookTooLong):
                self.page.wait_for_selector(f".steps .here:has-text('{step}')", timeout=8_000)
                break
        self.page.wait_for_load_state("load")

    def publish(self, population: str = "town") -> None:
        """Type the name, publish, and look at the result."""
        self.page.fill("#confirm", population)
        self.page.click("button[data-confirmed]")
        self.page.click("text=See the result", timeout=WAIT)
        self.page.wait_for_selector("iframe.report")

    def texts(self) -> str:
        """All that the page says."""
        return str(self.page.inner_text("body"))
