"""The step *Result*: the report, the certificate as a tree, and what repeats the release elsewhere."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from crowdblend.policies import load_policy
from crowdblend.studio.model.as_python import python_of
from crowdblend.studio.pages.jobs import folder_of, last_job
from crowdblend.studio.pages.posting import see
from crowdblend.studio.pages.releases import opened
from crowdblend.studio.studio import Studio
from crowdblend.studio.views import published, step_page


def show(request: Request) -> Response:
    """What was published."""
    studio: Studio = request.app.state.studio
    draft = studio.drafts.get(request.path_params["draft"])
    job = last_job(studio, draft, "publish")
    if job is None or not published(studio, draft):
        return see(request, f"/drafts/{draft.id}/publish")
    folder = studio.root.relative(folder_of(job))
    path = studio.root.existing(draft.policy)
    policy = load_policy(path)
    ledger = f" --ledger {studio.ledger}" if studio.ledger else ""
    return step_page(
        request,
        draft,
        "result",
        "result.html",
        folder=folder,
        entry=job.result.get("entry"),
        notes=job.notes,
        release=opened(studio, folder),
        code={
            "TOML": path.read_text(encoding="utf-8"),
            "Command line": f"crowdblend release {draft.policy} --out {draft.out}{ledger}",
            "Python": python_of(policy, out=draft.out, root=studio.root.folder),
        },
    )


ROUTES = [Route("/drafts/{draft}/result", show, methods=["GET"])]
