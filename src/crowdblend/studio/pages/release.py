"""The step *Release*: what is published, how exactly, and under which guarantee; the plan follows every change."""

from __future__ import annotations

from dataclasses import dataclass, replace

from starlette.responses import Response

from crowdblend.errors import CrowdblendError
from crowdblend.guarantees.guessing import lead
from crowdblend.kinds import plan as plan_policy
from crowdblend.kinds.facts import planned_releases
from crowdblend.ledger import Ledger
from crowdblend.policies.registry import policy_class
from crowdblend.studio.drafts import Draft
from crowdblend.studio.forms import Field, field_of, fields_of, listed, prefixed
from crowdblend.studio.model.choices import with_design, with_kind
from crowdblend.studio.model.expectations import expectations, may_sweep, trade_off_chart
from crowdblend.studio.model.totals import totals
from crowdblend.studio.pages.home import WHAT
from crowdblend.studio.pictures import draw_chart
from crowdblend.studio.studio import Studio
from crowdblend.studio.views import Visit, on_get, on_post


@dataclass(frozen=True)
class Slider:
    """A parameter with a slider; with `powers` the slider runs over powers of ten."""

    section: str
    key: str
    words: str
    low: str
    high: str
    help: str
    powers: bool = False
    field: Field | None = None


SLIDERS = (
    Slider(
        *("privacy", "epsilon", "Privacy loss ε", "0.05", "5"),
        "Smaller protects more and shows less. 1 is usual for one release; below 0.1 protects very strongly.",
    ),
    Slider(
        *("privacy", "delta", "Added probability δ", "-12", "-3"),
        "A small chance that the loss is larger than ε. 1e-6 is one in a million.",
        powers=True,
    ),
    Slider(
        *("sampling", "rate", "Share of people sampled", "0.01", "0.99"),
        "0.25 is a quarter of the people. A smaller share protects more, and estimates are less exact.",
    ),
    Slider(
        *("publish", "k", "Smallest crowd k", "2", "500"),
        "A group with fewer sampled people than this is not shown exactly.",
    ),
)
# The other fields, by section, under these titles.
GROUPS = {
    "sampling": "More about the sample",
    "publish": "More about what is published",
    "recoding": "Choosing the recoding",
    "privacy": "More about the guarantee",
    "release": "Files and engine",
}
_SECTION_OF = {one.key: one.section for one in SLIDERS}
# The fields of a statistic that are always in view.
_MAIN_OF_STATISTICS = ("name", "average", "median", "fraction", "histogram")
PLANNED = ("k", "rate", "epsilon", "delta")


def show(visit: Visit) -> Response:
    """Return the page with the plan as it is now."""
    draft = visit.draft
    plan, unplanned = _plan(visit.studio, draft)
    given = {**_fields(draft), "plan": plan, "what": WHAT}
    return visit.step(draft, "release", "release.html", unplanned, **given)


def save(visit: Visit) -> Response:
    """Keep what was changed, and answer with the plan that follows."""
    sent, before = visit.sent, visit.draft

    def changed(draft: Draft) -> Draft:
        choices = draft.choices
        kind, design = sent.get("kind", choices.kind), sent.get("design", choices.design)
        if kind != choices.kind:
            return replace(draft, choices=with_kind(choices, kind))
        if design != choices.design and design in policy_class(kind).designs:
            return replace(draft, choices=with_design(choices, design))
        for section, keys in choices.declared.items():
            texts = prefixed(sent, f"{section}:")
            choices = choices.with_texts(section, {key: text for key, text in texts.items() if key in keys})
        for section, keys in choices.declared_lists.items():
            if any(name.startswith(f"{section}/") for name in sent):
                items = listed(sent, section)
                choices = choices.with_list(
                    section, [{key: text for key, text in item.items() if key in keys} for item in items]
                )
        if sent.get("planned") in PLANNED:
            choices = choices.with_texts(_SECTION_OF[sent["planned"]], {sent["planned"]: ""})
        return replace(draft, choices=visit.studio.checked(choices))

    draft = visit.change(changed)
    here = f"/drafts/{draft.id}/release"
    if not visit.by_script:
        return visit.see(here)
    # Other fields than before: the page is made again.
    if (before.choices.kind, before.choices.design) != (draft.choices.kind, draft.choices.design) or "again" in sent:
        return visit.load_again(here)
    plan, unplanned = _plan(visit.studio, draft)
    return visit.step(draft, "release", "fragments/plan.html", unplanned, plan=plan)


