"""How far a job is, and the button that cancels it."""

from __future__ import annotations

from pathlib import Path

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from crowdblend.errors import CrowdblendError
from crowdblend.reports.folder import REPORT
from crowdblend.studio.drafts import Draft
from crowdblend.studio.jobs import Job
from crowdblend.studio.pages.posting import Sent, posting, see
from crowdblend.studio.security import REPORT_POLICY
from crowdblend.studio.studio import Studio
from crowdblend.studio.views import page


def last_job(studio: Studio, draft: Draft, step: str) -> Job | None:
    """The last job of a step; None where there was none."""
    if step not in draft.jobs:
        return None
    try:
        return studio.jobs.get(draft.jobs[step])
    except CrowdblendError:
        return None


def show(request: Request) -> Response:
    """How far a job is; a page that watches it is loaded again when it ends."""
    studio: Studio = request.app.state.studio
    job = studio.jobs.get(request.path_params["job"])
    answer = page(request, "fragments/job.html", job=job)
    if not job.running:
        # The fragment asks no more. If it went on asking, every answer would break off the reload before it.
        answer.headers["HX-Trigger"] = "job-ended"
    return answer


def cancel(request: Request, sent: Sent) -> Response:
    """Cancel a job, and show the page that it was begun from."""
    studio: Studio = request.app.state.studio
    studio.jobs.cancel(request.path_params["job"])
    back = sent.get("back", "/")
    return see(request, back if back.startswith("/") and not back.startswith("//") and "\\" not in back else "/")


def report(request: Request) -> Response:
    """The report of a rehearsal, for a frame."""
    studio: Studio = request.app.state.studio
    folder = studio.jobs.path(request.path_params["job"]) / "rehearsal"
    return report_response((folder / REPORT).read_text(encoding="utf-8") if (folder / REPORT).is_file() else "")


def report_response(html: str) -> Response:
    """A report as a page of its own, which runs nothing and reaches nothing."""
    return Response(html, media_type="text/html", headers={"content-security-policy": REPORT_POLICY})


def folder_of(job: Job) -> Path:
    """The folder that a job published."""
    return Path(str(job.result["folder"]))


ROUTES = [
    Route("/jobs/{job}", show, methods=["GET"]),
    Route("/jobs/{job}/cancel", posting(cancel, when_read_only=True), methods=["POST"]),
    Route("/jobs/{job}/report", report),
]
