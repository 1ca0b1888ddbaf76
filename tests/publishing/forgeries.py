"""Guards of facts, found in the source, and facts that somebody forged together with a certificate derived anew.

A forgery that keeps its old derivations is refused by the first comparison, whatever guard it was meant for. So a
forged certificate here has the derivations that follow from the forged facts, states what they have to state, and is
sealed again. It proves a guard where it is refused, and would be accepted without that guard.
"""

from __future__ import annotations

import ast
import copy
import inspect
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache, cached_property
from importlib import import_module
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any

from crowdblend.errors import DoesNotVerify
from crowdblend.kinds.shared.facts import derive, read_facts
from crowdblend.reading.verification.consistency import check_certificate
from crowdblend.trusted.calculus import Assumption, Certificate, verify

SOURCE = Path(inspect.getfile(import_module("crowdblend"))).parent
Document = dict[str, Any]
Edit = Callable[[Any], object]


@dataclass(frozen=True)
class Guard:
    """One reason of a refusal in a file: an operand of the condition, or the refusal itself where it has none.

    Of values that are compared, or looked at, together each is a reason of its own: `place` then has its number too.
    """

    file: str
    line: int
    function: str
    place: tuple[int, ...]
    says: str

    @property
    def module(self) -> ModuleType:
        """The module that it stands in."""
        return import_module("crowdblend." + self.file.removesuffix(".py").replace("/", "."))


def files_of_facts() -> list[str]:
    """The files in which facts are defined: those of every kind, and those that several kinds share."""
    names = [path.relative_to(SOURCE).as_posix() for path in SOURCE.rglob("*.py")]
    return sorted(
        name for name in names if Path(name).stem in ("facts", "crowd_facts") or name == "kinds/shared/series.py"
    )


def guards_in(file: str) -> Iterator[Guard]:
    """Every reason for which the functions of a file refuse something.

    Errors that are turned into others, and methods that others define, are no guards.
    """
    tree = ast.parse((SOURCE / file).read_text(encoding="utf-8"))
    for function, statement, test in _refusals(tree):
        for place, operand in _reasons(test):
            says = "refuses" if operand is None else ast.unparse(operand)
            yield Guard(file, statement.lineno, function, place, says)


def _refusals(
    node: ast.AST, scope: str = "", test: ast.If | None = None
) -> Iterator[tuple[str, ast.Raise, ast.If | None]]:
    """Every statement that refuses: the function it stands in, and the condition that it stands under directly."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.ExceptHandler):
            continue
        if isinstance(child, ast.FunctionDef | ast.ClassDef):
            yield from _refusals(child, f"{scope}.{child.name}".lstrip("."))
        elif isinstance(child, ast.Raise):
            if child.exc is not None and ast.unparse(child.exc) != "NotImplementedError":
                yield scope, child, test if test is not None and child in test.body else None
        else:
            yield from _refusals(child, scope, child if isinstance(child, ast.If) else None)


def _reasons(condition: ast.If | None) -> Iterator[tuple[tuple[int, ...], ast.expr | None]]:
    if condition is None:
        yield (), None
        return
    for at, operand in enumerate(_operands(condition.test)):
        yield (at,), operand
        each = _together(operand)
        yield from (((at, number), part) for number, part in enumerate(each[0].elts if each else ()))


def _operands(test: ast.expr) -> list[ast.expr]:
    return test.values if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.Or) else [test]


def _together(operand: ast.expr) -> list[ast.Tuple]:
    """The tuples whose values an operand compares with each other, or the one of which it asks for any."""
    for node in ast.walk(operand):
        match node:
            case ast.Compare(ast.Tuple() as left, [ast.NotEq()], [ast.Tuple() as right]):
                return [left, right]
            case ast.Call(ast.Name("any"), [ast.Tuple() as asked]):
                return [asked]
    return []


@contextmanager
def without(guard: Guard) -> Iterator[None]:
    """Let a function run without one of its guards."""
    function = _function(guard)
    kept = function.__code__
    function.__code__ = _code_without(guard)
    try:
        yield
    finally:
        function.__code__ = kept


def _function(guard: Guard) -> FunctionType:
    found: Any = guard.module
    for name in guard.function.split("."):
        found = inspect.getattr_static(found, name)
    if isinstance(found, property):
        found = found.fget
    found = found.func if isinstance(found, cached_property) else found
    assert isinstance(found, FunctionType), guard
    return found


@cache
def _code_without(guard: Guard) -> CodeType:
    """The code of the function whose guard never refuses."""
    path = SOURCE / guard.file
    tree = ast.parse(path.read_text(encoding="utf-8"))
    ((_, statement, condition),) = (one for one in _refusals(tree) if one[1].lineno == guard.line)
    if condition is None:
        body = next(
            node.body for node in ast.walk(tree) if isinstance(node, ast.FunctionDef) and statement in node.body
        )
        body[body.index(statement)] = ast.copy_location(ast.Pass(), statement)
    else:
        at, *within = guard.place
        operands = _operands(condition.test)
        nothing = ast.copy_location(ast.Constant(value=False), condition.test)
        if within:
            for each in _together(operands[at]):
                each.elts[within[0]] = nothing
        elif operands == [condition.test]:
            condition.test = nothing
        else:
            operands[at] = nothing
    return _code(compile(tree, str(path), "exec"), guard.function)


def _code(code: CodeType, name: str) -> CodeType:
    found = [one for one in code.co_consts if isinstance(one, CodeType)]
    return next((one for one in found if one.co_qualname == name), None) or _code(
        next(one for one in found if name.startswith(f"{one.co_name}.") or name.startswith(f"{one.co_qualname}.")), name
    )


def forged(document: Mapping[str, Any], edit: Edit) -> Document:
    """A copy of facts, edited."""
    made = copy.deepcopy(dict(document))
    edit(made)
    return made


def certificate_of(document: Document) -> Certificate:
    """The certificate that follows from facts, which states what they have to state."""
    facts = read_facts(document)
    stated = [facts.assumption] if facts.assumption is not None else []
    stated += [Assumption.ROWS_ARE_PEOPLE] if facts.rows_are_people else []
    stated += [Assumption.PROPOSED_DOMAINS] if facts.proposed else []
    return Certificate(derive(facts), tuple(stated), document)


def refused_by(document: Document) -> tuple[str, int] | None:
    """Return the file and the line that refuse facts with their own certificate; None where it is accepted.

    Also where the certificate itself is read again, from its text.
    """
    try:
        made = certificate_of(document)
        verify(made.to_json())
        check_certificate(made.to_json())
    except DoesNotVerify as problem:
        refusal: BaseException | None = problem
        while refusal is not None and refusal.__cause__ is not None:
            refusal = refusal.__cause__
        assert refusal is not None
        lines = []
        step = refusal.__traceback__
        while step is not None:
            lines.append((step.tb_frame.f_code.co_filename, step.tb_lineno, step.tb_frame.f_code.co_name))
            step = step.tb_next
        names = [(name, line) for name, line, function in lines if function != "contradiction"]
        file, line = names[-1]
        return (Path(file).relative_to(SOURCE).as_posix() if SOURCE in Path(file).parents else file), line
    return None
