"""Release folders under the root: report, check, certificate as a tree, chosen recoding; and the step *Result*."""

from __future__ import annotations

import json
import os
from pathlib import Path
from shlex import quote as quoted
from tempfile import mkstemp
from types import NoneType
from urllib.parse import quote

from starlette.background import BackgroundTask
from starlette.responses import FileResponse, Response

from crowdblend.errors import CrowdblendError
from crowdblend.reading.datapackage import NAME as DATA_PACKAGE
from crowdblend.studio.forms import KIND_NAMES
from crowdblend.studio.opened_release import OpenedRelease
from crowdblend.studio.pages.jobs import report_response
from crowdblend.studio.studio import Studio
from crowdblend.studio.views import Visit, on_get, on_post
from crowdblend.trusted.machine.limited_process import call
from crowdblend.trusted.machine.regular_files import read_regular


def _open_release(studio: Studio, folder: str) -> OpenedRelease:
    """Return a release folder whose certificate holds."""
    place = str(studio.root.existing(folder))
    return call("crowdblend.studio.opened_release:open_release", {"folder": place}, result=OpenedRelease)


def show_all(visit: Visit) -> Response:
    """Return the releases under the root."""
    folders = [(folder, _about(visit.studio, folder)) for folder in visit.studio.root.releases()]
    return visit.page("releases.html", folders=folders)


def _about(studio: Studio, folder: str) -> dict[str, str]:
    """Return what a folder says of itself, for the list; nothing of it was checked, and nothing is claimed with it."""
    try:
        file = studio.root.existing(f"{folder}/{DATA_PACKAGE}")
        said = json.loads(read_regular(file))
        kind = str(said.get("crowdblend", {}).get("kind", ""))
        named = said.get("crowdblend", {}).get("about", {}).get("title") or KIND_NAMES.get(kind, "")
        return {"title": str(named)[:200], "created": str(said.get("created", ""))[:10]}
    except (CrowdblendError, OSError, ValueError, AttributeError, RecursionError):
        return {"title": "", "created": ""}


def show(visit: Visit) -> Response:
    """Return one release."""
    folder = visit.request.query_params.get("folder", "")
    job = visit.job
    try:
        release, error = _open_release(visit.studio, folder), None
    except CrowdblendError as refused:
        if refused.code.startswith("studio."):
            raise
        release, error = None, refused.in_notation(None).to_dict()
    return visit.page("release_folder.html", folder=folder, release=release, error=error, job=job)


def show_report(visit: Visit) -> Response:
    """Return the report, written again from the files, for a frame."""
    folder = visit.request.query_params.get("folder", "")
    place = str(visit.studio.root.existing(folder))
    return report_response(call("crowdblend.reading.reports.write:report_html", {"folder": place}, result=str))


def verify(visit: Visit) -> Response:
    """Check certificate and data in a process of its own."""
    root = visit.studio.root
    folder = root.existing(visit.sent.get("folder", ""))
    job = visit.studio.jobs.start("verify", {"folder": str(folder)})
    return visit.see(f"/releases/folder?folder={quote(root.relative(folder))}&job={job}")


def show_result(visit: Visit) -> Response:
    """Return the step *Result*: what was published from a draft, and what repeats it elsewhere."""
    studio, draft = visit.studio, visit.draft
    job = studio.last_job(draft, "publish")
    if job is None or job.state != "done":
        return visit.see(f"/drafts/{draft.id}/publish")
    folder = studio.root.relative(Path(str(job.result["folder"])))
    ledger = f" --ledger {quoted(studio.ledger)}" if studio.ledger else ""
    recorded = f", ledger={studio.ledger!r}" if studio.ledger else ""
    published = studio.root.existing(folder)
    out = studio.root.next_name(folder)  # what was published stays
    code = {
        "Policy file": read_regular(studio.root.existing(draft.policy)).decode("utf-8"),
        "Command line": f"crowdblend release {quoted(draft.policy)} --out {quoted(out)}{ledger}",
        "Python": f"import crowdblend as cb\n\npolicy = cb.load_policy({draft.policy!r})\n"
        f"cb.release(None, policy, out={out!r}{recorded})\n",
    }
    release = _open_release(studio, folder)
    given = {"folder": folder, "entry": job.result.get("entry"), "notes": job.notes, "release": release, "code": code}
    return visit.step(draft, "result", "result.html", **given, path=str(published))


def download(visit: Visit) -> Response:
    """Return the whole folder as one file, to be sent to readers."""
    folder = visit.studio.root.existing(visit.request.query_params.get("folder", ""))
    return _temporary(visit.studio, f"{folder.name}.zip", "write_zip", {"folder": str(folder)})


def download_csv(visit: Visit) -> Response:
    """Return a data file as CSV that Excel opens as it is."""
    asked = visit.request.query_params
    name = asked.get("table", "")
    folder = str(visit.studio.root.existing(asked.get("folder", "")))
    return _temporary(visit.studio, f"{name}.csv", "write_table", {"folder": folder, "table": name})


def _temporary(studio: Studio, name: str, function: str, arguments: dict[str, str]) -> Response:
    """Return a file that a process of its own makes for one answer, and that is removed afterwards."""
    made, place = mkstemp(dir=studio.state)
    os.close(made)
    try:
        call(f"crowdblend.studio.opened_release:{function}", {**arguments, "out": place}, result=NoneType)
    except BaseException:
        os.unlink(place)
        raise
    return FileResponse(place, filename=name, background=BackgroundTask(os.unlink, place))


ROUTES = [
    on_get("/releases", show_all),
    on_get("/releases/folder", show),
    on_get("/releases/report", show_report),
    on_get("/releases/zip", download),
    on_get("/releases/csv", download_csv),
    on_post("/releases/verify", verify, when_read_only=True),
    on_get("/drafts/{draft}/result", show_result),
]
