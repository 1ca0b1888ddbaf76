"""The picture of one publication as Python users hold it: SVG with its caption."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from html import escape
from pathlib import Path

from crowdblend.errors import InvalidInput, of_system


@dataclass(frozen=True)
class Chart:
    """A figure that a notebook shows, and that `save` writes to a file; the caption belongs to it."""

    svg: str = field(repr=False)
    caption: str

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the figure as an SVG file, and return its path."""
        target = Path(path)
        if target.suffix.lower() != ".svg":
            message = f"A chart is saved as SVG, and {target.name[:60]!r} does not end in .svg."
            raise InvalidInput(message, remedy="Give it that ending.", where="path", code="chart.format")
        try:
            target.write_text(self.svg, encoding="utf-8", newline="\n")
        except OSError as problem:
            message = f"{target} cannot be written: {problem.strerror}."
            raise of_system(problem)(
                message, remedy="Choose another path.", code="write-failed", where="path"
            ) from None
        return target

    def _repr_html_(self) -> str:
        """Return the figure with its caption below."""
        return f"<figure>{self.svg}<figcaption>{escape(self.caption)}</figcaption></figure>"
