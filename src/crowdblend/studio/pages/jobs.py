"""The state of a job, and the button that cancels it."""

from __future__ import annotations

import re

from starlette.responses import Response

from crowdblend.reading.reports.page import REPORT
from crowdblend.studio.security import REPORT_POLICY
from crowdblend.studio.views import Visit, on_get, on_post


def show(visit: Visit) -> Response:
    """Return how far a job is; a page that watches it is loaded again when it ends."""
    job = visit.studio.jobs.get(visit.request.path_params["job"])
    answer = visit.page("fragments/job.html", job=job)
    if not job.running:
        # The fragment asks no more. If it went on asking, every answer would break off the reload before it.
        answer.headers["HX-Trigger"] = "job-ended"
    return answer


def cancel(visit: Visit) -> Response:
    """Cancel a job, and show the page that it was begun from."""
    visit.studio.jobs.cancel(visit.request.path_params["job"])
    back = visit.sent.get("back", "/")
    return visit.see(back if back.startswith("/") and not back.startswith("//") and "\\" not in back else "/")


def report(visit: Visit) -> Response:
    """Return the report of a rehearsal, for a frame."""
    file = visit.studio.jobs.path(visit.request.path_params["job"]) / "rehearsal" / REPORT
    return report_response(file.read_text(encoding="utf-8") if file.is_file() else "")


def report_response(html: str) -> Response:
    """Return a report as a page of its own, which runs nothing and reaches nothing: without its script too."""
    html = re.sub(r"<script>.*?</script>", "", html, count=1, flags=re.DOTALL)
    return Response(html, media_type="text/html", headers={"content-security-policy": REPORT_POLICY})


ROUTES = [
    on_get("/jobs/{job}", show),
    on_post("/jobs/{job}/cancel", cancel, when_read_only=True),
    on_get("/jobs/{job}/report", report),
]
