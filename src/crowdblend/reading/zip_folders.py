"""A release folder as one file, for readers who get it by mail."""

from __future__ import annotations

import shutil
import zipfile
from pathlib import Path

from crowdblend.calculus.folder_files import CERTIFICATE, SIGNATURE
from crowdblend.reading.release import PublishedRelease
from crowdblend.regular_files import open_regular


def zip_release(release: PublishedRelease, out: Path) -> None:
    """Write what was published into a ZIP file, in a folder of the same name; other files of the folder stay there."""
    folder = release.folder
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in sorted({CERTIFICATE, SIGNATURE, *release.facts.files}):
            if (folder / name).exists():
                # A date of its own would make another file of the same release.
                named = zipfile.ZipInfo(f"{folder.name}/{name}")
                named.compress_type, named.external_attr = zipfile.ZIP_DEFLATED, 0o644 << 16
                with open_regular(folder / name) as content, archive.open(named, "w", force_zip64=True) as into:
                    shutil.copyfileobj(content, into)
