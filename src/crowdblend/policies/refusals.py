"""Refusals of a policy: the error, the nearest known name, the place, and a value as TOML."""

from __future__ import annotations

import datetime
import numbers
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from decimal import Decimal
from types import NoneType
from typing import TypeVar

from crowdblend.errors import CrowdblendError, InvalidInput
from crowdblend.notation import TOML
from crowdblend.trusted.guarantees.parameters import brief
from crowdblend.trusted.machine.lazy import lazy_imports

with lazy_imports():
    import difflib

Result = TypeVar("Result")
_LARGEST, _MOST_DIGITS = 10**300, 400


def refusal(code: str, message: str, remedy: str, where: str | None = None) -> InvalidInput:
    """Return an error about a policy; its code begins with `policy.`. Names in it are cut, and escaped: one line."""
    return InvalidInput(
        _cut(message, 400), remedy=_cut(remedy, 400), where=where and _cut(where, 200), code=f"policy.{code}"
    )


def _cut(text: str, most: int) -> str:
    plain = "".join(one if one.isprintable() else one.encode("unicode_escape").decode() for one in text)
    return plain if len(plain) <= most else plain[: most - 3] + "…."


def did_you_mean(name: str, known_names: Iterable[str]) -> str:
    """Return the remedy for an unknown name: the nearest known one, or all of them."""
    names = list(known_names)
    if not names:
        return "Remove it."
    near = difflib.get_close_matches(name.lower(), names, n=1)
    if near:
        return f"Did you mean {near[0]}?"
    return f"Use {', '.join(names[:20])}{' …' if len(names) > 20 else ''}."


def naming(where: str, build: Callable[[], Result]) -> Result:
    """Return the result, or raise the same refusal with the place it is about in front.

    What another layer refuses keeps its name, under `policy.`; a recoding that cannot be made is `policy.domain`.
    """
    try:
        return build()
    except InvalidInput as error:
        area, _, name = error.code.rpartition(".")
        code = "domain" if area == "recoding" or error.code == InvalidInput.usual_code else name
        message, remedy, _ = error.refusal
        raise refusal(code, f"{where}: {message}", remedy, where) from None


def problem_of(value: object, largest: int = _LARGEST) -> str | None:
    """Return what is wrong with a value whatever its key: a NUL, half a character, a number that no double holds."""
    if isinstance(value, Mapping | list | tuple):
        items = [*value, *value.values()] if isinstance(value, Mapping) else value
        return next(filter(None, (problem_of(item, largest) for item in items)), None)
    if isinstance(value, str):
        broken = any("\ud800" <= character <= "\udfff" for character in value)
        half = "holds half of a surrogate pair, which is not Unicode text" if broken else None
        return "holds a NUL character" if "\0" in value else half
    if not isinstance(value, int | Decimal):
        return None
    number = Decimal(value)
    if not number.is_finite():
        return "is not a finite number"
    long = isinstance(value, Decimal) and len(number.as_tuple().digits) > _MOST_DIGITS
    too_fine = int(number.as_tuple().exponent) < -_MOST_DIGITS
    return "is a number too large or with too many digits" if long or too_fine or abs(number) > largest else None


def show_value(value: object) -> str:
    """Return a given value in a message, as TOML writes it, cut where it is long."""
    text = _toml(value)
    return text if len(text) <= 60 else text[:57] + "…"


def _toml(value: object) -> str:
    if isinstance(value, Mapping):
        return "a table of keys"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_toml, value[:20]))}]"
    if isinstance(value, bool):
        return str(value).lower()
    return str(value) if isinstance(value, float | Decimal | datetime.date) else brief(value)


def plain_value(value: object) -> object:
    """Return a value of another library as Python's: numbers, paths, and lists and tables of them."""
    if isinstance(value, bool | int | str | Decimal | NoneType):
        return value
    if isinstance(value, Mapping):
        return {name: plain_value(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain_value(item) for item in value]
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if isinstance(value, numbers.Integral):
        return int(value)
    real = isinstance(value, numbers.Real) and not isinstance(value, numbers.Rational)
    return Decimal(repr(float(value))) if real else value  # type: ignore[arg-type]


@contextmanager
def written_in_toml() -> Iterator[None]:
    """Spell what is refused as the policy file has it that is read."""
    try:
        yield
    except CrowdblendError as error:
        error.notation = TOML
        raise
