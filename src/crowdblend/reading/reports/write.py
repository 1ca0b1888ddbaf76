"""`write_report`: a release folder as one page."""

from __future__ import annotations

import os
from pathlib import Path

from crowdblend.errors import InvalidInput
from crowdblend.reading.figures.charts import write_whole
from crowdblend.reading.release import PublishedRelease, read
from crowdblend.reading.reports.page import REPORT, page
from crowdblend.reading.reports.text import visible
from crowdblend.reading.reports.view import view_of

_UNFIT = (TypeError, ValueError, LookupError, AttributeError, ArithmeticError, NotImplementedError)


def write_report(
    folder: Path | str,
    out: Path | str | None = None,
    *,
    force: bool = False,
    figures: bool = True,
    release: PublishedRelease | None = None,
) -> Path:
    """Write a release's report from its published files alone, and return its path.

    Raises DoesNotVerify when the certificate or a data file was changed, unless the `release` is known already, as it
    is to the one that publishes it. The page appears whole or not at all, and the same files give the same bytes.
    Without `figures` it has their numbers alone.
    """
    folder = Path(folder)
    target = folder / REPORT if out is None else Path(out)
    opened = read(folder) if release is None else release
    if target.name == REPORT and target.parent.resolve() == folder.resolve() and REPORT in opened.facts.files:
        message = "report.html is covered by the certificate, which a page of another version would break."
        raise InvalidInput(message, remedy="Name another file: `--out`.", where="`--out`", code="report-certified")
    if os.path.lexists(target) and not force:
        raise InvalidInput(
            f"{visible(str(target))} exists. Pass `--force` to replace it.", code="output-exists", where="`--out`"
        )
    if os.path.lexists(target) and not target.is_file():
        reason = f"{visible(str(target))} is not a file. Remove it, or choose another --out."
        raise InvalidInput(reason, code="output-exists", where="`--out`")
    if out is not None and not target.parent.is_dir():
        message = f"The folder {visible(str(target.parent))} does not exist. Create it first."
        raise InvalidInput(message, where="`--out`", code="output-parent")
    write_whole(target, report_of(opened, figures=figures).encode(), what="report")
    return target


def report_html(folder: Path | str, *, figures: bool = True) -> str:
    """The report as text; raises InvalidInput where certificate and data have another form than any release has."""
    return report_of(read(folder), figures=figures)


def report_of(release: PublishedRelease, *, figures: bool = True) -> str:
    """The report of a release that is open already, as text."""
    try:
        return page(release, view_of(release, figures), figures)
    except _UNFIT as error:
        # Facts are guarded by a digest that anyone can compute, so they may be of any form.
        reason = "The facts of certificate.json do not describe its data files. No report can be written."
        raise InvalidInput(reason, code="facts-do-not-fit", where="certificate.json") from error
