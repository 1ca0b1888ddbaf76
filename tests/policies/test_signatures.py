"""What type checkers are told of publications and policies is what they take."""

import ast
import inspect
from collections.abc import Callable
from pathlib import Path

import crowdblend as cb
from crowdblend.policies.registry import KINDS, publication_class
from tests.cases import for_each

MADE: dict[str, Callable[..., object]] = {kind: publication_class(kind) for kind in KINDS} | {"policy": cb.Policy}


@for_each("name", MADE)
def test_type_checkers_are_told_every_argument_with_its_default(name: str) -> None:
    made = MADE[name]
    tree = ast.parse(Path(inspect.getfile(made)).read_text(encoding="utf-8"))
    holder = next(one for one in ast.walk(tree) if isinstance(one, ast.ClassDef) and one.name == made.__name__)
    (told,) = (one for one in ast.walk(holder) if isinstance(one, ast.FunctionDef) and one.name == "__init__")
    defaults = {
        one.arg: inspect.Parameter.empty if default is None else ast.literal_eval(default)
        for one, default in zip(told.args.kwonlyargs, told.args.kw_defaults, strict=True)
    }
    parameters = inspect.signature(made).parameters
    several = [one.name for one in parameters.values() if one.kind is inspect.Parameter.VAR_POSITIONAL]
    assert several == ([told.args.vararg.arg] if told.args.vararg else [])
    taken = {one.name: one.default for one in parameters.values() if one.name not in several}
    assert set(defaults) == set(taken)
    # Nothing said is None in a signature, where a value of its own stands for it.
    assert {one for one in taken if defaults[one] not in (taken[one], None)} == set()
    required = {one for one, default in taken.items() if default is inspect.Parameter.empty}
    assert {one for one, default in defaults.items() if default is inspect.Parameter.empty} == required
