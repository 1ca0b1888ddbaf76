"""The step *Publish*: a dry run, the guarantee in a sentence, and the population's name typed as confirmation."""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from starlette.responses import Response

from crowdblend.errors import CrowdblendError, InvalidInput, Refused
from crowdblend.kinds import plan
from crowdblend.kinds.shared.facts import planned_releases
from crowdblend.ledger import Ledger
from crowdblend.policies.policy import Policy
from crowdblend.sources.engines.choice import default_engine
from crowdblend.studio.drafts import Draft
from crowdblend.studio.model.readiness import missing_in_data
from crowdblend.studio.places import load_policy_inside
from crowdblend.studio.studio import Studio
from crowdblend.studio.views import Visit, on_get, on_post
from crowdblend.trusted.guarantees.guessing import lead


def show(visit: Visit) -> Response:
    """Return what would happen, from the policy and the names of the columns alone."""
    studio, draft = visit.studio, visit.draft
    job = studio.last_job(draft, "publish")
    return visit.step(
        draft,
        "publish",
        "publish.html",
        dry=_dry_run(studio, draft),
        **_places(studio, draft),
        job=job,
        begun=_begun_entry(studio, draft) if job is not None and not job.running else None,
    )


def _places(studio: Studio, draft: Draft) -> dict[str, str]:
    """Return the folder and the policy file to propose: what was published keeps its own."""
    out, policy = draft.out or _name(draft), draft.policy or f"{_name(draft)}.toml"
    if studio.published(draft) or (not draft.out and studio.root.inside(out).exists()):
        out = studio.root.next_name(out)
        policy = f"{out}.toml"
    return {"out": out, "policy": policy}


def begin(visit: Visit) -> Response:
    """Write the policy, and publish in a process of its own; with `save` the policy is all that is written."""
    sent, studio, draft = visit.sent, visit.studio, visit.draft
    lacking = missing_in_data(draft.choices, draft.names)
    if "save" not in sent and lacking is not None:
        raise Refused(lacking, remedy="Go back to the step Data.", where="data", code="studio.incomplete")
    if "save" not in sent and sent.get("confirm", "") != draft.choices.value("data", "population"):
        message = "The name that was typed is not the name of the population."
        remedy = "Nothing was published. Type the name exactly as it is shown."
        raise Refused(message, remedy=remedy, where="confirm", code="studio.not-confirmed")
    job = studio.last_job(draft, "publish")
    if job is not None and job.running:
        raise Refused(
            "This draft is being published.", remedy="Wait for it, or cancel it.", where="publish", code="studio.busy"
        )
    out = studio.root.inside(_plain(sent.get("out", ""), "the folder"))
    path = studio.root.inside(_plain(sent.get("policy", ""), "the policy"))
    policy = studio.policy(draft.choices)
    policy.plan()
    written, folder = studio.root.relative(path), studio.root.relative(out)
    unpublished = not studio.published(draft) and _begun_entry(studio, draft) is None
    _write(studio, policy, path, own=unpublished and written == draft.policy)
    jobs = dict(draft.jobs)
    if "save" not in sent:
        asked = {"policy": str(path), "out": str(out), "ledger": studio.ledger, "root": str(studio.root.folder)}
        jobs["publish"] = studio.jobs.start("release", asked)
    visit.change(lambda one: replace(one, jobs=jobs, policy=written, out=folder))
    return visit.see(f"/drafts/{draft.id}/publish")


def go_on(visit: Visit) -> Response:
    """Publish a release that was begun and cancelled, with the output that it would have had."""
    studio, draft = visit.studio, visit.draft
    entry = _begun_entry(studio, draft)
    if entry is None:
        raise Refused("There is nothing to resume.", remedy="Publish it.", where="publish", code="studio.nothing-begun")
    policy = str(studio.root.existing(draft.policy))
    asked = {"entry": entry, "policy": policy, "ledger": studio.ledger, "root": str(studio.root.folder)}
    return visit.start("publish", "resume", asked)


def _write(studio: Studio, policy: Policy, path: Path, *, own: bool) -> None:
    """Write the policy; an existing file is replaced where it is the draft's own, and another policy is kept."""
    if path.exists():
        with suppress(CrowdblendError):
            if load_policy_inside(studio.root, studio.root.relative(path)) == policy:
                return
        if not own:
            message = f"{path.name!r} exists and is another policy."
            raise InvalidInput(message, remedy="Give the policy another name.", where="policy", code="output.exists")
        path.unlink()  # a link that is put there meanwhile is not followed
    path.parent.mkdir(parents=True, exist_ok=True)
    policy.save(path)


def _dry_run(studio: Studio, draft: Draft) -> dict[str, object]:
    try:
        planned = plan(studio.policy(draft.choices))
        planned.check_source(default_engine())
    except CrowdblendError as refused:
        return {"error": refused.in_notation(None).to_dict()}
    certificate = planned.certificate()
    return {
        "error": None,
        "described": [(what, how) for what, how in planned.describe() if how],
        "lead": lead(certificate.guarantees, planned_releases(certificate)),
        "guarantees": [guarantee.words() for guarantee in certificate.guarantees],
        "assumptions": [assumed.sentence() for assumed in certificate.assumptions()],
    }


def _begun_entry(studio: Studio, draft: Draft) -> int | None:
    """Return the entry of this draft's release that was begun and not finished."""
    if not draft.out:
        return None
    try:
        place = str(studio.root.inside(draft.out))
        return next(
            (one.id for one in Ledger(studio.ledger).unfinished_entries() if one.spending.folder == place), None
        )
    except CrowdblendError:
        return None


def _name(draft: Draft) -> str:
    """Return a name for the folder and the policy."""
    population = re.sub(r"[^A-Za-z0-9]+", "-", draft.choices.value("data", "population")).strip("-").lower()
    return f"{population or 'release'}-{draft.choices.kind}"


def _plain(text: str, what: str) -> str:
    if not text.strip() or text.strip() in (".", "/") or any(not sign.isprintable() for sign in text):
        raise InvalidInput(f"{what} has no name.", remedy="Give it one.", where=what, code="studio.name")
    return text.strip()


ROUTES = [
    on_get("/drafts/{draft}/publish", show),
    on_post("/drafts/{draft}/publish", begin),
    on_post("/drafts/{draft}/resume", go_on),
]
