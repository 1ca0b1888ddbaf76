"""Frozen dataclasses that cost little to define: what they do is the same, how they are made is not.

    from crowdblend.trusted.machine.frozen import dataclass

The standard library compiles six methods for every frozen class when it is defined, which for all classes here was a
fifth of a small release. Here comparing, hashing, showing and refusing to change are functions over the names of
fields, and `__init__`, made with the first value of a class, is one function under the names of that class's fields.
Fields, defaults and `replace` are the library's own.
"""

from __future__ import annotations

import dataclasses
import inspect
from operator import attrgetter
from reprlib import recursive_repr
from types import FunctionType
from typing import TYPE_CHECKING, Any, ClassVar

__all__ = ["dataclass"]

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from dataclasses import dataclass
else:

    def dataclass(cls=None, /, *, frozen=False, **options):
        """Return a class with the methods of a dataclass; one that is not frozen is the library's."""
        if not frozen:
            return dataclasses.dataclass(cls, **options)
        return _frozen(cls, **options) if cls is not None else lambda decorated: _frozen(decorated, **options)


def _frozen(cls: type, *, repr: bool = True, eq: bool = True, kw_only: bool = False) -> type:  # noqa: A002
    fields = _fields(cls, kw_only=kw_only)
    has_hash = cls.__dict__.get("__hash__") is not None
    _give(cls, "__init__", _Init(cls, fields))
    _give(cls, "__match_args__", tuple(field.name for field in fields if field.init and not field.kw_only))
    if repr:
        _give(cls, "__repr__", _repr_of([field.name for field in fields if field.repr]))
    if eq:
        _give(cls, "__eq__", _equal(_values([field.name for field in fields if field.compare])))
        if not has_hash:
            hashed = [field.name for field in fields if (field.compare if field.hash is None else field.hash)]
            setattr(cls, "__hash__", _hash(_values(hashed)))  # noqa: B010 - a class with __eq__ has None there
    names = frozenset(field.name for field in fields)
    for method, said in (("__setattr__", "assign to"), ("__delattr__", "delete")):
        _give(cls, method, _refusing(cls, names, method, said))
    return cls


def _fields(cls: type, *, kw_only: bool) -> list[dataclasses.Field[Any]]:
    """Find the fields of a class as the library does; a default becomes an attribute of the class."""
    found: dict[str, Any] = {}
    for base in reversed(cls.__mro__[1:]):
        found |= base.__dict__.get("__dataclass_fields__", {})
    for name, kind in inspect.get_annotations(cls).items():
        given = cls.__dict__.get(name, dataclasses.MISSING)
        field: Any = given if isinstance(given, dataclasses.Field) else dataclasses.field(default=given)
        field.name, field.type = name, kind
        field._field_type = _CONSTANT if str(kind).startswith(("ClassVar", "typing.ClassVar")) else _FIELD
        if field.kw_only is dataclasses.MISSING:
            field.kw_only = kw_only
        if field is given and field.default is dataclasses.MISSING:
            delattr(cls, name)
        elif field is given:
            setattr(cls, name, field.default)
        found[name] = field
    cls.__dataclass_fields__, cls.__dataclass_params__ = found, _PARAMETERS  # type: ignore[attr-defined]
    return [field for field in found.values() if field._field_type is _FIELD]


def _give(cls: type, name: str, method: object) -> None:
    """Give a class a method, unless it has its own."""
    if name not in cls.__dict__:
        setattr(cls, name, method)


@dataclasses.dataclass(frozen=True)
class _Example:
    """A class of the library, to see what it says of fields, of constants and of frozen classes."""

    field: int
    constant: ClassVar[int]


_FIELD, _CONSTANT = (getattr(one, "_field_type") for one in _Example.__dataclass_fields__.values())  # noqa: B009
_PARAMETERS = _Example.__dataclass_params__  # type: ignore[attr-defined]


class _Factory:
    """The default of an argument that is made anew for each value, as signatures show it."""

    def __repr__(self) -> str:
        return "<factory>"


_FACTORY = _Factory()


