"""The step *Rehearse*: the same policy on made-up people of the declared domain, or on a public file; costs nothing."""

from __future__ import annotations

from dataclasses import replace

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from crowdblend.errors import InvalidInput
from crowdblend.studio.forms import revision_of, whole_of
from crowdblend.studio.jobs import OWN
from crowdblend.studio.model.rehearsed_folder import SPREADS, USUAL_PEOPLE
from crowdblend.studio.pages.jobs import last_job
from crowdblend.studio.pages.posting import Sent, posting, see
from crowdblend.studio.studio import Studio
from crowdblend.studio.views import step_page

WORDS = {
    "even": "every class is equally likely",
    "skewed": "the first classes of each column are the most common ones",
}


def show(request: Request) -> Response:
    """How to rehearse, and what came of the last rehearsal."""
    studio: Studio = request.app.state.studio
    draft = studio.drafts.get(request.path_params["draft"])
    files = [one for one in studio.root.listing() if one.what in ("csv", "parquet")]
    exact = draft.choices.kind == "graph" or bool(draft.choices.text("data", "people"))
    return step_page(
        request,
        draft,
        "rehearse",
        "rehearse.html",
        spreads=WORDS,
        usual=USUAL_PEOPLE,
        files=files,
        exact=exact,
        job=last_job(studio, draft, "rehearse"),
    )


def begin(request: Request, sent: Sent) -> Response:
    """Begin a rehearsal."""
    studio: Studio = request.app.state.studio
    draft = studio.drafts.get(request.path_params["draft"])
    spread = sent.get("spread", "even")
    if spread not in SPREADS:
        raise InvalidInput(
            "There is no such spread.", remedy="Choose one of the two.", where="spread", code="studio.spread"
        )
    data = None
    if sent.get("data"):
        if sent.get("public") != "true":
            raise InvalidInput(
                "A rehearsal shows what it is run on.",
                remedy="Confirm that the file is public, or rehearse on made-up people.",
                where="data",
                code="studio.not-public",
            )
        data = str(studio.root.existing(sent["data"]))
    folder = studio.state / "rehearsed"
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    policy = folder / f"{draft.id}.toml"
    studio.policy(draft.choices).to_toml(policy, force=True)
    people = whole_of(sent, "people")
    asked = {"policy": str(policy), "out": f"{OWN}rehearsal", "people": people, "spread": spread, "data": data}
    job = studio.jobs.start("rehearse", asked)
    studio.drafts.change(draft.id, lambda one: replace(one, jobs={**one.jobs, "rehearse": job}), revision_of(sent))
    return see(request, f"/drafts/{draft.id}/rehearse")


ROUTES = [
    Route("/drafts/{draft}/rehearse", show, methods=["GET"]),
    Route("/drafts/{draft}/rehearse", posting(begin), methods=["POST"]),
]
