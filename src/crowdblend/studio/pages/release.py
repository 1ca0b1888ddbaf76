"""The step *Release*: what is published, how exactly, and under which guarantee; the plan follows every change."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from crowdblend.api.ledger import Ledger
from crowdblend.errors import CrowdblendError
from crowdblend.guarantees.guessing import lead
from crowdblend.policies.starter import designs_of
from crowdblend.studio.drafts import Draft
from crowdblend.studio.forms import Field, field_of, fields_of, listed, prefixed, revision_of
from crowdblend.studio.model.choices import declared_keys, declared_lists, settled, with_design, with_kind
from crowdblend.studio.model.expectations import expectations
from crowdblend.studio.model.sweeps import may_sweep, trade_off_chart
from crowdblend.studio.model.totals import totals
from crowdblend.studio.pages.home import WHAT
from crowdblend.studio.pages.posting import Sent, posting, see
from crowdblend.studio.pictures import draw_chart
from crowdblend.studio.security import at
from crowdblend.studio.studio import Studio
from crowdblend.studio.views import page, step_context, step_page

# The parameters with a slider: section, key, name, ends, and whether the slider runs over powers of ten.
SLIDERS = (
    ("release", "epsilon", "Privacy loss ε", "0.05", "5", False),
    ("release", "delta", "Added probability δ", "-12", "-3", True),
    ("sampling", "rate", "Share of people sampled", "0.01", "0.99", False),
    ("release", "k", "Smallest crowd k", "2", "500", False),
)
HELP = {
    "epsilon": "Smaller protects more and shows less. 1 is usual for one release; below 0.1 protects very strongly.",
    "delta": "A small chance that the loss is larger than ε. 1e-6 is one in a million.",
    "rate": "0.25 is a quarter of the people. A smaller share protects more, and estimates are less exact.",
    "k": "A group with fewer sampled people than this is not shown exactly.",
}
# The fields of a statistic that are always in view.
_MAIN_OF_STATISTICS = ("name", "average", "median", "fraction", "histogram")
PLANNED = ("k", "rate", "epsilon", "delta")
_HIDDEN = {"sampling": ("already_drawn", "everybody"), "data": None, "about": None}


def show(request: Request) -> Response:
    """The page with the plan as it is now."""
    studio: Studio = request.app.state.studio
    draft = studio.drafts.get(request.path_params["draft"])
    plan = _plan(studio, draft)
    given = {**_fields(draft), "plan": plan, "what": WHAT, "unplanned": _unplanned(plan)}
    return step_page(request, draft, "release", "release.html", **given)


def save(request: Request, sent: Sent) -> Response:
    """Keep what was changed, and answer with the plan that follows."""
    studio: Studio = request.app.state.studio

    def changed(draft: Draft) -> Draft:
        choices = draft.choices
        kind, design = sent.get("kind", choices.kind), sent.get("design", choices.design)
        if kind != choices.kind:
            return replace(draft, choices=with_kind(choices, kind))
        if design != choices.design and design in designs_of(kind):
            return replace(draft, choices=with_design(choices, design))
        for section, keys in declared_keys(kind).items():
            texts = prefixed(sent, f"{section}:")
            choices = choices.with_texts(section, {key: text for key, text in texts.items() if key in keys})
        for section, keys in declared_lists(kind).items():
            if any(name.startswith(f"{section}/") for name in sent):
                items = listed(sent, section)
                choices = choices.with_list(
                    section, [{key: text for key, text in item.items() if key in keys} for item in items]
                )
        if sent.get("planned") in PLANNED:
            section = "sampling" if sent["planned"] == "rate" else "release"
            choices = choices.with_texts(section, {sent["planned"]: ""})
        return replace(draft, choices=studio.checked(settled(choices)))

    before = studio.drafts.get(request.path_params["draft"])
    draft = studio.drafts.change(before.id, changed, revision_of(sent))
    if request.headers.get("hx-request") != "true":
        return see(request, f"/drafts/{draft.id}/release")
    # Other fields than before: the page is made again.
    if _shape(before) != _shape(draft) or "again" in sent:
        return Response(status_code=204, headers={"HX-Redirect": f"{at(request)}/drafts/{draft.id}/release"})
    plan = _plan(studio, draft)
    context = step_context(request, draft, "release", _unplanned(plan))
    return page(request, "fragments/plan.html", plan=plan, **context)


def show_totals(request: Request) -> Response:
    """The ledger's total before and after; it may take longer than the plan."""
    studio: Studio = request.app.state.studio
    draft = studio.drafts.get(request.path_params["draft"])
    try:
        found = totals(Ledger(studio.ledger), studio.policy(draft.choices).plan())
    except CrowdblendError as refused:
        return page(request, "fragments/totals.html", totals=None, error=str(refused))
    return page(request, "fragments/totals.html", totals=found, error=None)


