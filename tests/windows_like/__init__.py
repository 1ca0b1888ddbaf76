"""A Python that lacks what CPython on Windows lacks: processes that are started with `environment()`.

What Windows lacks is what the stubs of the standard library (typeshed, which comes with mypy) declare for Linux and not
for Windows. `sitecustomize.py` takes it away when a process starts, and makes files behave as they do there. Not
simulated: paths with drives and backslashes, the compiled packages, consoles, locks, and access lists.
"""

from __future__ import annotations

import ast
import json
import os
import sys
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
# The interpreter itself is built on it, on Windows under another name.
KEPT = {"posix", "posixpath"}


def environment(folder: Path) -> dict[str, str]:
    """Return the environment of a process that runs as on Windows, and of those that it starts."""
    modules, attributes = lacking()
    listed = folder / "lacking.json"
    listed.write_text(json.dumps({"modules": sorted(modules), "attributes": attributes}), encoding="utf-8")
    return {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(HERE), str(ROOT / "src"), str(ROOT)]),
        "PYTHONWARNDEFAULTENCODING": "1",
        "PYTHONIOENCODING": "cp1252",
        "NUMPY_MADVISE_HUGEPAGE": "1",  # else the Linux build of NumPy asks for the version of the kernel
        "LACKING": str(listed),
        "USERNAME": "steward",
        "LOCALAPPDATA": str(folder / "AppData"),
        "XDG_DATA_HOME": "",
    }


@cache
def lacking() -> tuple[set[str], dict[str, list[str]]]:
    """Return the modules that Windows lacks, and the names that other modules lack there."""
    import mypy

    stubs = Path(mypy.__file__).parent / "typeshed" / "stdlib"
    modules, attributes = {"termios"}, {}  # of which the stub keeps types
    for stub in sorted([*stubs.glob("*.pyi"), *stubs.glob("*/__init__.pyi")]):
        name = stub.parent.name if stub.stem == "__init__" else stub.stem
        source = stub.read_text(encoding="utf-8")
        if "win32" not in source or name in KEPT | modules:
            continue
        body = ast.parse(source).body
        there, here = (set(names(body, platform)) for platform in ("win32", "linux"))
        if here and not there:
            modules.add(name)
        elif missing := sorted(here - there):
            attributes[name] = missing
    return modules, attributes


def names(body: Iterable[ast.stmt], platform: str) -> Iterator[str]:
    """Yield the names that the body of a stub defines on a platform."""
    for node in body:
        if isinstance(node, ast.If):
            yield from names(node.body if holds(node.test, platform) else node.orelse, platform)
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            yield node.target.id
        elif isinstance(node, ast.Assign):
            yield from (target.id for target in node.targets if isinstance(target, ast.Name) and target.id != "__all__")


def holds(test: ast.expr, platform: str) -> bool:
    """Return whether a condition of a stub holds on a platform, for this version of Python."""
    known = {"sys": type("sys", (), {"platform": platform, "version_info": sys.version_info})}
    return bool(eval(compile(ast.Expression(test), "stub", "eval"), {"__builtins__": {}, "TYPE_CHECKING": True}, known))
