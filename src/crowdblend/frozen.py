"""Frozen dataclasses that cost little to define: what they do is the same, how they are made is not.

    from crowdblend.frozen import dataclass

The standard library compiles six methods for every frozen class when it is defined, which for all classes here was a
fifth of a small release. Here comparing, hashing, showing and refusing to change are functions over the names of
fields, and `__init__` is compiled when the first value of a class is made. Fields, defaults and `replace` are the
library's own.
"""

from __future__ import annotations

import dataclasses
import inspect
from operator import attrgetter
from reprlib import recursive_repr
from typing import TYPE_CHECKING, Any

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
    """Find the fields of a class as the library does, on a class beside it that has no methods."""
    annotations = inspect.get_annotations(cls)
    own = {name: cls.__dict__[name] for name in annotations if name in cls.__dict__}
    said = {"__annotations__": annotations, "__module__": cls.__module__, "__doc__": cls.__name__}
    beside = type(cls.__name__, (), {**own, **said})
    dataclasses.dataclass(init=False, repr=False, eq=False, kw_only=kw_only, match_args=False)(beside)
    found: dict[str, dataclasses.Field[Any]] = {}
    for base in reversed(cls.__mro__[1:]):
        found |= base.__dict__.get("__dataclass_fields__", {})
    found |= beside.__dict__["__dataclass_fields__"]
    for name in own:  # the library moves a default out of `field(…)`, and leaves nothing where there is none
        if name in beside.__dict__:
            setattr(cls, name, beside.__dict__[name])
        else:
            delattr(cls, name)
    parameters = beside.__dict__["__dataclass_params__"]
    parameters.frozen, parameters.eq = True, True  # the library asks the same of subclasses
    cls.__dataclass_fields__, cls.__dataclass_params__ = found, parameters  # type: ignore[attr-defined]
    return list(dataclasses.fields(cls))


def _give(cls: type, name: str, method: object) -> None:
    """Give a class a method, unless it has its own."""
    if name not in cls.__dict__:
        setattr(cls, name, method)


class _Init:
    """An `__init__` that is compiled when it is first asked for."""

    def __init__(self, cls: type, fields: Sequence[dataclasses.Field[Any]]) -> None:
        self._cls, self._fields = cls, fields

    def __get__(self, instance: object, owner: type) -> Any:
        made = _init(self._cls, self._fields)
        self._cls.__init__ = made  # type: ignore[misc]
        return made.__get__(instance, owner)


def _init(cls: type, fields: Sequence[dataclasses.Field[Any]]) -> Callable[..., None]:
    """Compile what sets the fields, in their order, and then calls `__post_init__`."""
    known: dict[str, Any] = {"set_": object.__setattr__, "absent_": dataclasses.MISSING}
    plain, named, lines = ["self"], list[str](), list[str]()
    for field in fields:
        value = field.name
        if field.default_factory is not dataclasses.MISSING:
            known[f"made_{field.name}"] = field.default_factory
            fresh = f"made_{field.name}()"
            value = f"{fresh} if {field.name} is absent_ else {field.name}" if field.init else fresh
            default = "=absent_"
        elif field.default is not dataclasses.MISSING:
            known[f"usual_{field.name}"] = field.default
            default = f"=usual_{field.name}"
        else:
            default = ""
        if field.init:
            (named if field.kw_only else plain).append(f"{field.name}{default}")
        elif field.default_factory is dataclasses.MISSING:
            continue  # the default of the class is what it has
        lines.append(f"set_(self, {field.name!r}, {value})")
    if hasattr(cls, "__post_init__"):
        lines.append("self.__post_init__()")
    arguments = ", ".join([*plain, *(["*", *named] if named else [])])
    exec(f"def __init__({arguments}):\n " + "\n ".join(lines or ["pass"]), known)
    made: Callable[..., None] = known["__init__"]
    made.__qualname__ = f"{cls.__qualname__}.__init__"
    made.__annotations__ = {field.name: field.type for field in fields if field.init} | {"return": None}
    return made


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
