"""The build backend: setuptools, with the same bytes for the same sources, whoever builds them, where and when.

Times are SOURCE_DATE_EPOCH, or a fixed date; owners, permissions and the order of files are fixed too. What a build
leaves beside the sources has no influence.
"""

from __future__ import annotations

import gzip
import io
import os
import tarfile
import time
import zipfile
from pathlib import Path
from typing import Any

from setuptools import build_meta
from setuptools.build_meta import (
    build_editable,
    get_requires_for_build_editable,
    get_requires_for_build_sdist,
    get_requires_for_build_wheel,
    prepare_metadata_for_build_editable,
    prepare_metadata_for_build_wheel,
)

__all__ = [
    "build_editable",
    "build_sdist",
    "build_wheel",
    "get_requires_for_build_editable",
    "get_requires_for_build_sdist",
    "get_requires_for_build_wheel",
    "prepare_metadata_for_build_editable",
    "prepare_metadata_for_build_wheel",
]

# 2025-01-01; archives of the zip format begin in 1980.
FIXED = 1_735_689_600


def epoch() -> int:
    """The time of every file in an archive."""
    return int(os.environ.get("SOURCE_DATE_EPOCH") or FIXED)


def build_wheel(wheel_directory: str, config_settings: Any = None, metadata_directory: str | None = None) -> str:
    """The wheel's name, in that folder."""
    name: str = build_meta.build_wheel(wheel_directory, config_settings, metadata_directory)
    path = Path(wheel_directory) / name
    with zipfile.ZipFile(path) as wheel:
        content = {one.filename: wheel.read(one) for one in wheel.infolist() if not one.is_dir()}
    made = time.gmtime(max(epoch(), 315_532_800))[:6]
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as wheel:
        for inside in sorted(content, key=lambda inside: (inside.partition("/")[0].endswith(".dist-info"), inside)):
            entry = zipfile.ZipInfo(inside, made)
            entry.compress_type, entry.create_system, entry.external_attr = zipfile.ZIP_DEFLATED, 3, 0o100644 << 16
            wheel.writestr(entry, content[inside])
    return name


def build_sdist(sdist_directory: str, config_settings: Any = None) -> str:
    """The source archive's name, in that folder."""
    name: str = build_meta.build_sdist(sdist_directory, config_settings)
    path = Path(sdist_directory) / name
    with tarfile.open(path) as archive:
        content = {one.name: archive.extractfile(one).read() for one in archive if one.isfile()}  # type: ignore[union-attr]
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for inside in sorted(content):
            entry = tarfile.TarInfo(inside)
            entry.size, entry.mtime, entry.mode = len(content[inside]), epoch(), 0o644
            archive.addfile(entry, io.BytesIO(content[inside]))
    path.write_bytes(gzip.compress(packed.getvalue(), compresslevel=9, mtime=epoch()))
    return name
