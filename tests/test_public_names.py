"""`__all__` is exact: everything exported exists, and the root exports what the README uses."""

import importlib
import pkgutil

import crowdblend


def test_all_names_exist() -> None:
    for module in pkgutil.walk_packages(crowdblend.__path__, "crowdblend."):
        if not module.name.endswith("__main__"):
            loaded = importlib.import_module(module.name)
            for name in getattr(loaded, "__all__", ()):
                assert hasattr(loaded, name), f"{module.name}.{name}"


def test_root_exports() -> None:
    assert crowdblend.__all__ == sorted(crowdblend.__all__)
    assert {"plan", "verify", "compose"} <= set(crowdblend.__all__)
