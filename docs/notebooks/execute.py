"""Run notebooks in a Jupyter kernel of their own: python -m docs.notebooks.execute [NOTEBOOK …] writes outputs again.

Each notebook runs in an empty folder with a ledger folder of its own. Keys in the notebooks are fixed so that the
outputs are the same everywhere; whoever publishes real data leaves the key out.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient

FOLDER = Path(__file__).parent
Notebook = dict[str, Any]
_LONGEST = 1_000
# A kernel in which ipywidgets counts as not installed, as it is in VS Code and on servers.
_WITHOUT_WIDGETS = """
import sys


class _Hidden:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == "ipywidgets":
            raise ModuleNotFoundError(name, name=name)


sys.meta_path.insert(0, _Hidden())
"""


def executed(notebook: Notebook, *, widgets: bool = False) -> Notebook:
    """Return the notebook with the outputs of its cells; an error in a cell is raised."""
    copied = nbformat.reads(json.dumps(notebook), as_version=4)
    with tempfile.TemporaryDirectory(prefix="notebook-", ignore_cleanup_errors=True) as name:
        hidden, work = Path(name, "hidden"), Path(name, "work")
        hidden.mkdir()
        work.mkdir()
        environment = {
            **os.environ,
            "XDG_DATA_HOME": name,
            "IPYTHONDIR": name,
            "PYTHONWARNINGS": "ignore",  # a new ledger is worth a warning
        }
        if not widgets:
            (hidden / "sitecustomize.py").write_text(_WITHOUT_WIDGETS, encoding="utf-8")
            environment["PYTHONPATH"] = os.pathsep.join(filter(None, (str(hidden), os.environ.get("PYTHONPATH"))))
        client = NotebookClient(copied, timeout=600, kernel_name="python3", record_timing=False)
        client.execute(cwd=str(work), env=environment)
    cells = [
        {**cell, "execution_count": ran["execution_count"], "outputs": _outputs(ran)} if "outputs" in cell else cell
        for cell, ran in zip(notebook["cells"], copied["cells"], strict=True)
    ]
    return {**notebook, "cells": cells}


def _outputs(cell: Notebook) -> list[dict[str, Any]]:
    """Return what a cell printed, and what it showed as text and as HTML."""
    said = "".join(one["text"] for one in cell["outputs"] if one.get("name") == "stdout")
    outputs: list[dict[str, Any]] = []
    if said:
        outputs.append({"name": "stdout", "output_type": "stream", "text": _lines(said)})
    for one in cell["outputs"]:
        if "data" in one:
            shown = dict(one["data"])
            if "text/html" in shown and len(shown["text/plain"]) > _LONGEST:
                # Where there is a page, a long text beside it is only in the way.
                shown["text/plain"] = shown["text/plain"].partition("(")[0].strip()
            data = {kind: _lines(shown[kind]) for kind in ("text/html", "text/plain") if kind in shown}
            outputs.append(dict(sorted({**one, "data": data, "metadata": {}}.items())))
    return outputs


def _lines(text: str) -> list[str]:
    return text.splitlines(keepends=True)


def read(path: Path) -> Notebook:
    """Return a notebook's content."""
    notebook: Notebook = json.loads(path.read_text(encoding="utf-8"))
    return notebook


def write(notebook: Notebook, path: Path) -> None:
    """Write a notebook in the form in which it is compared."""
    path.write_text(json.dumps(notebook, indent=1, ensure_ascii=False) + "\n", encoding="utf-8", newline="\n")


if __name__ == "__main__":
    for chosen in sys.argv[1:] or sorted(map(str, FOLDER.glob("*.ipynb"))):
        write(executed(read(Path(chosen))), Path(chosen))
