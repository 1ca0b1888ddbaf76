"""A release folder as one file, for readers who get it by mail."""

from __future__ import annotations

import zipfile
from pathlib import Path


def zip_release(folder: Path, out: Path) -> None:
    """Write the files of a release folder into a ZIP file, in a folder of the same name."""
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for file in sorted(folder.iterdir()):
            if file.is_file() and not file.is_symlink():
                # A date of its own would make another file of the same release.
                named = zipfile.ZipInfo(f"{folder.name}/{file.name}")
                named.compress_type, named.external_attr = zipfile.ZIP_DEFLATED, 0o644 << 16
                with file.open("rb") as content, archive.open(named, "w", force_zip64=True) as into:
                    while piece := content.read(1 << 20):
                        into.write(piece)
