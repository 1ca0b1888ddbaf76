"""How each kind of release is shown, in a module of its file name with one function: view(folder, figures)."""

from __future__ import annotations

from crowdblend.kinds.registry import KINDS, file_name
from crowdblend.lazy import lazy
from crowdblend.reading.release import PublishedRelease
from crowdblend.reports.page import View


def view_of(folder: PublishedRelease, figures: bool) -> View:
    """Return the view of a release's kind; one of no known kind is shown as its files look, counts or records."""
    kind = folder.fact("kind", str)
    view: View = lazy(f"{__name__}.{file_name(kind) if kind in KINDS else 'table'}").view(folder, figures)
    return view
