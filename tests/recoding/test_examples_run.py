"""The examples in the docstrings are true."""

import doctest
import importlib
import pkgutil

import crowdblend.recoding
from tests.cases import for_each

MODULES = [module.name for module in pkgutil.iter_modules(crowdblend.recoding.__path__)]


@for_each("name", MODULES)
def test_docstrings(name):
    assert doctest.testmod(importlib.import_module(f"crowdblend.recoding.{name}")).failed == 0