def show_chart(request: Request) -> Response:
    """How the parameters trade off against each other, as a chart."""
    studio: Studio = request.app.state.studio
    draft = studio.drafts.get(request.path_params["draft"])
    planned = studio.policy(draft.choices).plan()
    chart = trade_off_chart(planned)
    return page(request, "fragments/chart.html", chart=chart and draw_chart(chart))


def _shape(draft: Draft) -> object:
    """What the fields of the page depend on."""
    choices = draft.choices
    return choices.kind, choices.design, bool(choices.text("sampling", "stratum"))


def _plan(studio: Studio, draft: Draft) -> dict[str, Any]:
    """What follows from the choices, or why nothing does."""
    try:
        planned = studio.policy(draft.choices).plan()
        certificate = planned.certificate()
    except CrowdblendError as refused:
        return {"error": refused.to_dict()}
    parameters, expected = planned.facts()["parameters"], expectations(planned)
    return {
        "error": None,
        "lead": lead(certificate.guarantees),
        "guarantee": (certificate.differential() or certificate.guarantees[0]).words(),
        "solved": {name: parameters[name] for name in PLANNED if isinstance(parameters.get(name), int | float)},
        "planned": parameters.get("solved"),
        "expected": expected,
        "described": [(what, how) for what, how in planned.describe() if how],
        "chart": may_sweep(planned),
        "exact": any(one.off is not None for one in expected),
    }


def _unplanned(plan: dict[str, Any]) -> str | None:
    """Why nothing was planned; None where something was."""
    error = plan["error"]
    return None if error is None else f"{error['message']} {error['remedy'] or ''}".strip()


def _fields(draft: Draft) -> dict[str, Any]:
    """The inputs: sliders for the usual parameters, and every other key of the kind."""
    choices = draft.choices
    keys, lists = declared_keys(choices.kind), declared_lists(choices.kind)
    sliders: list[dict[str, Any]] = []
    shown: dict[str, set[str]] = {}
    for section, name, words, low, high, powers in SLIDERS:
        ruled_out = choices.design == "everybody" and name in ("rate", "k", "delta")
        ruled_out = ruled_out or (name == "rate" and bool(choices.text("sampling", "stratum")))
        if ruled_out:
            shown.setdefault(section, set()).add(name)
        elif name in keys.get(section, {}):
            field = field_of(keys[section][name], f"{section}:{name}", choices.text(section, name))
            sliders.append(
                {
                    "field": field,
                    "key": name,
                    "words": words,
                    "low": low,
                    "high": high,
                    "powers": powers,
                    "help": HELP[name],
                }
            )
            shown.setdefault(section, set()).add(name)
    groups: list[tuple[str, list[Field]]] = []
    for section, declared in keys.items():
        hidden = _HIDDEN.get(section, ())
        if hidden is None or (section == "sampling" and choices.design == "everybody"):
            continue
        if section == "sampling" and choices.design == "draw":
            hidden = (*hidden, "weight")  # the weights of a sample that was taken before
        skip = (*hidden, *shown.get(section, ()))
        fields = fields_of(declared, f"{section}:", choices.sections.get(section, {}), skip)
        if fields:
            groups.append((section, fields))
    repeated = {}
    for section, declared in lists.items():
        items: list[dict[str, str]] = [*choices.lists.get(section, []), {}]
        repeated[section] = [fields_of(declared, f"{section}/{at}/", item) for at, item in enumerate(items)]
    crowd = all(any(slider["key"] == name for slider in sliders) for name in PLANNED)
    blank = [slider["key"] for slider in sliders if not slider["field"].value]
    needed = {section for section, fields in groups if section != "recoding" and any(one.required for one in fields)}
    return {
        "sliders": sliders,
        "may_plan": PLANNED if crowd else (),
        "planned_key": next((name for name in PLANNED if name in blank), None) if crowd else None,
        "groups": groups,
        "needed": needed | ({"recoding"} if _offers(draft) else set()),
        "repeated": repeated,
        "main_keys": _MAIN_OF_STATISTICS,
        "offered": designs_of(choices.kind),
    }


def _offers(draft: Draft) -> bool:
    """Whether some column offers several recodings, so that one is to be chosen."""
    return any(
        one.get("level") == "choose"
        or one.get("levels")
        or _several(one.get("width", ""))
        or _several(one.get("date", ""))
        for one in draft.choices.columns.values()
    )


def _several(text: str) -> bool:
    return len(text.replace(",", " ").split()) > 1


ROUTES = [
    Route("/drafts/{draft}/release", show, methods=["GET"]),
    Route("/drafts/{draft}/release", posting(save), methods=["POST"]),
    Route("/drafts/{draft}/totals", show_totals),
    Route("/drafts/{draft}/chart", show_chart),
]
