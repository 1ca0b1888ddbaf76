"""Every public name explains itself: each parameter in its docstring, an example that runs, a plain signature."""

import inspect
import pydoc
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from textwrap import indent

import pytest

import crowdblend as cb
from crowdblend.api.examples import EXAMPLES
from crowdblend.api.reference import parameters_of
from crowdblend.lab.auditing.statistical.run import Verdict
from crowdblend.ledger.budget import Budget, ProfileTotal
from crowdblend.methods.planning.plan import SolvedPlan
from crowdblend.policies.key import keys_of
from crowdblend.publishing.finished_release import Publication, Report
from crowdblend.sources.checking.check import Check
from tests.cases import for_each

ROOT = Path(__file__).parents[2]
NAMES = [name for name in cb.__all__ if not name.startswith("_")]
# What public functions and methods return, beside the public classes.
RETURNED = (Verdict, Check, Budget, ProfileTotal, SolvedPlan, Publication, Report)


def classes() -> list[type]:
    return [thing for name in NAMES if isinstance(thing := getattr(cb, name), type)] + list(RETURNED)


def methods_of(kind: type) -> Iterator[tuple[str, object, str]]:
    """Every public method and property of a class, with its docstring and those of the methods that it overrides."""
    for name in dir(kind):
        owners = [base for base in kind.__mro__ if name in vars(base)]
        if name.startswith("_") or not owners or not owners[0].__module__.startswith("crowdblend"):
            continue
        found = inspect.getattr_static(kind, name)
        if isinstance(found, property | cached_property) or inspect.isroutine(found):
            written = [getattr(vars(base)[name], "__doc__", None) for base in owners]
            yield name, found, "\n".join(filter(None, written))


def missing(parameters: list[str], text: str) -> list[str]:
    """The parameters that a docstring neither lists nor has in backticks."""
    return [one for one in parameters if not re.search(rf"`\*{{0,2}}{one}`|^ +{one}: ", text, re.MULTILINE)]


@for_each("name", NAMES)
def test_every_parameter_is_in_the_docstring(name) -> None:
    thing = getattr(cb, name)
    assert missing(parameters_of(thing), inspect.getdoc(thing) or "") == []


@for_each("kind", classes())
def test_every_method_is_explained_with_its_parameters(kind) -> None:
    for name, found, text in methods_of(kind):
        assert text, name
        if not isinstance(found, property | cached_property):
            own = [one for one in parameters_of(getattr(kind, name)) if one != "self"]
            assert missing(own, text) == [], f"{kind.__name__}.{name}"


def test_what_is_looked_for_is_found() -> None:
    assert missing(["rate", "k", "of"], "A `rate` of it.\n\n    k: The size.") == ["of"]
    assert len(NAMES) > 60
    assert sum(len(list(methods_of(kind))) for kind in classes()) > 200


def test_every_name_has_an_example_that_runs() -> None:
    """The examples of all names are one page, which `test_examples` runs."""
    page = (ROOT / "docs" / "api.md").read_text(encoding="utf-8")
    assert set(EXAMPLES) == set(NAMES)
    for name, lines in EXAMPLES.items():
        assert f"cb.{name}" in lines
        assert lines.strip() in page
        assert indent(lines.strip(), "    ") in inspect.cleandoc(getattr(cb, name).__doc__)
    session = cb.__doc__[cb.__doc__.index(">>> ") :].strip()
    assert session in page


def test_a_parameter_says_what_its_key_says() -> None:
    said = " ".join(cb.Table.__doc__.split())
    assert f"flag: {keys_of(cb.Table)['flag'].meaning}" in said
    assert " ".join(cb.intervals.__doc__.split()).count("width: The width of every interval") == 1
    assert "period: The period to cut to" in cb.date.__doc__  # the key is called as the function is
    assert "[columns]" not in cb.Table.__doc__  # in the words of Python


@for_each("name", NAMES)
def test_signatures_are_plain(name) -> None:
    shown = str(inspect.signature(getattr(cb, name)))
    for clutter in ("Annotated", "Declaration", "Kind(", " object at 0x", "Meta("):
        assert clutter not in shown


def test_signatures_keep_types_and_defaults() -> None:
    shown = inspect.signature(cb.Strata).parameters
    assert shown["rates"].annotation == str | dict[str, float]
    assert shown["thin"].annotation == float | None
    assert shown["already_drawn"].default is False
    assert {"where", "by", "error"} <= set(inspect.signature(cb.median).parameters)


@for_each("name", ["Policy", "Table", "median", "release"])
def test_help_teaches(name) -> None:
    text = pydoc.plain(pydoc.render_doc(getattr(cb, name)))
    assert "Example, after the lines of help(crowdblend):" in text
    for parameter in parameters_of(getattr(cb, name)):
        assert parameter in text


def test_errors_inherit_what_is_said_of_their_arguments() -> None:
    assert "remedy: What to do." in cb.InvalidInput.__doc__
    assert cb.InvalidInput.__doc__.startswith("The call, the file or the option is wrong.\n")


def run(code: str, *options: str) -> str:
    done = subprocess.run([sys.executable, *options, "-c", code], check=True, capture_output=True, text=True)
    return done.stdout


def test_docstrings_are_composed_when_they_are_read() -> None:
    """Importing loads nothing for them, and a class looks up no key for a docstring that nobody reads."""
    code = "import sys, crowdblend as cb; print('crowdblend.api.reference' in sys.modules, end=' '); "
    code += "cb.Table, cb.Policy; own = vars(cb.Table)['__doc__']; print(own._whole is None, end=' '); "
    code += "print(cb.Table.__doc__ == own._whole)"
    assert run(code).split() == ["False", "True", "True"]


def test_python_without_docstrings_works() -> None:
    code = "import crowdblend as cb; print(cb.release.__doc__, cb.Table.__doc__, cb.intervals(0, 9, width=3).width)"
    assert run(code, "-OO").split() == ["None", "None", "3"]


def test_a_name_that_is_asked_for_twice_is_documented_once() -> None:
    for _ in range(2):
        assert cb.__getattr__("intervals").__doc__.count("Parameters:") == 1
        assert cb.__getattr__("Table").__doc__.count("Parameters:") == 1


@pytest.mark.parametrize("name", ["median", "count", "histogram"])
def test_statistics_refuse_unknown_keys_by_name(name: str) -> None:
    with pytest.raises(cb.InvalidInput, match="has no argument 'bins'"):
        getattr(cb, name)({"sex": "female"} if name == "count" else "income", bins=3)
