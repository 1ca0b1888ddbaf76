"""`crowdblend report`."""

from __future__ import annotations

from pathlib import Path

import click

from crowdblend.cli.output import (
    answer,
    answers,
    asks_for_json,
    force_option,
    no_figures_option,
    printable,
    refuse_shared_stdout,
    write_text,
)
from crowdblend.reading.reports.write import report_html, write_report
from crowdblend.reading.verification.consistency import verify_release


@click.command("report", epilog="Example: crowdblend report census-release --out census.html")
@click.argument("folder", metavar="DIR")
@click.option("--out", metavar="FILE", help="Where to write the page ('-' for stdout); default DIR/report.html.")
@no_figures_option
@force_option
@answers
def command(folder: str, *, out: str | None, no_figures: bool, force: bool) -> None:
    """Explain a release on one self-contained page, made from its published files alone.

    DIR is a release folder. Its certificate and data files are verified first.
    """
    if out == "-" and asks_for_json():
        refuse_shared_stdout()
    if Path(folder).is_dir():
        verify_release(Path(folder))
    if out == "-":
        write_text("-", report_html(Path(folder), figures=not no_figures), force=force)
        return
    written = write_report(Path(folder), Path(out) if out else None, force=force, figures=not no_figures)
    answer({"report": str(written), "verified": True}, f"report: {printable(str(written))}")
