"""How each kind of release is shown, in a module with one function: view(folder)."""

from __future__ import annotations

from crowdblend.lazy import lazy
from crowdblend.reports.folder import Folder
from crowdblend.reports.page import View

_VIEWS = {
    "table": "table",
    "microdata": "table",
    "outlier-table": "outlier_table",
    "points": "points",
    "statistics": "statistics",
    "synopsis": "synopsis",
    "graph": "graph",
}


def view_of(folder: Folder) -> View:
    """Return the view of a release's kind; one of no known kind is shown as its files look, counts or records."""
    view: View = lazy(f"{__name__}.{_VIEWS.get(folder.fact('kind', str), 'table')}").view(folder)
    return view
