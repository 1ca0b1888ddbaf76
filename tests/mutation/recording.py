"""Which tests run which functions, and how long each takes: the tests that a mutant of a function is shown to.

A copy of the source tells on entry to each function, and this plugin writes down for every test what was entered while
it ran, in this process and in those that it starts. What a fixture shared by several tests entered belongs to each test
that uses it, and what a cached function entered belongs to each test that asks the cache.
"""

import ast
import functools
import json
import os
from collections import defaultdict
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

_WHERE = "CROWDBLEND_MUTATION_RECORD"
# The module crowdblend_entries that the copy tells: a set for this process, lines of a file for those that tests start.
ENTRIES = """
import os
from pathlib import Path

_RECORD = os.environ.get("CROWDBLEND_MUTATION_RECORD", "")
OF_CHILDREN = Path(_RECORD + ".children")
OURSELVES = int(os.environ.get("CROWDBLEND_MUTATION_PROCESS") or os.getpid())
COLLECTORS = [set()]


def enter(name):
    if name not in COLLECTORS[0] and _RECORD and os.getpid() != OURSELVES:
        with OF_CHILDREN.open("a") as lines:
            lines.write(name + "\\n")
    for collector in COLLECTORS:
        collector.add(name)
"""


def telling(source: str, module: str) -> str:
    """The module with a word from every function that is entered."""
    tree = ast.parse(source)

    def tell(node: ast.AST, function: str) -> None:
        for child in ast.iter_child_nodes(node):
            name = f"{function}.{child.name}".lstrip(".") if hasattr(child, "name") else function
            if isinstance(child, ast.FunctionDef):
                at = 1 if ast.get_docstring(child) is not None else 0
                child.body[at:at] = ast.parse(f"_entered({f'{module}:{name}'!r})").body
            tell(child, name)

    tell(tree, "")
    first = (1 if ast.get_docstring(tree) is not None else 0) + sum(
        isinstance(line, ast.ImportFrom) and line.module == "__future__" for line in tree.body
    )
    tree.body[first:first] = ast.parse("from crowdblend_entries import enter as _entered").body
    return ast.unparse(ast.fix_missing_locations(tree))


class Recorder:
    """What each test entered, and the CPU seconds of this process and of those it started."""

    def __init__(self, path: Path) -> None:
        self._path, self._entries, self._clock = path, import_module("crowdblend_entries"), _cpu_seconds()
        self._tests: dict[str, dict[str, Any]] = defaultdict(lambda: {"seconds": 0.0, "passed": True, "entered": set()})
        self._files: dict[str, set[str]] = defaultdict(set)
        self._shared: dict[tuple[str, str], set[str]] = defaultdict(set)
        self._uses: dict[str, set[str]] = {}

    def _entered(self) -> set[str]:
        """What was entered since the last time, here and in other processes."""
        names = set(self._entries.COLLECTORS[0])
        self._entries.COLLECTORS[0].clear()
        if self._entries.OF_CHILDREN.exists():
            names |= set(self._entries.OF_CHILDREN.read_text().split("\n")) - {""}
            self._entries.OF_CHILDREN.unlink()
        return names

    def pytest_collectreport(self, report: Any) -> None:
        """After a file was imported: what its tables of examples entered belongs to all of its tests."""
        self._files[report.nodeid.partition("::")[0]] |= self._entered()

    def pytest_collection_modifyitems(self, items: list[Any]) -> None:
        """Which fixtures each test uses."""
        self._uses = {item.nodeid: set(item.fixturenames) for item in items}

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(self, fixturedef: Any) -> Iterator[None]:
        """What a shared fixture enters."""
        collector: set[str] = set()
        self._entries.COLLECTORS.append(collector)
        try:
            return (yield)
        finally:
            _drop(self._entries.COLLECTORS, collector)
            if fixturedef.scope != "function":
                self._shared[fixturedef.baseid, fixturedef.argname] |= collector

    def pytest_runtest_logreport(self, report: Any) -> None:
        """After set-up, call and tear-down."""
        test = self._tests[report.nodeid]
        now = _cpu_seconds()
        test["seconds"], self._clock = test["seconds"] + now - self._clock, now
        test["passed"] = test["passed"] and not report.failed
        test["entered"] |= self._entered()

    def pytest_sessionfinish(self) -> None:
        """Write it all down."""
        for name, test in self._tests.items():
            shared = (
                entered
                for (base, fixture), entered in self._shared.items()
                if name.startswith(base) and fixture in self._uses[name]
            )
            test["entered"] = sorted(test["entered"].union(self._files[name.partition("::")[0]], *shared))
        self._path.write_text(json.dumps(self._tests))


def _cpu_seconds() -> float:
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


def _drop(collectors: list[set[str]], collector: set[str]) -> None:
    """This one, not one that is equal."""
    del collectors[[part is collector for part in collectors].index(True)]


def _tell_of_caches() -> None:
    """From here on, functions that are cached enter what they once entered."""
    entries, plain = import_module("crowdblend_entries"), functools.lru_cache

    def remember(function: Callable[..., Any], *limits: Any) -> Callable[..., Any]:
        if function.__module__.split(".")[0] not in ("crowdblend", "tests"):
            return plain(*limits)(function)
        entered: dict[Any, set[str]] = {}

        def compute(*arguments: Any, **named: Any) -> Any:
            collector: set[str] = set()
            entries.COLLECTORS.append(collector)
            try:
                return function(*arguments, **named)
            finally:
                _drop(entries.COLLECTORS, collector)
                entered[functools._make_key(arguments, named, False)] = collector

        cached = plain(*limits)(compute)

        @functools.wraps(function)
        def ask(*arguments: Any, **named: Any) -> Any:
            for name in entered.get(functools._make_key(arguments, named, False), ()):
                entries.enter(name)
            return cached(*arguments, **named)

        ask.cache_info, ask.cache_clear = cached.cache_info, cached.cache_clear  # type: ignore[attr-defined]
        return ask

    def lru_cache(maxsize: Any = 128, typed: bool = False) -> Any:
        return remember(maxsize, 128) if callable(maxsize) else lambda function: remember(function, maxsize, typed)

    functools.lru_cache = lru_cache
    functools.cache = lru_cache(None)  # type: ignore[assignment]


def pytest_configure(config: Any) -> None:
    """A plugin of pytest: `-p tests.mutation.recording`."""
    if _WHERE in os.environ:
        os.environ["CROWDBLEND_MUTATION_PROCESS"] = str(os.getpid())
        config.pluginmanager.register(Recorder(Path(os.environ[_WHERE])))
        _tell_of_caches()
