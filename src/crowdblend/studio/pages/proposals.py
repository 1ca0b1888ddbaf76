"""The part of the step *Columns* in which labels and bounds are proposed from the data, at a cost that is confirmed."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from starlette.responses import Response

from crowdblend.errors import CrowdblendError, Refused
from crowdblend.policies.key import keys_of
from crowdblend.policies.proposed import check_proposed_design
from crowdblend.studio.drafts import Draft
from crowdblend.studio.model.choices import WAY
from crowdblend.studio.model.readiness import missing_in_data
from crowdblend.studio.model.typed_values import typed_lines, typed_text, typed_value
from crowdblend.studio.places import is_address
from crowdblend.studio.studio import Studio
from crowdblend.studio.views import Visit, on_post
from crowdblend.trusted.machine.lazy import lazy_imports

with lazy_imports():
    from crowdblend.api import proposing

_NUMBERS = ("number", "whole")
# What a proposal takes over from the step Data.
_SAID = (
    *("person", "rows_are_people", "ids", "duplicates", "population"),
    *("format", "table", "query", "delimiter", "encoding", "decimal", "thousands"),
)


def describe_proposals(studio: Studio, draft: Draft) -> dict[str, object]:
    """Return what the page shows of proposals: the columns to choose from, and what the last one found."""
    job = studio.last_job(draft, "propose")
    person = draft.choices.value("data", "person")
    columns = [
        (place, name, "bounds" if kind in _NUMBERS else "labels")
        for place, (name, kind) in enumerate(draft.columns)
        if name != person and kind not in ("date", "row number")
    ]
    found = None
    if job is not None and job.state == "done":
        try:
            found = proposing.read_proposal(str(job.arguments["out"]))
        except CrowdblendError:  # someone removed the folder
            job = None
    usual = {"epsilon": f"{proposing.EPSILON:g}", "delta": f"{proposing.DELTA:g}"}
    return {"columns": columns, "job": job, "found": found, "usual": usual}


def begin(visit: Visit) -> Response:
    """Propose domains of the columns that were ticked, in a process of its own, once the cost is confirmed."""
    sent, studio, draft = visit.sent, visit.studio, visit.draft
    lacking = missing_in_data(draft.choices, draft.names)
    if lacking is not None:
        raise Refused(lacking, remedy="Go back to the step Data.", where="data", code="studio.incomplete")
    check_proposed_design(draft.choices.design)
    if sent.get("confirm") != "yes":
        message = "Nobody has confirmed what the proposal costs."
        remedy = "Nothing was read. Tick the box above the button."
        raise Refused(message, remedy=remedy, where="confirm", code="studio.not-confirmed")
    ticked = [(name, kind) for place, (name, kind) in enumerate(draft.columns) if sent.get(f"column:{place}")]
    keys, texts = draft.choices.declared_by_section["data"], draft.choices.sections.get("data", {})
    source = draft.choices.value("data", "source")
    said = {name: typed_value(keys[name].kind, texts[name]) for name in _SAID if name in keys and name in texts}
    said["source_format"] = said.pop("format", None)
    policy = proposing.proposal_policy(
        labels=[name for name, kind in ticked if kind not in _NUMBERS],
        bounds=[name for name, kind in ticked if kind in _NUMBERS],
        epsilon=typed_value("number", sent.get("epsilon", "")),  # type: ignore[arg-type]  # its key refuses a text
        delta=typed_value("number", sent.get("delta", "")),  # type: ignore[arg-type]
        source=source if is_address(source) else studio.root.inside(source),
        **said,
    )
    policy.plan()
    name = studio.root.free_name(f"{Path(source).name.partition('.')[0]}-proposal")
    path = studio.root.inside(f"{name}.toml")
    policy.save(path)
    asked = {"policy": str(path), "out": str(studio.root.inside(name)), "ledger": studio.ledger}
    return visit.start("propose", "release", {**asked, "root": str(studio.root.folder)}, "columns#propose")


def use(visit: Visit) -> Response:
    """Take the domains that were proposed, and name the proposal in the policy, which counts what it cost."""
    studio = visit.studio
    found = describe_proposals(studio, visit.draft)["found"]
    if not isinstance(found, proposing.Proposal):
        message = "There is no proposal to take domains from."
        raise Refused(message, remedy="Propose some first.", where="propose", code="studio.no-proposal")
    folder = studio.root.relative(studio.root.inside(str(found.folder)))

    def change(draft: Draft) -> Draft:
        choices = draft.choices
        for name, domain in found.columns.items():
            keys = keys_of(type(domain)).items()
            texts = {key.name: typed_text(key.kind, getattr(domain, field)) for field, key in keys}
            given = {key.name for field, key in keys if key.is_given(getattr(domain, field))}
            choices = choices.with_column(name, {WAY: domain.way, **{one: texts[one] for one in given}})
        named = typed_lines(choices.text("privacy", "proposed"))
        return replace(
            draft,
            choices=choices.with_texts(
                "privacy", {"proposed": typed_text("paths", list(dict.fromkeys([*named, folder])))}
            ),
        )

    return visit.see(f"/drafts/{visit.change(change).id}/columns")


ROUTES = [on_post("/drafts/{draft}/propose", begin), on_post("/drafts/{draft}/proposed", use)]
