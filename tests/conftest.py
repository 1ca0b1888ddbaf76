"""Settings of all tests."""

import gc
from collections.abc import Generator

import pytest
from hypothesis import HealthCheck, settings

from tests.needs import required


def pytest_configure(config: pytest.Config) -> None:
    """What every change must pass is the same every time; `make test-slow` looks for other examples."""
    settings.register_profile(
        "any machine",
        deadline=None,  # how busy the machine is says nothing about the code
        suppress_health_check=[HealthCheck.too_slow],
        derandomize=config.getoption("markexpr") == "not slow",
    )
    settings.load_profile("any machine")


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """What is collected lives to the end, so that looking through it for garbage is in vain: a fifth of the time."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


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
