"""The examples in the docstrings are true."""

import doctest
import importlib
import pkgutil

import pytest

import crowdblend.recoding

MODULES = [module.name for module in pkgutil.iter_modules(crowdblend.recoding.__path__)]


@pytest.mark.parametrize("name", MODULES)
def test_docstrings(name):
    assert doctest.testmod(importlib.import_module(f"crowdblend.recoding.{name}")).failed == 0
