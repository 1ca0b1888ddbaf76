"""Run notebooks cell by cell, without Jupyter: python -m docs.notebooks.execute [NOTEBOOK …] writes outputs again.

A cell shows what it prints, and the value of its last line: as text, and as HTML where the value has a form for
notebooks. Each notebook runs in an empty folder with a ledger folder of its own. Keys in the notebooks are fixed so
that the outputs are the same everywhere; whoever publishes real data leaves the key out.
"""

from __future__ import annotations

import ast
import io
import json
import os
import sys
import tempfile
import warnings
from contextlib import chdir, redirect_stdout
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent
Notebook = dict[str, Any]
_LONGEST = 1_000


def executed(notebook: Notebook) -> Notebook:
    """The notebook with the outputs of its cells, in one session."""
    names: dict[str, Any] = {"__name__": "__main__"}
    cells, number = [], 0
    before = os.environ.get("XDG_DATA_HOME")
    with tempfile.TemporaryDirectory(prefix="notebook-") as name, chdir(name), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a new ledger is worth a warning
        os.environ["XDG_DATA_HOME"] = name
        try:
            for cell in notebook["cells"]:
                if cell["cell_type"] == "code":
                    number += 1
                    outputs = _outputs("".join(cell["source"]), names, number)
                    cells.append({**cell, "execution_count": number, "outputs": outputs})
                else:
                    cells.append(cell)
        finally:
            del os.environ["XDG_DATA_HOME"]
            if before is not None:
                os.environ["XDG_DATA_HOME"] = before
    return {**notebook, "cells": cells}


def _outputs(source: str, names: dict[str, Any], number: int) -> list[dict[str, Any]]:
    tree = ast.parse(source)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    said, value = io.StringIO(), None
    with redirect_stdout(said):
        exec(compile(tree, f"<cell {number}>", "exec"), names)
        if isinstance(last, ast.Expr):
            value = eval(compile(ast.Expression(last.value), f"<cell {number}>", "eval"), names)
    outputs: list[dict[str, Any]] = []
    if said.getvalue():
        outputs.append({"name": "stdout", "output_type": "stream", "text": _lines(said.getvalue())})
    if value is not None:
        plain = repr(value)
        data = {"text/plain": _lines(plain)}
        if hasattr(value, "_repr_html_"):
            # Where there is a page, a long text beside it is only in the way.
            short = plain if len(plain) <= _LONGEST else f"<{type(value).__name__}>"
            data = {"text/html": _lines(value._repr_html_()), "text/plain": _lines(short)}
        outputs.append({"data": data, "execution_count": number, "metadata": {}, "output_type": "execute_result"})
    return outputs


def _lines(text: str) -> list[str]:
    return text.splitlines(keepends=True)


def read(path: Path) -> Notebook:
    """A notebook's content."""
    notebook: Notebook = json.loads(path.read_text(encoding="utf-8"))
    return notebook


def write(notebook: Notebook, path: Path) -> None:
    """Write a notebook in the form in which it is compared."""
    path.write_text(json.dumps(notebook, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    for chosen in sys.argv[1:] or sorted(map(str, FOLDER.glob("*.ipynb"))):
        write(executed(read(Path(chosen))), Path(chosen))
