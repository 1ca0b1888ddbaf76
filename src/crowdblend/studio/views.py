"""Visits to pages: what is asked, the templates, and what every step has: what is missing, the summary, the way on."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import pairwise
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Route

from crowdblend.errors import CrowdblendError, Unavailable
from crowdblend.policies.sampling import DESIGNS
from crowdblend.reading.reports.text import inline_svg, shorten, without_controls
from crowdblend.studio.drafts import Draft
from crowdblend.studio.forms import ENCODINGS, KIND_NAMES, form_of, revision_of
from crowdblend.studio.jobs import Job
from crowdblend.studio.model import readiness
from crowdblend.studio.model.typed_values import typed_text
from crowdblend.studio.model.wording import in_words, place_of, settings_in_words
from crowdblend.studio.security import at
from crowdblend.studio.studio import Studio
from crowdblend.trusted.guarantees.wording import fact, round_up
from crowdblend.trusted.machine.version import __version__

HERE = Path(__file__).parent
NOT_TRIED = "not tried"
STEPS = {
    "data": "Data",
    "columns": "Columns",
    "release": "Release",
    "rehearse": "Rehearse",
    "publish": "Publish",
    "result": "Result",
}


def environment() -> Environment:
    """Return the templates: all that they print is escaped, and a misspelt name is an error."""
    made = Environment(
        loader=FileSystemLoader(HERE / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        finalize=without_controls,
    )
    made.filters |= {"fact": fact, "shorten": shorten, "picture": inline_svg, "up": round_up, "words": in_words}
    made.filters |= {"typed": partial(typed_text, "text"), "line": lambda text: typed_text("texts", [text])}
    made.filters |= {"settings": settings_in_words, "place": place_of}
    made.globals.update(version=__version__, steps=STEPS, kind_names=KIND_NAMES, designs=DESIGNS, encodings=ENCODINGS)
    return made


_TEMPLATES = environment()


@dataclass(frozen=True)
class Visit:
    """A request to a page of a studio, with what its form sent."""

    request: Request
    sent: Mapping[str, str] = field(default_factory=dict)

    @property
    def studio(self) -> Studio:
        """The studio that is asked."""
        studio: Studio = self.request.app.state.studio
        return studio

    @property
    def draft(self) -> Draft:
        """The draft that the address names."""
        return self.studio.drafts.get(self.request.path_params["draft"])

    @property
    def by_script(self) -> bool:
        """True if a page that is open asks for a part of itself."""
        return bool(self.request.headers.get("hx-request") == "true")

    @property
    def job(self) -> Job | None:
        """The job that the query names."""
        number = self.request.query_params.get("job")
        return self.studio.jobs.get(number) if number else None

    def change(self, how: Callable[[Draft], Draft]) -> Draft:
        """Change the draft that the address names, unless another tab changed it since the form was made."""
        return self.studio.drafts.change(self.request.path_params["draft"], how, revision_of(self.sent))

    def start(self, step: str, action: str, arguments: Mapping[str, object], page: str = "") -> Response:
        """Start a job of a step of the draft, and go on to the page of the step."""
        job = self.studio.jobs.start(action, arguments)
        draft = self.change(lambda one: replace(one, jobs={**one.jobs, step: job}))
        return self.see(f"/drafts/{draft.id}/{page or step}")

    def see(self, path: str) -> Response:
        """Go on to another page of the studio; a form that was sent is not sent again by a reload."""
        return RedirectResponse(at(self.request) + path, status_code=303)

    def load_again(self, path: str) -> Response:
        """Tell the page that is open to load another one in its place."""
        return Response(status_code=204, headers={"HX-Redirect": at(self.request) + path})

    def page(self, template: str, status: int = 200, /, **value: object) -> Response:
        """Return a page, or a part of one."""
        below, studio = at(self.request), self.studio
        context = {"at": below, "path": self.request.url.path.removeprefix(below), "read_only": studio.read_only}
        context |= {"root_name": studio.root.folder.name or "/", **value}
        return HTMLResponse(_TEMPLATES.get_template(template).render(context), status_code=status)

    def error_page(self, error: CrowdblendError) -> Response:
        """Return what was refused, as a fragment for a page that is open, or as a page of its own."""
        if self.by_script:
            answer = self.page("fragments/refused.html", error=error.in_notation(None).to_dict())
            # The page stays as it is; only the sentence is put in its place.
            answer.headers["HX-Reswap"] = "none"
            return answer
        status = 503 if isinstance(error, Unavailable) else 404 if error.code.startswith("studio.no-") else 409
        return self.page("refused.html", status, error=error.in_notation(None).to_dict())

    def step(
        self, draft: Draft, step: str, template: str, missing: str | None = NOT_TRIED, /, **value: object
    ) -> Response:
        """Return the page of a step or a part of it, with the steps, the summary and the way on.

        `missing` is why nothing can be planned, where that is known already.
        """
        lacks = _missing(draft, self.studio.root.folder, missing)
        order, here = list(STEPS), list(STEPS).index(step)
        blocked = {name: next(filter(None, lacks[:place]), None) for place, name in enumerate(order)}
        published = self.studio.published(draft)
        following = order[here + 1] if step != order[-1] else None
        why = None if following is None else blocked[following]
        if following == "result" and why is None and not published:
            why = "Nothing was published from this draft yet."
        done = {name: blocked[after] is None for name, after in pairwise(order[:4])}
        context: dict[str, object] = {
            "draft": draft,
            "choices": draft.choices,
            "step": step,
            "following": following,
            "previous": order[here - 1] if here else None,
            "done": {**done, "rehearse": "rehearse" in draft.jobs, "publish": published, "result": published},
            "why_not": why,
            "reachable": {name: blocked[name] is None for name in order[:-1]} | {"result": published},
            "summary": summary(draft),
        }
        return self.page(template, **context, **value)


Handler = Callable[[Visit], Response]


def on_get(path: str, handle: Handler) -> Route:
    """Return the route of a page."""
    return Route(path, lambda request: handle(Visit(request)), methods=["GET"])


def on_post(path: str, handle: Handler, *, when_read_only: bool = False) -> Route:
    """Return the route of a form, which is handled outside the event loop.

    It is refused where the studio is for looking only, unless nothing of the steward's changes.
    """

    async def endpoint(request: Request) -> Response:
        if not when_read_only:
            Visit(request).studio.refuse_when_read_only()
        return await run_in_threadpool(handle, Visit(request, await form_of(request)))

    return Route(path, endpoint, methods=["POST"])


def _missing(draft: Draft, folder: Path, missing: str | None) -> tuple[str | None, ...]:
    """Return what each of the first three steps still lacks; None where it lacks nothing."""
    data = readiness.missing_in_data(draft.choices, draft.names)
    columns = readiness.missing_in_columns(draft.choices, folder)
    if missing == NOT_TRIED:
        missing = None if data or columns else readiness.missing_in_release(draft.choices, folder)
    return data, columns, missing


def summary(draft: Draft) -> list[tuple[str, str, str]]:
    """Return the choices so far: the step they were made in, what was chosen, and what it is."""
    choices = draft.choices
    data = choices.sections.get("data", {})
    who = data.get("person") or ("every row is another person" if data.get("rows_are_people") == "true" else "")
    given = [
        ("data", "data", data.get("source", "")),
        ("data", "they are", DESIGNS[choices.design].words if choices.design and data.get("source") else ""),
        ("data", "person column", who),
        ("data", "population", data.get("population", "")),
        ("columns", "published columns", ", ".join(choices.used_columns)),
        *(("release", one.name or "kind", KIND_NAMES[one.kind].partition(":")[0]) for one in choices.publish),
    ]
    for section, name, words in (
        ("privacy", "epsilon", "privacy loss ε"),
        ("privacy", "delta", "added probability δ"),
        ("sampling", "rate", "share of people sampled"),
        ("sampling", "column", "column of the design"),
        ("sampling", "people", "sampled people"),
    ):
        given.append(("release", words, choices.text(section, name)))
    return [(step, name, text) for step, name, text in given if text]
