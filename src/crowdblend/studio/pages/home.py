"""The first page: begin a release, or go on with one."""

from __future__ import annotations

from starlette.responses import Response

from crowdblend.policies.registry import WORDS
from crowdblend.studio.views import Visit, on_get

WHAT = {kind: words.publishes for kind, words in WORDS.items()}


def home(visit: Visit) -> Response:
    """Return what can be begun, and what was begun before."""
    studio = visit.studio
    policies = [] if studio.read_only else [one for one in studio.root.listing() if one.what == "policy"]
    drafts = studio.drafts.all()
    finished = {draft.id for draft in drafts if studio.published(draft)}
    return visit.page("home.html", drafts=drafts, finished=finished, what=WHAT, policies=policies)


ROUTES = [on_get("/", home)]
