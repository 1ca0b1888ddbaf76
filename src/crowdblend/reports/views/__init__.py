"""How each kind of release is shown, each in a module of its file name with one function: view(folder)."""

from __future__ import annotations

from importlib import import_module

from crowdblend.errors import InvalidInput
from crowdblend.kinds.registry import KINDS, file_name
from crowdblend.reports.folder import Folder
from crowdblend.reports.view import View


def view_of(folder: Folder) -> View:
    """The view of a release's kind; one of no known kind is shown as its files look, counts or records."""
    kind = folder.fact("kind", str)
    try:
        module = import_module(f"{__name__}.{file_name(kind) if kind in KINDS else 'table'}")
    except ImportError as missing:
        raise InvalidInput(
            "reports need a package that is not installed. Install crowdblend again, with what it depends on.",
            where="crowdblend",
            code="system.package",
        ) from missing
    view: View = module.view(folder)
    return view
