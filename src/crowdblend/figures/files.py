"""Charts as files, which appear whole or not at all."""

from __future__ import annotations

import os
from pathlib import Path

from crowdblend.errors import InvalidInput
from crowdblend.figures.charts import Chart


def save(chart: Chart, path: Path, *, force: bool = False) -> None:
    """Draw a chart to an .svg file."""
    if path.suffix.lower() != ".svg":
        raise InvalidInput(f"A figure is written as .svg, got {path.name!r}. Change the file's ending.")
    if path.exists() and not force:
        raise InvalidInput(f"The figure's file exists: {path}. Pass force (--force) to replace it.")
    if not path.parent.is_dir():
        raise InvalidInput(f"The figure's folder does not exist: {path.parent}. Create it first.")
    write_whole(path, chart.svg().encode(), what="figure")


def write_whole(path: Path, content: bytes, *, what: str) -> None:
    """Write a file that appears whole or not at all."""
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        part.write_bytes(content)
        part.replace(path)
    except OSError as failure:
        part.unlink(missing_ok=True)
        raise InvalidInput(f"The {what} cannot be written to {path}: {failure.strerror}.") from failure
