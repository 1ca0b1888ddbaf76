"""The step *Release*: what is published, how exactly, and under which guarantee; the plan follows every change."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from starlette.responses import Response

from crowdblend.errors import CrowdblendError, InvalidInput
from crowdblend.kinds import plan as plan_policy
from crowdblend.kinds.programme.expected_errors import SMALL, group_expectations
from crowdblend.kinds.programme.plan import compare_splits, plan_splits
from crowdblend.kinds.shared.facts import planned_releases
from crowdblend.ledger import Ledger
from crowdblend.policies.policy import SPLITS
from crowdblend.policies.registry import KINDS, publication_class
from crowdblend.studio.drafts import Draft
from crowdblend.studio.forms import WHAT, Field, fields_of, numbered_sections, prefixed_fields
from crowdblend.studio.model.choices import PUBLISH, Choices, with_another, with_kind, without
from crowdblend.studio.studio import Studio
from crowdblend.studio.views import Visit, on_get, on_post
from crowdblend.trusted.guarantees.guessing import lead
from crowdblend.trusted.guarantees.wording import three_digits
from crowdblend.trusted.machine.lazy import lazy_imports

with lazy_imports():
    from crowdblend.publishing import pending


@dataclass(frozen=True)
class Slider:
    """A parameter with a slider, by the name of its field; with `powers` the slider runs over powers of ten."""

    name: str
    low: str
    high: str
    help: str
    powers: bool = False
    field: Field | None = None


SLIDERS = (
    Slider(
        *("privacy:epsilon", "0.05", "5"),
        "Smaller protects more and shows less. 1 is usual for one release; below 0.1 protects very strongly.",
    ),
    Slider(
        *("privacy:delta", "-12", "-3"),
        "What one person may add to any probability, beyond ε. 1e-6 is one in a million.",
        powers=True,
    ),
    Slider(
        *("sampling:rate", "0.01", "0.99"),
        "0.25 is a quarter of the people. A smaller share protects more, and estimates are less exact.",
    ),
    Slider(*(f"{PUBLISH}/0/k", "2", "500"), "A group with fewer sampled people than this is not shown exactly."),
)
# The other fields, by section, under these titles.
GROUPS = {
    "sampling": "More about the sample",
    "recoding": "Choosing the recoding",
    "privacy": "More about the guarantee",
    "release": "Files and engine",
}
# Of these one may be left out by a policy with one publication, and is computed from the others.
PLANNED = {"k": f"{PUBLISH}/0/k", "rate": "sampling:rate", "epsilon": "privacy:epsilon", "delta": "privacy:delta"}
PLANNED_WORDS = {"k": "smallest crowd k", "rate": "share sampled", "epsilon": "loss ε", "delta": "δ"}
# The fields of a publication, and of a statistic, that are always in view.
_MAIN = ("name", "columns", "share", "weight", "k")
_MAIN_OF_STATISTICS = ("name", "average", "median", "fraction", "histogram")
# Columns of the plan's table of publications: the heading, and what it means.
_BESIDE = {
    "share": ("share", "its share of the sample"),
    "k": ("k", "its smallest crowd k"),
    "noise_epsilon": ("noise ε", "the ε of its noise"),
    "cells": ("cells as readers see them", "a small cell that is mostly shown, and a large one, with the 95 % error"),
    f"shown_of_{SMALL}": (f"{SMALL} shown", f"the chance that a cell of {SMALL} is shown"),
}


def show(visit: Visit) -> Response:
    """Return the page with the plan as it is now."""
    draft = visit.draft
    plan, unplanned = plan_of(visit.studio, draft)
    problem = (plan["error"] or {}).get("where") or ""
    given = {**_fields(draft.choices, problem), "plan": plan, "what": WHAT}
    return visit.step(draft, "release", "release.html", unplanned, **given)


def save(visit: Visit) -> Response:
    """Keep what was changed, and answer with the plan that follows."""
    sent, before = visit.sent, visit.draft
    draft = visit.change(
        lambda one: replace(one, choices=visit.studio.check_choices(_change_choices(one.choices, sent)))
    )
    here = f"/drafts/{draft.id}/release"
    if not visit.by_script:
        return visit.see(here)
    # Other fields than before: the page is made again.
    if [one.kind for one in before.choices.publish] != [one.kind for one in draft.choices.publish] or "again" in sent:
        return visit.load_again(here)
    plan, unplanned = plan_of(visit.studio, draft)
    return visit.step(draft, "release", "fragments/plan.html", unplanned, plan=plan)


def _change_choices(choices: Choices, form: Mapping[str, str]) -> Choices:
    """Return the choices with what a form sent; another kind, and a publication more or less, change the fields."""
    if form.get("planned") in PLANNED:
        form = {**form, PLANNED[form["planned"]]: ""}
    for section in GROUPS:
        keys, texts = choices.declared_by_section.get(section, {}), prefixed_fields(form, f"{section}:")
        choices = choices.with_texts(section, {key: text for key, text in texts.items() if key in keys})
    if form.get("split", choices.split) in ("", *SPLITS) and choices.several:
        choices = replace(choices, split=form.get("split", choices.split))
    kinds = [one.kind for one in choices.publish]
    for place, item in numbered_sections(form, PUBLISH).items():
        if place < len(kinds):
            inside = {
                section: list(numbered_sections(item, section).values()) for section in choices.declared_lists(place)
            }
            choices = choices.with_publication(place, item, {name: items for name, items in inside.items() if items})
            kinds[place] = item.get("kind", kinds[place])
    for place, kind in enumerate(kinds):
        choices = choices if kind == choices.publish[place].kind else with_kind(choices, kind, place)
    if form.get("remove", "").isdigit() and int(form["remove"]) < len(kinds):
        return without(choices, int(form["remove"]))
    return with_another(choices, form["add"]) if form.get("add") in _addable(choices) else choices


def _addable(choices: Choices) -> list[str]:
    """Return the kinds of which a publication can stand beside those that are there."""
    joining = [kind for kind in KINDS if publication_class(kind).joins_others]
    return joining if choices.publish[0].kind in joining else []


def show_totals(visit: Visit) -> Response:
    """Return the ledger's total before and after; it may take longer than the plan."""
    try:
        found = _totals(visit.studio, visit.draft.choices)
    except CrowdblendError as refused:
        return visit.page("fragments/totals.html", totals=None, error=str(refused.in_notation(None)))
    return visit.page("fragments/totals.html", totals=found, error=None)


