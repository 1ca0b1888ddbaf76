import doctest
import importlib
import pkgutil

from crowdblend import randomness
from tests.cases import for_each

MODULES = [module.name for module in pkgutil.iter_modules(randomness.__path__)]


@for_each("name", MODULES)
def test_examples_run(name):
    assert doctest.testmod(importlib.import_module(f"crowdblend.randomness.{name}")).failed == 0


def test_everything_public_is_there_and_sorted():
    assert randomness.__all__ == sorted(randomness.__all__)
    assert all(hasattr(randomness, name) for name in randomness.__all__)
    modules = {*MODULES}
    assert {name for name in vars(randomness) if not name.startswith("_")} - modules == {*randomness.__all__}
