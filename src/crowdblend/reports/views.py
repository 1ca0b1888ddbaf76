"""Views of each kind of release: the function `view(folder, figures)` of its module `view`."""

from __future__ import annotations

from crowdblend.policies.registry import part
from crowdblend.reading.release import PublishedRelease
from crowdblend.reports.page import View


def view_of(folder: PublishedRelease, figures: bool) -> View:
    """Return the view of a release's kind."""
    view: View = part(folder.kind, "view").view(folder, figures)
    return view
