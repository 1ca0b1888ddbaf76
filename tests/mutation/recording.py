"""Which tests run which functions, and how long each takes: the tests that a mutant of a function is shown to.

A copy of the source tells on entry to each function, and this plugin writes down for every test what was entered while
it ran. What a cache or a shared fixture computed once belongs to the test that came first.
"""

from __future__ import annotations

import ast
import json
import os
import time
from collections import defaultdict
from pathlib import Path
from typing import Any

ENTERED: set[str] = set()
_WHERE = "CROWDBLEND_MUTATION_RECORD"


def telling(source: str, module: str) -> str:
    """The module with a word from every function that is entered."""
    tree = ast.parse(source)

    def tell(node: ast.AST, function: str) -> None:
        for child in ast.iter_child_nodes(node):
            name = f"{function}.{child.name}".lstrip(".") if hasattr(child, "name") else function
            if isinstance(child, ast.FunctionDef):
                called = (
                    f"__import__('tests.mutation.recording').mutation.recording.ENTERED.add({f'{module}:{name}'!r})"
                )
                at = 1 if ast.get_docstring(child) is not None else 0
                child.body[at:at] = ast.parse(called).body
            tell(child, name)

    tell(tree, "")
    return ast.unparse(ast.fix_missing_locations(tree))


class Recorder:
    """What each test entered, and the CPU seconds of this process."""

    def __init__(self, path: Path) -> None:
        self._path, self._clock = path, time.process_time()
        self._tests: dict[str, dict[str, Any]] = defaultdict(lambda: {"seconds": 0.0, "entered": set()})
        self._files: dict[str, set[str]] = {}

    def pytest_collectreport(self, report: Any) -> None:
        """After a file was imported: what its tables of examples entered belongs to all of its tests."""
        self._files.setdefault(report.nodeid.partition("::")[0], set()).update(ENTERED)
        ENTERED.clear()

    def pytest_runtest_logreport(self, report: Any) -> None:
        """After set-up, call and tear-down."""
        test = self._tests[report.nodeid]
        now = time.process_time()
        test["seconds"], self._clock = test["seconds"] + now - self._clock, now
        test["passed"] = test.get("passed", True) and not report.failed
        test["entered"] |= ENTERED
        ENTERED.clear()

    def pytest_sessionfinish(self) -> None:
        """Write it all down."""
        for name, test in self._tests.items():
            test["entered"] = sorted(test["entered"] | self._files.get(name.partition("::")[0], set()))
        self._path.write_text(json.dumps(self._tests))


def pytest_configure(config: Any) -> None:
    """A plugin of pytest: `-p tests.mutation.recording`."""
    if _WHERE in os.environ:
        config.pluginmanager.register(Recorder(Path(os.environ[_WHERE])))