def show_totals(visit: Visit) -> Response:
    """Return the ledger's total before and after; it may take longer than the plan."""
    studio = visit.studio
    try:
        found = totals(Ledger(studio.ledger), plan_policy(studio.policy(visit.draft.choices)))
    except CrowdblendError as refused:
        return visit.page("fragments/totals.html", totals=None, error=str(refused))
    return visit.page("fragments/totals.html", totals=found, error=None)


def show_chart(visit: Visit) -> Response:
    """Return how the parameters trade off against each other, as a chart."""
    chart = trade_off_chart(plan_policy(visit.studio.policy(visit.draft.choices)))
    return visit.page("fragments/chart.html", chart=chart and draw_chart(chart))


def _plan(studio: Studio, draft: Draft) -> tuple[dict[str, object], str | None]:
    """Return what follows from the choices, and why nothing does."""
    try:
        planned = plan_policy(studio.policy(draft.choices))
        certificate = planned.certificate()
    except CrowdblendError as refused:
        return {"error": refused.to_dict()}, str(refused)
    parameters, expected = planned.summary(), expectations(planned)
    plan = {
        "error": None,
        "lead": lead(certificate.guarantees, planned_releases(certificate)),
        "guarantee": (certificate.differential() or certificate.guarantees[0]).words(),
        "solved": {name: parameters[name] for name in PLANNED if isinstance(parameters.get(name), int | float)},
        "planned": parameters.get("solved"),
        "expected": expected,
        "described": [(what, how) for what, how in planned.describe() if how],
        "chart": may_sweep(planned),
        "exact": any(one.off is not None for one in expected),
    }
    return plan, None


def _fields(draft: Draft) -> dict[str, object]:
    """Return the inputs: sliders for the usual parameters, and every other key of the kind and the design."""
    choices = draft.choices
    keys = choices.declared
    sliders = [
        replace(one, field=field_of(keys[one.section][one.key], f"{one.section}:{one.key}", text))
        for one in SLIDERS
        if one.key in keys.get(one.section, {})
        for text in [choices.text(one.section, one.key)]
    ]
    groups = {
        section: fields_of(keys[section], f"{section}:", choices.sections.get(section, {}), _slid(section))
        for section in GROUPS
        if section in keys
    }
    repeated = {}
    for section, declared in choices.declared_lists.items():
        items = [*choices.lists.get(section, []), {}]
        repeated[section] = [fields_of(declared, f"{section}/{at}/", item) for at, item in enumerate(items)]
    crowd = {one.key for one in sliders} >= set(PLANNED)
    may_plan = [name for name in PLANNED if crowd and not keys[_SECTION_OF[name]][name].required]
    needed = {section for section, fields in groups.items() if any(one.required for one in fields)}
    if "rate" not in keys.get("sampling", {}):
        needed.add("sampling")  # nothing above says how people are drawn
    return {
        "sliders": sliders,
        "may_plan": may_plan,
        "planned_key": next((key for key in may_plan if not choices.text(_SECTION_OF[key], key)), None),
        "groups": {section: fields for section, fields in groups.items() if fields},
        "titles": GROUPS,
        "needed": (needed - {"recoding"}) | ({"recoding"} if _offers(draft) else set()),
        "repeated": repeated,
        "main_keys": _MAIN_OF_STATISTICS,
        "offered": policy_class(choices.kind).designs,
    }


def _slid(section: str) -> tuple[str, ...]:
    """Return the keys of a section that have a slider."""
    return tuple(one.key for one in SLIDERS if one.section == section)


def _offers(draft: Draft) -> bool:
    """Return whether some column offers several recodings, so that one is to be chosen."""
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
    on_get("/drafts/{draft}/release", show),
    on_post("/drafts/{draft}/release", save),
    on_get("/drafts/{draft}/totals", show_totals),
    on_get("/drafts/{draft}/chart", show_chart),
]
