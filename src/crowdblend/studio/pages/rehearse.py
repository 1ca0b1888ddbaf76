"""The step *Rehearse*: the same policy on made-up people of the declared domain, or on a public file; costs nothing."""

from __future__ import annotations

from starlette.responses import Response

from crowdblend.errors import InvalidInput
from crowdblend.policies.registry import publication_class
from crowdblend.studio.forms import whole_of
from crowdblend.studio.jobs import OWN
from crowdblend.studio.model.rehearsed_folder import SPREADS, USUAL_PEOPLE
from crowdblend.studio.views import Visit, on_get, on_post

WORDS = {
    "even": "every class is equally likely",
    "skewed": "the first classes of each column are the most common ones",
}


def show(visit: Visit) -> Response:
    """Return how to rehearse, and what came of the last rehearsal."""
    studio, draft = visit.studio, visit.draft
    files = [one for one in studio.root.listing() if one.what in ("csv", "parquet")]
    choices = draft.choices
    said = choices.text("data", "people") or choices.text("sampling", "of")
    exact = any(publication_class(one.kind).rows_are_links for one in choices.publish) or bool(said)
    return visit.step(
        draft,
        "rehearse",
        "rehearse.html",
        spreads=WORDS,
        usual=USUAL_PEOPLE,
        files=files,
        exact=exact,
        job=studio.last_job(draft, "rehearse"),
    )


def begin(visit: Visit) -> Response:
    """Begin a rehearsal."""
    sent, studio, draft = visit.sent, visit.studio, visit.draft
    spread = sent.get("spread", "even")
    if spread not in SPREADS:
        raise InvalidInput(
            "There is no such spread.", remedy="Choose one of the two.", where="spread", code="studio.spread"
        )
    data = None
    if sent.get("data"):
        if sent.get("public") != "true":
            message = "A rehearsal shows what it is run on."
            remedy = "Confirm that the file is public, or rehearse on made-up people."
            raise InvalidInput(message, remedy=remedy, where="data", code="studio.not-public")
        data = str(studio.root.existing(sent["data"]))
    folder = studio.state / "rehearsed"
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    policy = folder / f"{draft.id}.toml"
    studio.policy(draft.choices).save(policy, force=True)
    people = whole_of(sent, "people")
    asked = {"policy": str(policy), "out": f"{OWN}rehearsal", "people": people, "spread": spread, "data": data}
    return visit.start("rehearse", "rehearse", asked)


ROUTES = [
    on_get("/drafts/{draft}/rehearse", show),
    on_post("/drafts/{draft}/rehearse", begin),
]
