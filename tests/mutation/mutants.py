"""Small deliberate breaks of a module, one at a time: each is a mutant that some test ought to notice.

Left alone are types, documentation, the words of errors and what only decides about speed of import. Everything else
that is a comparison, an operation, a number, a condition, a rounding, a refusal or a change of state is broken in the
usual ways.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from copy import deepcopy
from dataclasses import dataclass

COMPARISONS: dict[type[ast.cmpop], tuple[type[ast.cmpop], ...]] = {
    ast.Lt: (ast.LtE, ast.GtE),
    ast.LtE: (ast.Lt, ast.Gt),
    ast.Gt: (ast.GtE, ast.LtE),
    ast.GtE: (ast.Gt, ast.Lt),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
}
OPERATIONS: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.Mult,
    ast.Pow: ast.Mult,
    ast.LShift: ast.RShift,
    ast.RShift: ast.LShift,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
    ast.BitXor: ast.BitOr,
}
_OPPOSITES = ("up down", "upper lower", "ceil floor", "max min", "maximum minimum", "above below", "any all")
OPPOSITES = {a: b for pair in _OPPOSITES for a, b in (pair.split(), reversed(pair.split()))}
SYMMETRIC = ("max", "min", "maximum", "minimum", "gcd", "isclose")
COMPOUND = (ast.If, ast.For, ast.While, ast.Try, ast.With, ast.Match)
Place = tuple[tuple[str, int | None], ...]


@dataclass(frozen=True)
class Mutant:
    """One break: where it is, in which function, what was written there and what is written now."""

    line: int
    function: str
    before: ast.AST
    after: ast.AST
    tree: ast.Module
    place: Place

    @property
    def source(self) -> str:
        """The whole module with the break."""
        broken = deepcopy(self.tree)
        _put(broken, self.place, self.after)
        return ast.unparse(ast.fix_missing_locations(broken))

    @property
    def body(self) -> str:
        """The qualified name of the outermost function whose body has the break; empty outside of bodies."""
        node: ast.AST = self.tree
        names: list[str] = []
        for field, at in self.place:
            if isinstance(node, ast.ClassDef | ast.FunctionDef):
                names.append(node.name)
            if isinstance(node, ast.FunctionDef):
                return ".".join(names) if field == "body" else ""
            value = getattr(node, field)
            node = value if at is None else value[at]
        return ""

    @property
    def piece(self) -> tuple[list[ast.stmt], int] | None:
        """The statements that run together with the break, as a list and where they begin; none outside of functions.

        Whoever gets to the first of them gets to the break, but for what a condition inside an expression decides.
        """
        node: ast.AST = self.tree
        piece, inside = None, False
        for field, at in self.place:
            inside = inside or (isinstance(node, ast.FunctionDef) and field == "body")
            value = getattr(node, field)
            if inside and at is not None and isinstance(value[at], ast.stmt):
                begin = at
                while begin > 0 and not isinstance(value[begin - 1], COMPOUND) and not is_docstring(value[begin - 1]):
                    begin -= 1
                piece = value, begin
            node = value if at is None else value[at]
        return piece

    def __str__(self) -> str:
        before, after = (ast.unparse(node).splitlines()[0] for node in (self.before, self.after))
        return f"line {self.line}, {self.function or 'module'}: {before} -> {after}"


def mutants_of(source: str) -> Iterator[Mutant]:
    """Every mutant of a module, in the order of its lines."""
    tree = ast.parse(source)
    for place, node, function in _breakable(tree):
        for other in _breaks(node):
            yield Mutant(node.lineno, function, node, other, tree, place)  # type: ignore[attr-defined]


def _breakable(node: ast.AST, place: Place = (), function: str = "") -> Iterator[tuple[Place, ast.AST, str]]:
    """Nodes that may be broken, how to get to each, and the function each is in."""
    if _left_alone(node):
        return
    if isinstance(node, ast.expr | ast.stmt):
        yield place, node, function
    if isinstance(node, ast.Raise | ast.JoinedStr):
        return
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        function = f"{function}.{node.name}".lstrip(".")
    for field, value in ast.iter_fields(node):
        if field in ("annotation", "returns", "decorator_list", "type_params", "bases"):
            continue
        if isinstance(value, ast.AST):
            yield from _breakable(value, (*place, (field, None)), function)
        elif isinstance(value, list):
            for at, part in enumerate(value):
                if isinstance(part, ast.AST):
                    yield from _breakable(part, (*place, (field, at)), function)


def _left_alone(node: ast.AST) -> bool:
    if isinstance(node, ast.If):
        return ast.unparse(node.test) == "TYPE_CHECKING"
    if isinstance(node, ast.Assign):
        return any(isinstance(target, ast.Name) and target.id == "__all__" for target in node.targets)
    return isinstance(node, ast.Import | ast.ImportFrom | ast.Assert)


def _breaks(node: ast.AST) -> Iterator[ast.AST]:  # noqa: PLR0912 - a table, written as cases
    """The ways to break one node."""
    match node:
        case ast.Compare(left, [operator], right):
            for other in COMPARISONS[type(operator)]:
                yield ast.Compare(left, [other()], right)
        case ast.Compare(left, [first, *others], right):
            for other in COMPARISONS[type(first)]:
                yield ast.Compare(left, [other(), *others], right)
        case ast.BinOp(left, operator, right) if type(operator) in OPERATIONS:
            yield ast.BinOp(left, OPERATIONS[type(operator)](), right)
        case ast.AugAssign(target, operator, value) if type(operator) in OPERATIONS:
            yield ast.AugAssign(target, OPERATIONS[type(operator)](), value)
            yield ast.Pass()
        case ast.BoolOp(operator, values):
            yield ast.BoolOp(ast.Or() if isinstance(operator, ast.And) else ast.And(), values)
        case ast.UnaryOp(ast.Not() | ast.USub() | ast.Invert(), operand):
            yield operand
        case ast.Constant(bool(value)):
            yield ast.Constant(not value)
        case ast.Constant(int(value) | float(value)):
            yield ast.Constant(value + 1)
            yield ast.Constant(value - 1)
        case ast.Constant(bytes(value)) if value:
            yield ast.Constant(value + b"!")
        case ast.IfExp(test, body, orelse):
            yield ast.IfExp(ast.UnaryOp(ast.Not(), test), body, orelse)
        case ast.If(test, body, orelse) | ast.While(test, body, orelse):
            yield type(node)(ast.UnaryOp(ast.Not(), test), body, orelse)
        case ast.Return(ast.expr() as value) if not (isinstance(value, ast.Constant) and value.value is None):
            yield ast.Return(ast.Constant(None))
        case ast.Raise() | ast.Expr(ast.Call()):
            yield ast.Pass()
        case ast.Call(function, [first, second, *others], keywords) if _order_matters(function, first, second):
            yield ast.Call(function, [second, first, *others], keywords)
        case ast.Name(name, context) if name in OPPOSITES and isinstance(context, ast.Load):
            yield ast.Name(OPPOSITES[name], context)
        case ast.Attribute(value, name, context) if name in OPPOSITES:
            yield ast.Attribute(value, OPPOSITES[name], context)


def is_docstring(node: ast.stmt) -> bool:
    """Whether a statement is nothing but a constant."""
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _order_matters(function: ast.expr, first: ast.expr, second: ast.expr) -> bool:
    """Whether two arguments that change places may change the result."""
    name = getattr(function, "attr", getattr(function, "id", ""))
    return name not in SYMMETRIC and not isinstance(first, ast.Starred) and not isinstance(second, ast.Starred)


def _put(tree: ast.AST, place: Place, node: ast.AST) -> None:
    """Replace the node at a place."""
    for field, at in place[:-1]:
        value = getattr(tree, field)
        tree = value if at is None else value[at]
    field, at = place[-1]
    if at is None:
        setattr(tree, field, node)
    else:
        getattr(tree, field)[at] = node
