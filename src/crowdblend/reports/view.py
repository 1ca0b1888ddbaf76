"""What a page shows of one kind of release; everything else on it is the same for all kinds."""

from __future__ import annotations

from dataclasses import dataclass

from crowdblend.reports.html import Html


@dataclass(frozen=True)
class Part:
    """A section of the page; one that continues another is not listed in the contents."""

    name: str
    heading: str | Html
    content: Html
    listed: bool = True


@dataclass(frozen=True)
class View:
    """A release as its kind shows it: `what` completes "This release is …", `keys` are its first numbers."""

    heading: str
    what: str
    keys: tuple[tuple[str, str], ...]
    reading: tuple[str, ...]
    parts: tuple[Part, ...]
