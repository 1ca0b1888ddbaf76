"""The web application: every page's routes, the files that pages load, and what is refused in one sentence."""

from __future__ import annotations

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import FileResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from crowdblend.errors import CrowdblendError, InvalidInput, Unavailable
from crowdblend.reading.reports.page import LOOK
from crowdblend.studio.pages import (
    columns,
    data,
    drafts,
    gallery,
    hierarchy,
    jobs,
    ledger,
    proposals,
    publish,
    rehearse,
    release,
    releases,
)
from crowdblend.studio.studio import Studio
from crowdblend.studio.views import HERE, Visit

PAGES = (drafts, data, columns, proposals, hierarchy, release, rehearse, publish, jobs, ledger, releases, gallery)


def application(studio: Studio) -> Starlette:
    """Return the studio's pages."""
    app = Starlette(
        routes=[
            *(route for one in PAGES for route in one.ROUTES),
            Route("/static/look.css", lambda _: FileResponse(str(LOOK))),
            Mount("/static", StaticFiles(directory=HERE / "static"), name="static"),
        ],
        exception_handlers={CrowdblendError: _refusal_page, HTTPException: _no_page, OSError: _refusal_page},
    )
    app.state.studio = studio
    return app


def _refusal_page(request: Request, error: CrowdblendError | OSError) -> Response:
    if isinstance(error, OSError):
        error = Unavailable(
            f"The operating system refused a file: {error.strerror or 'no reason'}.",
            remedy="Free some space or correct the permission, and try again.",
            where="page",
            code="system.file",
        )
    return Visit(request).error_page(error)


def _no_page(request: Request, problem: HTTPException) -> Response:
    if problem.status_code != 404:
        return Response(f"{problem.detail}\n", status_code=problem.status_code, media_type="text/plain")
    return _refusal_page(
        request,
        InvalidInput("There is no such page.", remedy="Begin on the first page.", where="page", code="studio.no-page"),
    )
