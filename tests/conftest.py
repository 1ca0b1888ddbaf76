"""Settings of all tests."""

import gc
from collections.abc import Generator

import pytest
from hypothesis import HealthCheck, settings


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
