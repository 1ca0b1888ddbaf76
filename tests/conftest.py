"""Settings of all tests."""

import atexit
import gc
import os
import shutil
import tempfile
from collections.abc import Generator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from threading import Lock
from typing import Any

import duckdb
import pytest
from hypothesis import HealthCheck, settings

from crowdblend.policies.resources import Resources
from crowdblend.sources.engines.duckdb import engine
from crowdblend.sources.engines.duckdb.database import database
from crowdblend.trusted.calculus.theorem import Rule
from tests import cases
from tests.golden.releases import write_sources
from tests.needs import required

# Folders whose tests are about what follows from what; all others draw the same conclusions again and again.
ABOUT_CONCLUSIONS = {"calculus", "guarantees", "laws", "mutation", "numerics", "planning", "truth"}
DRAWN_ANEW = pytest.StashKey[bool]()


def pytest_configure(config: pytest.Config) -> None:
    """What every change must pass is the same every time; `make test-slow` looks for other examples."""
    settings.register_profile(
        "any machine",
        max_examples=100 if config.getoption("markexpr") != "not slow" else 25,
        deadline=None,  # how busy the machine is says nothing about the code
        suppress_health_check=[HealthCheck.too_slow],
        derandomize=config.getoption("markexpr") == "not slow",
    )
    settings.load_profile("any machine")
    # Heads of ledgers on a server are kept there.
    os.environ["XDG_STATE_HOME"] = tempfile.mkdtemp(prefix="crowdblend-state-")
    cases.THOROUGH = config.getoption("markexpr") != "not slow"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Check types of examples last: by then `make lint`, which runs meanwhile, has left what it found in its cache."""
    items.sort(key=lambda item: item.path.name == "test_types.py")


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """What is collected lives to the end, so that looking through it for garbage is in vain: a fifth of the time."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.set_threshold(200_000, 20, 100)
        gc.enable()


def pytest_unconfigure(config: pytest.Config) -> None:
    """Let what was collected go, so that DuckDB does not call it leaked."""
    shutil.rmtree(os.environ["XDG_STATE_HOME"], ignore_errors=True)
    gc.unfreeze()
    if hasattr(config, "workerinput"):  # what it says of a worker's last moments would stand before the closing line
        atexit.register(os.dup2, os.open(os.devnull, os.O_WRONLY), 2)


def _forbid_skip(report: pytest.TestReport | pytest.CollectReport) -> None:
    """Turn a skip into a failure where no test may be skipped."""
    if report.outcome == "skipped" and not hasattr(report, "wasxfail") and "all" in required():
        report.outcome = "failed"
        report.longrepr = f"skipped, and CROWDBLEND_TESTS_NEED=all allows no skip: {report.longrepr}"


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Let no test be skipped where everything must be there."""
    report = yield
    _forbid_skip(report)
    return report


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report() -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    """Let no module be skipped where everything must be there."""
    report = yield
    _forbid_skip(report)
    return report


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Let every test draw its own conclusions that is about them, and no other."""
    item.session.stash[DRAWN_ANEW] = bool({*item.path.relative_to(item.config.rootpath).parts} & ABOUT_CONCLUSIONS)


@pytest.fixture(scope="session", autouse=True)
def _remembered_conclusions(request: pytest.FixtureRequest) -> Generator[None]:
    """Draw a conclusion once from the same premises: a release and its checks draw each of theirs nine times."""
    known: dict[object, object] = {}
    conclude, stash = Rule.conclude, request.session.stash

    def remember(self: Rule, *premises: Any, **parameters: Any) -> object:
        if stash[DRAWN_ANEW]:
            return conclude(self, *premises, **parameters)
        drawn = self.function, premises, tuple((name, type(value), value) for name, value in parameters.items())
        if drawn not in known:
            known[drawn] = conclude(self, *premises, **parameters)
        return known[drawn]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Rule, "conclude", remember)
        yield


@pytest.fixture(scope="session")
def sources(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder with the sources of the golden releases; tests write elsewhere."""
    folder = tmp_path_factory.mktemp("sources")
    write_sources(folder)
    return folder


@pytest.fixture(scope="session", autouse=True)
def _no_waiting_for_disks() -> Generator[None]:
    """Nothing of a test has to outlive a loss of power, and a release waits for the disk a dozen times."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", lambda _: None)
        yield


@pytest.fixture(scope="session", autouse=True)
def _kept_databases(tmp_path_factory: pytest.TempPathFactory) -> Generator[None]:
    """Give every source a connection of its own to one database in memory: starting one takes 25 ms, twice a release.

    The engine makes temporary tables and views only, which go with their connection. Where memory is bounded, or a test
    watches how a database is started, one is started; one that may open no other file any more is left.
    """
    kept: dict[object, duckdb.DuckDBPyConnection] = {}
    start, one_at_a_time = duckdb.connect, Lock()
    locked = "SELECT 1 WHERE NOT current_setting('enable_external_access')"

    def connect(name: str, config: dict[str, Any]) -> duckdb.DuckDBPyConnection:
        threads = config.get("threads")
        if threads not in kept:
            kept[threads] = start(name, config={**config, "temp_directory": str(tmp_path_factory.mktemp("database"))})
        connection = kept[threads].cursor()
        connection.execute("SET preserve_insertion_order = false; DETACH DATABASE IF EXISTS origin")
        return connection

    @contextmanager
    def shared(resources: Resources, folder: Path) -> Generator[duckdb.DuckDBPyConnection]:
        with ExitStack() as stack:
            with one_at_a_time, pytest.MonkeyPatch.context() as patch:
                if resources.memory is None and duckdb.connect is start:
                    patch.setattr(duckdb, "connect", connect)
                connection = stack.enter_context(database(resources, folder))
            try:
                yield connection
            finally:
                instance = kept.get(resources.threads)
                if instance and instance.execute(locked).fetchall():
                    kept.pop(resources.threads).close()

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(engine, "database", shared)
        yield
    for connection in kept.values():
        connection.close()
