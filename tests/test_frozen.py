"""Frozen dataclasses that are cheap to define do what those of the standard library do."""

from __future__ import annotations

import dataclasses
import inspect
import pickle
from collections.abc import Callable
from dataclasses import field, replace
from functools import cached_property
from typing import Any, ClassVar

import pytest

from crowdblend.trusted.machine import frozen
from tests.cases import for_each

Decorator = Callable[..., Any]
Use = Callable[[dict[str, Any]], object]


def classes(decorated: Decorator) -> dict[str, Any]:
    """Classes with everything that ours have, made by one of the two decorators."""

    @decorated(frozen=True)
    class Plain:
        """A value."""

        first: int
        second: str = "two"
        third: list[int] = field(default_factory=list)
        unseen: float = field(default=0.5, repr=False, compare=False)
        limit: ClassVar[int] = 7

        @cached_property
        def twice(self) -> int:
            return 2 * self.first

    @decorated(frozen=True)
    class Derived(Plain):
        """One more field, and another default of an old one."""

        second: str = "deux"
        fourth: tuple[int, ...] = ()

        def __post_init__(self) -> None:
            if self.first < 0:
                raise ValueError

    @decorated(frozen=True, kw_only=True)
    class Named:
        """All by name."""

        first: int
        second: int = field(default=3, hash=False)
        derived: int = field(init=False, default=9)

    @decorated(frozen=True, repr=False, eq=False)
    class Itself:
        """Compared by identity."""

        first: int

    @decorated(frozen=True)
    class Own:
        """Methods of its own."""

        first: int

        def __repr__(self) -> str:
            return "own"

        def __eq__(self, other: object) -> bool:
            return True

        def __hash__(self) -> int:
            return 5

    @decorated(frozen=True)
    class Empty:
        """Nothing."""

    @decorated(frozen=True)
    class Single:
        """One field, which may be no number."""

        first: float

    return {one.__name__: one for one in (Plain, Derived, Named, Itself, Own, Empty, Single)}


OURS, THEIRS = classes(frozen.dataclass), classes(dataclasses.dataclass)
USES: dict[str, Use] = {
    "shown": lambda known: repr(known["Derived"](1, third=[4])).partition(".")[2],
    "shown by itself": lambda known: repr(known["Own"](1)),
    "shown as nothing": lambda known: repr(known["Empty"]()).rpartition(".")[2],
    "equal": lambda known: known["Plain"](1) == known["Plain"](1, "two", [], 0.25),
    "unequal": lambda known: known["Plain"](1) == known["Plain"](1, "three"),
    "of another class": lambda known: known["Derived"](1, "two") == known["Plain"](1),
    "by identity": lambda known: known["Itself"](1) == known["Itself"](1),
    "by its own comparison": lambda known: known["Own"](1) == known["Own"](2),
    "empty ones": lambda known: known["Empty"]() == known["Empty"](),
    "hash": lambda known: hash(known["Named"](first=1, second=2)),
    "hash of its own": lambda known: hash(known["Own"](1)),
    "hash of one": lambda known: hash(known["Single"](0.5)),
    "fields": lambda known: [
        (one.name, one.type, one.default is dataclasses.MISSING, one.init, one.kw_only)
        for one in dataclasses.fields(known["Derived"])
    ],
    "signature": lambda known: [
        (one.name, one.kind, one.annotation) for one in inspect.signature(known["Derived"]).parameters.values()
    ],
    "by name only": lambda known: str(inspect.signature(known["Named"])),
    "as a dict": lambda known: dataclasses.asdict(known["Derived"](1, third=[2])),
    "patterns": lambda known: [one.__match_args__ for one in known.values()],
    "defaults of the class": lambda known: (known["Plain"].second, known["Derived"].second, known["Plain"].limit),
    "no default of a factory": lambda known: hasattr(known["Plain"], "third"),
    "a new list each": lambda known: known["Plain"](1).third is known["Plain"](1).third,
    "replaced": lambda known: (changed := replace(known["Derived"](1), fourth=(2,)), changed.first, changed.fourth)[1:],
    "not given": lambda known: known["Named"](first=1).derived,
    "computed once": lambda known: known["Plain"](4).twice,
    "parameters": lambda known: known["Plain"].__dataclass_params__.frozen,
}
REFUSED: dict[str, Use] = {
    "assigned": lambda known: setattr(known["Plain"](1), "first", 2),
    "deleted": lambda known: delattr(known["Derived"](1), "first"),
    "another attribute": lambda known: setattr(known["Plain"](1), "other", 2),
    "missing argument": lambda known: known["Plain"](),
    "unknown argument": lambda known: known["Plain"](1, fifth=2),
    "too many arguments": lambda known: known["Single"](1, 2),
    "by position": lambda known: known["Named"](1),
    "not to be given": lambda known: known["Named"](first=1, derived=2),
    "after it was set": lambda known: known["Derived"](-1),
}


@for_each(("what", "use"), USES.items())
def test_a_value_is_used_as_that_of_the_library(what: str, use: Use) -> None:
    assert use(OURS) == use(THEIRS)


def test_values_of_one_object_are_equal_on_every_python() -> None:
    """The library compares what is no number by identity up to Python 3.12, and not after."""
    not_a_number = float("nan")
    assert OURS["Single"](not_a_number) == OURS["Single"](not_a_number)
    assert OURS["Single"](not_a_number) != OURS["Single"](float("nan"))


@for_each(("what", "use"), REFUSED.items())
def test_the_same_is_refused(what: str, use: Use) -> None:
    with pytest.raises((AttributeError, TypeError, ValueError)) as theirs:
        use(THEIRS)
    with pytest.raises(theirs.type):
        use(OURS)


def test_classes_of_either_derive_from_those_of_the_other() -> None:
    """A kind in another distribution derives its facts from ours with the standard library."""

    ours: Any = OURS["Plain"]
    theirs: Any = THEIRS["Plain"]

    @dataclasses.dataclass(frozen=True)
    class Theirs(ours):
        more: int = 0

    @frozen.dataclass(frozen=True)
    class Ours(theirs):
        more: int = 0

    for made in (Theirs(1, more=2), Ours(1, more=2)):
        assert (made.first, made.second, made.more) == (1, "two", 2)
        with pytest.raises(dataclasses.FrozenInstanceError):
            made.first = 2


@frozen.dataclass(frozen=True)
class Kept:
    """A value that is sent to another process."""

    first: int
    second: tuple[int, ...] = ()


def test_a_value_survives_pickling() -> None:
    assert pickle.loads(pickle.dumps(Kept(1, (2,)))) == Kept(1, (2,))


def test_what_is_not_frozen_is_a_class_of_the_library() -> None:
    @frozen.dataclass
    class Open:
        first: int = 1

    opened = Open()
    opened.first = 2
    assert opened == Open(2)
