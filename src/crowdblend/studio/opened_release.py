"""Release folders that a page shows, opened in a process of its own: its memory and its time are limited.

Files of a folder under the root may have been made to unpack to any size; the server would go down with them.
"""

from __future__ import annotations

import shutil
import zipfile
from dataclasses import dataclass
from pathlib import Path

from crowdblend.errors import InvalidInput
from crowdblend.kinds.shared.crowd_facts import CrowdFacts
from crowdblend.reading.exports import spreadsheet
from crowdblend.reading.release import read
from crowdblend.reading.reports.blocks import show, show_step
from crowdblend.reading.reports.view import chosen_recoding
from crowdblend.trusted.calculus.folder_files import CERTIFICATE, SIGNATURE
from crowdblend.trusted.guarantees.guessing import lead
from crowdblend.trusted.machine.regular_files import open_regular


@dataclass(frozen=True)
class OpenedRelease:
    """A release folder as a page shows it; its recoding and its derivations are HTML.

    `tables` are the names of its data files without their endings.
    """

    lead: str | None
    recoding: str
    steps: str
    tables: list[str]


def open_release(folder: str) -> OpenedRelease:
    """Return a release folder whose certificate was derived again, and whose files are the certified ones."""
    release = read(folder)
    crowds = [one for one in release.facts.publications.values() if isinstance(one, CrowdFacts)]
    chosen = [block for one in crowds for block in chosen_recoding(one.recoding)]
    steps = "".join(map(show_step, release.certificate.derivations))
    opening = lead(release.guarantees, release.facts.planned_releases)
    tables = [file.stem for file in release.files.values()]
    return OpenedRelease(opening, str(show(chosen)) if chosen else "", steps, tables)


def write_table(folder: str, table: str, out: str) -> None:
    """Write a table of a release as CSV for a spreadsheet."""
    release = read(folder)
    tables = {file.stem: name for name, file in release.files.items()}
    if table not in tables:
        message, remedy = "The release has no such table.", "Choose one on the page of the release."
        raise InvalidInput(message, remedy=remedy, where="table", code="studio.no-file")
    with Path(out).open("wb") as file:
        spreadsheet.write(release, [tables[table]], file)


def write_zip(folder: str, out: str) -> None:
    """Write what was published into a ZIP file, in a folder of the same name; other files of the folder stay there."""
    release = read(folder)
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in sorted({CERTIFICATE, SIGNATURE, *release.facts.files}):
            if (release.folder / name).exists():
                # A date of its own would make another file of the same release.
                named = zipfile.ZipInfo(f"{release.folder.name}/{name}")
                named.compress_type, named.external_attr = zipfile.ZIP_DEFLATED, 0o644 << 16
                with (
                    open_regular(release.folder / name) as content,
                    archive.open(named, "w", force_zip64=True) as into,
                ):
                    shutil.copyfileobj(content, into)