def _totals(studio: Studio, choices: Choices) -> dict[str, object]:
    """Return what releases about the population add up to, so far and with this one; None where no theorem adds up."""
    spending = pending.planned_spending(plan_policy(studio.policy(choices)))
    found: dict[str, object] = {"population": spending.population, "releases": 0, "by_profile": None}
    try:
        accounts = Ledger(studio.ledger).accounts()
    except InvalidInput as refused:
        if refused.code != "ledger.missing":
            raise
        # The first release makes it.
        return {**found, "before": None, "after": spending.loss}
    releases = sum(group.count for group in accounts.about(spending.population))
    if releases:
        found["by_profile"] = accounts.total(spending.population, coming=spending).tighter
    sums = (accounts.budget(spending.population, more).differential for more in (None, spending))
    return {**found, "releases": releases, **dict(zip(("before", "after"), sums, strict=True))}


def show_splits(visit: Visit) -> Response:
    """Return what each way to share the budget would give; it takes longer than the plan of one."""
    tried = plan_splits(visit.studio.policy(visit.draft.choices))
    gives = {
        split: f"Not here: {one.message}" if isinstance(one, CrowdblendError) else f"It {compare_splits(one)}."
        for split, one in tried.items()
    }
    return visit.page("fragments/splits.html", gives=gives)


def plan_of(studio: Studio, draft: Draft) -> tuple[dict[str, Any], str | None]:
    """Return the plan of a draft's choices, and the refusal if there is none."""
    try:
        planned = plan_policy(studio.policy(draft.choices))
        certificate = planned.certificate()
    except CrowdblendError as refused:
        return {"error": refused.in_notation(None).to_dict()}, str(refused.in_notation(None))
    parameters, expected = planned.summary(), group_expectations(planned.facts())
    plan = {
        "error": None,
        "lead": lead(certificate.guarantees, planned_releases(certificate)),
        "guarantee": (certificate.differential() or certificate.guarantees[0]).words(),
        "solved": {name: parameters[name] for name in PLANNED if isinstance(parameters.get(name), int | float)},
        "planned": parameters.get("solved"),
        "names": PLANNED_WORDS,
        "split": parameters.get("split"),
        "publications": None,
        **(_side_by_side(parameters["publications"], draft.choices) if draft.choices.several else {}),
        "expected": expected,
        "noun": planned.counted,
        "described": [(what, how) for what, how in planned.describe() if how],
        "exact": any(one.off is not None for one in expected),
    }
    return plan, None


