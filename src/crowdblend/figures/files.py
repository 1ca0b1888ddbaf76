"""Charts as files. Only here is the renderer loaded, and it draws from the specification alone: nothing is fetched."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from crowdblend.errors import InvalidInput

PIXELS_PER_UNIT = 2.0


def save(spec: dict[str, Any], path: Path, *, force: bool = False) -> None:
    """Draw a chart to an .svg, .png or .html file, which appears whole or not at all.

    The page is self-contained: it opens without a network.
    """
    path = Path(path)
    draw = _DRAW.get(path.suffix.lower())
    if draw is None:
        raise InvalidInput(
            f"a figure is written as {', '.join(SUFFIXES)}, got {path.name!r}. Change the file's ending."
        )
    if path.exists() and not force:
        raise InvalidInput(f"the figure's file must not exist yet, got {path}. Pass force (--force) to replace it.")
    if not path.parent.is_dir():
        raise InvalidInput(f"the figure's folder must exist, got {path.parent}. Create it first.")
    write_whole(path, draw(spec), what="figure")


def draw_svg(spec: dict[str, Any]) -> str:
    """The chart as the text of an SVG element."""
    drawn: str = _renderer().vegalite_to_svg(spec)
    return drawn


def write_whole(path: Path, content: bytes, *, what: str) -> None:
    """Write a file that appears whole or not at all."""
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        part.write_bytes(content)
        part.replace(path)
    except OSError as failure:
        part.unlink(missing_ok=True)
        raise InvalidInput(f"the {what} must be writable at {path}, got: {failure.strerror}.") from failure


def _renderer() -> Any:
    try:
        import vl_convert  # noqa: PLC0415  an optional extra, loaded when a figure is drawn
    except ImportError as missing:
        raise InvalidInput("figures need a package that is not installed: pip install vl-convert-python") from missing
    return vl_convert


def _svg(spec: dict[str, Any]) -> bytes:
    return draw_svg(spec).encode()


def _png(spec: dict[str, Any]) -> bytes:
    drawn: bytes = _renderer().vegalite_to_png(spec, scale=PIXELS_PER_UNIT)
    return drawn


def _html(spec: dict[str, Any]) -> bytes:
    page: str = _renderer().vegalite_to_html(spec, bundle=True)
    return page.encode()


_DRAW: dict[str, Callable[[dict[str, Any]], bytes]] = {".svg": _svg, ".png": _png, ".html": _html}
SUFFIXES = tuple(_DRAW)
