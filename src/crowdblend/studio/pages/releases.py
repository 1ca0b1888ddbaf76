"""Any release folder under the root: its report, a check of it, its certificate as a tree, and the chosen recoding."""

from __future__ import annotations

import json
from dataclasses import dataclass
from urllib.parse import quote

from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from crowdblend.calculus import Certificate, verify_file
from crowdblend.errors import CrowdblendError
from crowdblend.guarantees.guessing import lead
from crowdblend.reading.datapackage import NAME as DATA_PACKAGE
from crowdblend.reports.derivation import tree
from crowdblend.reports.folder import open_folder
from crowdblend.reports.recoding import chosen_recoding
from crowdblend.reports.write import report_html
from crowdblend.studio.forms import KIND_NAMES
from crowdblend.studio.pages.jobs import report_response
from crowdblend.studio.pages.posting import Sent, posting, see
from crowdblend.studio.studio import Studio
from crowdblend.studio.views import html, page

_LARGEST_PACKAGE = 5_000_000


@dataclass(frozen=True)
class OpenedRelease:
    """What is shown of a release folder; the certificate is derived again before anything of it is shown."""

    certificate: Certificate
    lead: str | None
    trees: tuple[Markup, ...]
    recoding: Markup | None


def opened(studio: Studio, folder: str) -> OpenedRelease:
    """A release folder whose certificate holds."""
    path = studio.root.existing(folder)
    certificate = verify_file(path)
    chosen = certificate.facts.get("recoding")
    recoding = html(chosen_recoding(open_folder(path))) if chosen else None
    return OpenedRelease(
        certificate, lead(certificate.guarantees), tuple(html(tree(one)) for one in certificate.derivations), recoding
    )


def show_all(request: Request) -> Response:
    """The releases under the root."""
    studio: Studio = request.app.state.studio
    return page(
        request, "releases.html", folders=[(folder, _about(studio, folder)) for folder in studio.root.releases()]
    )


def _about(studio: Studio, folder: str) -> dict[str, str]:
    """What a folder says of itself, for the list; nothing of it was checked, and nothing is claimed with it."""
    try:
        file = studio.root.existing(f"{folder}/{DATA_PACKAGE}")
        said = json.loads(file.read_bytes()) if file.stat().st_size < _LARGEST_PACKAGE else {}
        kind = str(said.get("crowdblend", {}).get("kind", ""))
        named = said.get("crowdblend", {}).get("about", {}).get("title") or KIND_NAMES.get(kind, "")
        return {"title": str(named)[:200], "created": str(said.get("created", ""))[:10]}
    except (CrowdblendError, OSError, ValueError, AttributeError, RecursionError):
        return {"title": "", "created": ""}


def show(request: Request) -> Response:
    """One release."""
    studio: Studio = request.app.state.studio
    folder = request.query_params.get("folder", "")
    job = None
    if request.query_params.get("job"):
        job = studio.jobs.get(request.query_params["job"])
    try:
        release, error = opened(studio, folder), None
    except CrowdblendError as refused:
        if refused.code.startswith("studio."):
            raise
        release, error = None, refused.to_dict()
    return page(request, "release_folder.html", folder=folder, release=release, error=error, job=job)


def show_report(request: Request) -> Response:
    """The report, written again from the files, for a frame."""
    studio: Studio = request.app.state.studio
    return report_response(report_html(studio.root.existing(request.query_params.get("folder", ""))))


def verify(request: Request, sent: Sent) -> Response:
    """Check certificate and data in a process of its own."""
    studio: Studio = request.app.state.studio
    folder = studio.root.existing(sent.get("folder", ""))
    job = studio.jobs.start("verify", {"folder": str(folder)})
    return see(request, f"/releases/folder?folder={quote(studio.root.relative(folder))}&job={job}")


ROUTES = [
    Route("/releases", show_all),
    Route("/releases/folder", show),
    Route("/releases/report", show_report),
    Route("/releases/verify", posting(verify, when_read_only=True), methods=["POST"]),
]
