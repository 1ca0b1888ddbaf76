"""How each kind of release is shown, each in a module of its own with one function: view(folder)."""

from __future__ import annotations

from importlib import import_module

from crowdblend.errors import InvalidInput
from crowdblend.reports.folder import Folder
from crowdblend.reports.view import View

MODULES: dict[str, str] = {
    "points": "points",
    "outlier-table": "outliers",
    "statistics": "statistics",
    "synopsis": "synopsis",
    "graph": "graph",
}


def view_of(folder: Folder) -> View:
    """The view of a release's kind; one that states no kind is shown as its files look."""
    try:
        module = import_module(f"{__name__}.{MODULES.get(folder.fact('kind', str), 'classes')}")
    except ImportError as missing:
        raise InvalidInput(
            "reports need an extra that is not installed: pip install 'crowdblend[release]'."
        ) from missing
    view: View = module.view(folder)
    return view
