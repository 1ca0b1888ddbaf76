"""Release folders under the root: report, check, certificate as a tree, chosen recoding; and the step *Result*."""

from __future__ import annotations

import json
import os
import shutil
import zipfile
from collections.abc import Callable
from pathlib import Path
from shlex import quote as quoted
from tempfile import mkstemp
from urllib.parse import quote

from starlette.background import BackgroundTask
from starlette.responses import FileResponse, Response

from crowdblend.calculus import Certificate
from crowdblend.calculus.folder_files import CERTIFICATE, SIGNATURE
from crowdblend.errors import CrowdblendError, InvalidInput
from crowdblend.frozen import dataclass
from crowdblend.guarantees.guessing import lead
from crowdblend.reading.datapackage import NAME as DATA_PACKAGE
from crowdblend.reading.release import PublishedRelease, read
from crowdblend.reading.spreadsheets import write_csv_file
from crowdblend.regular_files import open_regular, read_regular
from crowdblend.releases.crowd_facts import CrowdFacts
from crowdblend.reports.blocks import Block
from crowdblend.reports.view import chosen_recoding
from crowdblend.reports.write import report_html
from crowdblend.studio.forms import KIND_NAMES
from crowdblend.studio.pages.jobs import report_response
from crowdblend.studio.studio import Studio
from crowdblend.studio.views import Visit, on_get, on_post


@dataclass(frozen=True)
class OpenedRelease:
    """A release folder as shown; its certificate is derived again before anything is shown."""

    certificate: Certificate
    lead: str | None
    recoding: list[Block]


def _open_release(studio: Studio, folder: str) -> OpenedRelease:
    """Return a release folder whose certificate holds."""
    release = read(studio.root.existing(folder))
    facts = release.facts
    crowds = [one for one in facts.publications.values() if isinstance(one, CrowdFacts)]
    opening = lead(release.guarantees, facts.planned_releases)
    chosen = [block for one in crowds for block in chosen_recoding(one.recoding)]
    return OpenedRelease(release.certificate, opening, chosen)


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
        release, error = None, refused.to_dict()
    return visit.page("release_folder.html", folder=folder, release=release, error=error, job=job)


def show_report(visit: Visit) -> Response:
    """Return the report, written again from the files, for a frame."""
    folder = visit.request.query_params.get("folder", "")
    return report_response(report_html(visit.studio.root.existing(folder)))


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
    told = {"path": str(published), "parquet": sorted(one.name for one in published.glob("*.parquet"))}
    return visit.step(draft, "result", "result.html", **given, **told)


def download(visit: Visit) -> Response:
    """Return the whole folder as one file, to be sent to readers."""
    release = read(visit.studio.root.existing(visit.request.query_params.get("folder", "")))
    return _temporary(visit.studio, f"{release.folder.name}.zip", lambda path: _zip(release, path))


def _zip(release: PublishedRelease, out: Path) -> None:
    """Write what was published into a ZIP file, in a folder of the same name; other files of the folder stay there."""
    folder = release.folder
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in sorted({CERTIFICATE, SIGNATURE, *release.facts.files}):
            if (folder / name).exists():
                # A date of its own, or the system's name, would make another file of the same release.
                named = zipfile.ZipInfo(f"{folder.name}/{name}")
                named.create_system = 3
                named.compress_type, named.external_attr = zipfile.ZIP_DEFLATED, 0o644 << 16
                with open_regular(folder / name) as content, archive.open(named, "w", force_zip64=True) as into:
                    shutil.copyfileobj(content, into)


def download_csv(visit: Visit) -> Response:
    """Return a data file as CSV that Excel opens as it is."""
    asked = visit.request.query_params
    name = asked.get("file", "")
    tables = {path.name: path for path in read(visit.studio.root.existing(asked.get("folder", ""))).files.values()}
    if name not in tables:
        message = "The release has no such data file."
        raise InvalidInput(
            message, remedy="Choose one on the page of the release.", where="file", code="studio.no-file"
        )
    return _temporary(visit.studio, f"{Path(name).stem}.csv", lambda path: write_csv_file(tables[name], path))


def _temporary(studio: Studio, name: str, write: Callable[[Path], None]) -> Response:
    """Return a file that is made for one answer, and removed afterwards."""
    made, place = mkstemp(dir=studio.state)
    os.close(made)
    try:
        write(Path(place))
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