class _Init:
    """An `__init__` that is made when it is first asked for."""

    def __init__(self, cls: type, fields: Sequence[dataclasses.Field[Any]]) -> None:
        self._cls, self._fields = cls, fields

    def __get__(self, instance: object, owner: type) -> Any:
        made = _init(self._cls, self._fields)
        self._cls.__init__ = made  # type: ignore[misc]
        return made.__get__(instance, owner)


def _init(cls: type, fields: Sequence[dataclasses.Field[Any]]) -> FunctionType:
    """Return a function with the arguments of the class, which become its fields."""
    usual: dict[str, Any] = {}
    for field in fields:
        if field.default_factory is not dataclasses.MISSING:
            usual[field.name] = _FACTORY
        elif field.default is not dataclasses.MISSING:
            usual[field.name] = field.default
    plain = [field.name for field in fields if field.init and not field.kw_only]
    named = [field.name for field in fields if field.init and field.kw_only]
    code = _pattern.__code__.replace(
        co_name="__init__",
        co_qualname=f"{cls.__qualname__}.__init__",
        co_argcount=1 + len(plain),
        co_kwonlyargcount=len(named),
        co_nlocals=1 + len(plain) + len(named),
        co_varnames=("self", *plain, *named),
    )
    made = FunctionType(code, {"fill_": _filling(cls, fields)})
    made.__defaults__ = tuple(usual[name] for name in plain if name in usual)
    assert all(name in usual for name in plain[len(plain) - len(made.__defaults__) :]), "defaults come last"
    made.__kwdefaults__ = {name: usual[name] for name in named if name in usual}
    made.__annotations__ = {field.name: field.type for field in fields if field.init} | {"return": None}
    return made


fill_: Callable[[Any, dict[str, Any]], None]


def _pattern(self: Any) -> None:
    fill_(self, locals())  # noqa: F821 - each copy has its own


def _filling(cls: type, fields: Sequence[dataclasses.Field[Any]]) -> Callable[[Any, dict[str, Any]], None]:
    """Return what gives a new value its fields, and then calls `__post_init__`."""
    factories = [(one.name, one.default_factory) for one in fields if one.default_factory is not dataclasses.MISSING]
    has_more = hasattr(cls, "__post_init__")

    def fill(value: Any, values: dict[str, Any]) -> None:
        del values["self"]
        for name, factory in factories:
            if values.get(name, _FACTORY) is _FACTORY:
                values[name] = factory()
        value.__dict__.update(values)
        if has_more:
            value.__post_init__()

    return fill


def _values(names: Sequence[str]) -> Callable[[Any], tuple[Any, ...]]:
    """Return the function from a value to those of its fields."""
    if len(names) > 1:
        return attrgetter(*names)
    return (lambda value: (getattr(value, names[0]),)) if names else (lambda _: ())


def _equal(values: Callable[[Any], tuple[Any, ...]]) -> Callable[[Any, Any], Any]:
    def __eq__(self: Any, other: Any) -> Any:  # noqa: N807
        return values(self) == values(other) if other.__class__ is self.__class__ else NotImplemented

    return __eq__


def _hash(values: Callable[[Any], tuple[Any, ...]]) -> Callable[[Any], int]:
    def __hash__(self: Any) -> int:  # noqa: N807
        return hash(values(self))

    return __hash__


def _repr_of(names: Sequence[str]) -> Callable[[Any], str]:
    @recursive_repr()
    def __repr__(self: Any) -> str:  # noqa: N807
        return f"{self.__class__.__qualname__}({', '.join(f'{name}={getattr(self, name)!r}' for name in names)})"

    return __repr__


def _refusing(cls: type, names: frozenset[str], method: str, message: str) -> Callable[..., None]:
    """Return a method that refuses to change a field; a subclass may have other attributes."""

    def refuse(self: Any, name: str, *value: Any) -> None:
        if type(self) is cls or name in names:
            raise dataclasses.FrozenInstanceError(f"cannot {message} field {name!r}")
        getattr(super(cls, self), method)(name, *value)

    return refuse
