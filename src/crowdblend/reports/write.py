"""`write_report`: a release folder as one page."""

from __future__ import annotations

from pathlib import Path

from crowdblend.errors import InvalidInput
from crowdblend.figures import write_whole
from crowdblend.reports.folder import open_folder
from crowdblend.reports.page import page
from crowdblend.reports.views import view_of

NAME = "report.html"


def write_report(folder: Path, out: Path | None = None, *, force: bool = False) -> Path:
    """Write a release's report from its published files alone, and say where it is.

    Raises DoesNotVerify when the certificate or a data file was changed. The page appears whole or not at all, and
    the same files give the same bytes.
    """
    folder = Path(folder)
    target = folder / NAME if out is None else Path(out)
    if target.exists() and not force:
        raise InvalidInput(f"the report must not exist yet, got {target}. Pass force (--force) to replace it.")
    if out is not None and not target.parent.is_dir():
        raise InvalidInput(f"the report's folder must exist, got {target.parent}. Create it first.")
    write_whole(target, report_html(folder).encode(), what="report")
    return target


def report_html(folder: Path) -> str:
    """The report as text."""
    opened = open_folder(Path(folder))
    return page(opened, view_of(opened))
