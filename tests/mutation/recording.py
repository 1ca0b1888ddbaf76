"""Which tests run which pieces of code, and how long each takes: the tests that a mutant is shown to.

A copy of the source tells when the piece of a mutant is entered, and this plugin writes down for every test what was
entered while it ran,
"""

import ast
import functools
import json
import os
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from tests.mutation.mutants import Mutant, is_docstring

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


def piece_name(module: str, mutant: Mutant) -> str:
    """The name under which the tests of a mutant are recorded: its piece of a function, or its module."""
    piece = mutant.piece
    return f"{module}:" if piece is None else f"{module}:{piece[0][piece[1]].lineno}"


def telling(mutants: Sequence[Mutant], module: str) -> str:
    """The module of these mutants with a word from the piece of each, and from every function if one has none."""
    tree = mutants[0].tree
    pieces = {piece_name(module, mutant): mutant.piece for mutant in mutants}
    starts = [(piece[0], piece[0][piece[1]], name) for name, piece in pieces.items() if piece is not None]
    if f"{module}:" in pieces:
        bodies = (node.body for node in ast.walk(tree) if isinstance(node, ast.FunctionDef))
        starts += [(body, body[min(1, len(body) - 1) if is_docstring(body[0]) else 0], f"{module}:") for body in bodies]
    for statements, first, name in starts:
        at = [statement is first for statement in statements].index(True)
        statements[at:at] = ast.parse(f"_entered({name!r})").body
    first_line = (1 if ast.get_docstring(tree) is not None else 0) + sum(
        isinstance(line, ast.ImportFrom) and line.module == "__future__" for line in tree.body
    )
    tree.body[first_line:first_line] = ast.parse("from crowdblend_entries import enter as _entered").body
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
