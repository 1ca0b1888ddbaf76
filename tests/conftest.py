"""Settings of all tests."""

import gc
from collections.abc import Generator

import pytest
from hypothesis import HealthCheck, settings

# How busy the machine is says nothing about the code.
settings.register_profile("any machine", deadline=None, suppress_health_check=[HealthCheck.too_slow])
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
