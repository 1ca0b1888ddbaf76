"""Templates, and what every page has: the menu, the steps with what is missing, and the summary of choices so far."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import ROUND_CEILING, Context
from itertools import pairwise
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined, select_autoescape
from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from crowdblend.errors import CrowdblendError, Unavailable
from crowdblend.reports.html import Html, inline_svg, shorten
from crowdblend.studio.drafts import Draft
from crowdblend.studio.forms import DESIGN_NAMES, KIND_NAMES
from crowdblend.studio.model import readiness
from crowdblend.studio.security import at
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
    made.filters["picture"] = lambda drawn, words: Markup(inline_svg(drawn, words))
    made.filters["up"] = bound_text
    made.filters["paper_name"] = paper_name
    made.globals.update(version=__version__, steps=STEPS, kind_names=KIND_NAMES, designs=DESIGN_NAMES)
    return made


def bound_text(value: float) -> str:
    """A bound in three digits, rounded up: what is shown is never smaller than what was proved.

    >>> bound_text(8.41382e-07), bound_text(1.05854), bound_text(2.0), bound_text(0.0)
    ('8.42e-7', '1.06', '2', '0')
    """
    text = f"{float(Context(prec=3, rounding=ROUND_CEILING).create_decimal(repr(value))):.3g}"
    return re.sub(r"e([+-])0*", lambda found: "e-" if found[1] == "-" else "e", text)


def paper_name(name: str) -> str:
    """A table or figure by its paper and number.

    >>> paper_name("lqs-table1"), paper_name("zkp-politics")
    ('LQS, table 1', 'ZKP, politics')
    """
    paper, _, what = name.partition("-")
    return f"{paper.upper()}, " + re.sub(r"([0-9]+)$", r" \1", what)


_TEMPLATES = environment()


def html(made: Html) -> Markup:
    """What the reports' own escaping made, for a template."""
    return Markup(made)


def page(request: Request, template: str, status: int = 200, **given: Any) -> Response:
    """A whole page."""
    studio: Studio = request.app.state.studio
    below = at(request)
    told = {"at": below, "path": request.url.path.removeprefix(below), "read_only": studio.read_only}
    told |= {"root_name": studio.root.folder.name or "/", **given}
    return HTMLResponse(
        _TEMPLATES.get_template(template).render(told),
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
    previous = order[order.index(step) - 1] if step != order[0] else None
    finished = published(studio, draft)
    why = None if following is None else lacks.before(following)
    if following == "result" and why is None and not finished:
        why = "Nothing was published from this draft yet."
    return {
        "draft": draft,
        "choices": draft.choices,
        "step": step,
        "following": following,
        "previous": previous,
        "done": {
            **{name: lacks.before(after) is None for name, after in pairwise(order[:4])},
            "rehearse": "rehearse" in draft.jobs,
            "publish": finished,
            "result": finished,
        },
        "why_not": why,
        "reachable": {name: lacks.before(name) is None for name in order[:-1]} | {"result": finished},
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
        ("data", "they are", DESIGN_NAMES[choices.design] if data.get("source") else ""),
        ("data", "person column", who),
        ("data", "population", data.get("population", "")),
        ("columns", "published columns", ", ".join(choices.used)),
        ("release", "kind", KIND_NAMES[choices.kind]),
    ]
    for section, name, words in (
        ("release", "epsilon", "privacy loss ε"),
        ("release", "delta", "added probability δ"),
        ("sampling", "rate", "share of people sampled"),
        ("sampling", "stratum", "strata"),
        ("sampling", "weight", "design weight"),
        ("sampling", "sample", "sampled people"),
        ("release", "k", "smallest crowd k"),
    ):
        given.append(("release", words, choices.text(section, name)))
    return [(step, name, text) for step, name, text in given if text]