def _side_by_side(plans: Mapping[str, Mapping[str, Any]], choices: Choices) -> dict[str, object]:
    """Return every publication of a plan with its share, k, noise and expected errors, as far as some has them."""
    keys = [key for key in _BESIDE if any(key in one for one in plans.values())]
    rows = [(one.name, one.kind, [_short(key, plans[one.name].get(key)) for key in keys]) for one in choices.publish]
    meaning = f"For every publication {'; '.join(_BESIDE[key][1] for key in keys)}."
    return {"publications": rows, "headings": [_BESIDE[key][0] for key in keys], "meaning": meaning}


def _short(key: str, value: Any) -> str:
    if value is None:
        return "–"
    if key == "cells":
        return ", ".join(f"{one['size']:,} ± {one['error']:,}" for one in value)
    if key.startswith("shown_of"):
        return f"{100 * value:.3g} %" if value >= 0.001 else "< 0.1 %"
    return three_digits(value)


def _fields(choices: Choices, problem: str) -> dict[str, object]:
    """Return the inputs: sliders for the usual parameters, and every other key of the kinds and the design.

    `problem` is the place that keeps the plan from being made, if any: it is in view.
    """
    keys = choices.declared_by_section
    groups = {
        section: fields_of(keys[section], f"{section}:", choices.sections.get(section, {}))
        for section in GROUPS
        if section in keys
    }
    forms = [_publication_form(choices, place) for place in range(len(choices.publish))]
    fields = {one.name: one for section in groups.values() for one in section}
    if not choices.several:
        fields |= {one.name: one for one in forms[0]["main"]}
    sliders = [replace(one, field=fields[one.name]) for one in SLIDERS if one.name in fields]
    slid = {one.name for one in sliders}
    crowd = slid >= set(PLANNED.values())
    may_plan = [key for key, name in PLANNED.items() if crowd and not fields[name].required]
    needed = {section for section, fields in groups.items() if any(one.required for one in fields)} - {"recoding"}
    if "rate" not in keys.get("sampling", {}):
        needed.add("sampling")  # nothing above says how people are drawn
    needed |= {section for section in groups if problem.startswith((f"`{section}.", f"`{section}`"))}
    return {
        "sliders": sliders,
        "may_plan": may_plan,
        "planned_key": next((key for key in may_plan if not fields[PLANNED[key]].value), None),
        "groups": {
            section: left for section, each in groups.items() if (left := [one for one in each if one.name not in slid])
        },
        "slid": slid,
        "titles": GROUPS,
        "needed": needed,
        "forms": forms,
        "main_keys": _MAIN_OF_STATISTICS,
        "splits": SPLITS,
        "kinds": KINDS,
        "addable": _addable(choices),
    }


def _publication_form(choices: Choices, place: int) -> dict[str, Any]:
    """Return the inputs of one publication: those in view, the others, and the sections inside it."""
    one, prefix = choices.publish[place], f"{PUBLISH}/{place}/"
    fields = fields_of(choices.declared_keys(place), prefix, one.texts)
    main = [field for field in fields if field.required or field.key in _MAIN]
    lists = {
        section: [
            fields_of(keys, f"{prefix}{section}/{at}/", item)
            for at, item in enumerate([*one.lists.get(section, []), {}])
        ]
        for section, keys in choices.declared_lists(place).items()
    }
    more = [field for field in fields if field not in main]
    return {"place": place, "kind": one.kind, "name": one.name, "main": main, "more": more, "lists": lists}


ROUTES = [
    on_get("/drafts/{draft}/release", show),
    on_post("/drafts/{draft}/release", save),
    on_get("/drafts/{draft}/totals", show_totals),
    on_get("/drafts/{draft}/splits", show_splits),
]
