"""The names at the top: exact, lazy, and seen by type checkers."""

import ast
import subprocess
import sys
from importlib import resources
from pathlib import Path
from typing import Any

import pytest

import crowdblend

HEAVY = ("numpy", "scipy", "duckdb", "pyarrow", "pandas", "polars", "click", "flint")

# What runs on data, or reads them.
ON_DATA = ("sample_and_sanitize", "read", "PublishedRelease", "synthesize")


def test_all_is_what_the_names_are() -> None:
    assert sorted(crowdblend.__all__) == sorted([*crowdblend._MODULES, "__version__"])
    assert set(crowdblend.__all__) <= set(dir(crowdblend))
    for name in crowdblend.__all__:
        assert getattr(crowdblend, name) is not None


def test_type_checkers_see_every_name_where_it_lives() -> None:
    tree = ast.parse(Path(str(crowdblend.__file__)).read_text(encoding="utf-8"))
    (checked,) = (node for node in tree.body if isinstance(node, ast.With))
    seen = {name.name: part.module for part in checked.body if isinstance(part, ast.ImportFrom) for name in part.names}
    assert seen == crowdblend._MODULES
    assert (resources.files("crowdblend") / "py.typed").is_file()


def test_the_top_loads_nothing_heavy() -> None:
    code = f"import sys, crowdblend; print([name for name in {HEAVY!r} if name in sys.modules], len(sys.modules))"
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    heavy, _, modules = said.strip().partition("] ")
    assert heavy == "["
    plain = subprocess.run(
        [sys.executable, "-c", "import sys; print(len(sys.modules))"], capture_output=True, text=True, check=True
    ).stdout
    assert int(modules) - int(plain) < 40


def test_names_load_nothing_heavy() -> None:
    code = (
        "import sys, crowdblend as cb\n"
        f"[getattr(cb, name) for name in cb.__all__ if name not in {ON_DATA!r}]\n"
        f"print([name for name in {HEAVY[:-1]!r} if name in sys.modules])"
    )
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert said.strip() == "[]"


def test_names_of_other_packages_say_where_the_thing_is() -> None:
    for name, place in {"mean": "average", "Laplace": "below_k", "sum": "total", "percentile": "quantile"}.items():
        with pytest.raises(AttributeError, match=place):
            getattr(crowdblend, name)
    with pytest.raises(AttributeError, match=r"has no attribute 'nonsense'$"):
        getattr(crowdblend, "nonsense")  # noqa: B009
    assert not hasattr(crowdblend, "mean")


def test_arguments_that_belong_elsewhere_say_where() -> None:
    for argument, place in {"rate": "sampling=Poisson", "k": "publish=Table", "below_k": "publish=Table"}.items():
        given: Any = {argument: 1, "publish": crowdblend.Table()}
        with pytest.raises(crowdblend.InvalidInput, match=place) as refused:
            crowdblend.Policy(**given)
        assert refused.value.code == "policy.unknown-argument"
