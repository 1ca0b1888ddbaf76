"""Templates, and what every page has: the menu, the steps with what is missing, and the summary of choices so far."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined, select_autoescape
from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from crowdblend.errors import CrowdblendError, Unavailable
from crowdblend.front_door import readiness
from crowdblend.guarantees.wording import at_most
from crowdblend.planning.designs import DESIGNS
from crowdblend.reports.html import Html, shorten
from crowdblend.studio.drafts import Draft
from crowdblend.studio.forms import KIND_NAMES
from crowdblend.studio.studio import Studio
from crowdblend.version import __version__

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
    """The templates: everything is escaped, and a misspelt name is an error."""
    made = Environment(
        loader=FileSystemLoader(HERE / "templates"),
        autoescape=select_autoescape(default=True, default_for_string=True),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters["told"] = lambda text, longest=80: shorten(str(text), longest)
    made.filters["spec"] = json.dumps
    made.filters["up"] = at_most
    made.globals.update(version=__version__, steps=STEPS, kind_names=KIND_NAMES, designs=DESIGNS)
    return made


_TEMPLATES = environment()


def html(made: Html) -> Markup:
    """What the reports' own escaping made, for a template."""
    return Markup(made)


def page(request: Request, template: str, status: int = 200, **given: Any) -> Response:
    """A whole page."""
    studio: Studio = request.app.state.studio
    return HTMLResponse(
        _TEMPLATES.get_template(template).render(
            path=request.url.path, read_only=studio.read_only, root_name=studio.root.folder.name or "/", **given
        ),
        status_code=status,
    )


def error_page(request: Request, refused: CrowdblendError) -> Response:
    """What was refused, as a fragment for a page that is open, or as a page of its own."""
    status = 503 if isinstance(refused, Unavailable) else 404 if refused.code.startswith("studio.no-") else 409
    if request.headers.get("hx-request") == "true":
        answer = page(request, "fragments/refused.html", 200, error=refused.to_dict())
        # The page stays as it is; only the sentence is put in its place.
        answer.headers["HX-Reswap"] = "none"
        return answer
    return page(request, "refused.html", status, error=refused.to_dict())


@dataclass(frozen=True)
class Missing:
    """For every step, why the next one cannot be taken; None where it can."""

    data: str | None
    columns: str | None
    release: str | None

    def before(self, step: str) -> str | None:
        """Why a step cannot be taken yet."""
        order = list(STEPS)
        for earlier in order[: order.index(step)]:
            if (sentence := getattr(self, earlier, None)) is not None:
                return str(sentence)
        return None


def missing(draft: Draft, folder: Path, unplanned: str | None = NOT_TRIED) -> Missing:
    """What every step still lacks; `unplanned` is why nothing can be planned, where that is known already."""
    choices = draft.choices
    data = readiness.missing_in_data(choices, draft.names)
    columns = readiness.missing_in_columns(choices, folder)
    if unplanned == NOT_TRIED:
        unplanned = None if data or columns else readiness.missing_in_release(choices, folder)
    return Missing(data, columns, unplanned)


def step_page(
    request: Request, draft: Draft, step: str, template: str, *, unplanned: str | None = NOT_TRIED, **given: Any
) -> Response:
    """The page of a step, with the steps, the summary and the way on."""
    return page(request, template, **step_context(request, draft, step, unplanned), **given)


def step_context(request: Request, draft: Draft, step: str, unplanned: str | None = NOT_TRIED) -> Mapping[str, Any]:
    """What the templates of every step take."""
    studio: Studio = request.app.state.studio
    lacks = missing(draft, studio.root.folder, unplanned)
    order = list(STEPS)
    following = order[order.index(step) + 1] if step != order[-1] else None
    why = None if following is None else lacks.before(following)
    if following == "result" and why is None and not published(studio, draft):
        why = "Nothing was published from this draft yet."
    return {
        "draft": draft,
        "choices": draft.choices,
        "step": step,
        "following": following,
        "why_not": why,
        "reachable": {name: lacks.before(name) is None for name in order[:-1]} | {"result": published(studio, draft)},
        "summary": summary(draft),
    }


def published(studio: Studio, draft: Draft) -> bool:
    """Whether a release of the draft was finished."""
    if "publish" not in draft.jobs:
        return False
    try:
        return studio.jobs.get(draft.jobs["publish"]).state == "done"
    except CrowdblendError:
        return False


def summary(draft: Draft) -> list[tuple[str, str, str]]:
    """The choices so far: the step they were made in, what was chosen, and what it is."""
    choices = draft.choices
    data = choices.sections.get("data", {})
    who = data.get("person") or ("every row is another person" if data.get("rows_are_people") == "true" else "")
    given = [
        ("data", "data", data.get("source", "")),
        ("data", "they are", DESIGNS[choices.design].split(";")[0].split(":")[0] if data.get("source") else ""),
        ("data", "told apart by", who),
        ("data", "population", data.get("population", "")),
        ("columns", "columns", ", ".join(choices.used)),
        ("release", "kind", KIND_NAMES[choices.kind]),
    ]
    for section, name, words in (
        ("release", "epsilon", "ε"),
        ("release", "delta", "δ"),
        ("sampling", "rate", "rate"),
        ("sampling", "sample", "sample"),
        ("release", "k", "k"),
    ):
        given.append(("release", words, choices.text(section, name)))
    return [(step, name, text) for step, name, text in given if text]
