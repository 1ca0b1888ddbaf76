"""Refusals of a policy: the error, the nearest known name, the place, and a value as TOML.

They are in the words of the caller: in Python sections are arguments, and designs and kinds are classes.
"""

from __future__ import annotations

import datetime
import numbers
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from decimal import Decimal
from types import NoneType
from typing import TypeVar

from crowdblend.errors import CrowdblendError, InvalidInput
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
        raise refusal(code, f"{where}: {error.message}", error.remedy, where) from None


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


_READING_TOML: ContextVar[bool] = ContextVar("reading TOML", default=False)
# Arguments of Policy itself have no section in Python.
_OWN = r"\[(?:privacy|data|release)\]"
_RULES: tuple[tuple[str, str], ...] = (
    (r"section \[(\w+)\]", r"\1"),
    (rf" (?:in|to|of|from) {_OWN}", ""),
    (rf"{_OWN} (has|needs|accepts|takes|is)\b", r"Policy \1"),
    (rf"{_OWN} (?=[a-z])", ""),
    (_OWN, "Policy"),
    (r"\[\[publish\.(\w+)\]\]", r"\1"),
    (r"\[\[publish\]\]", "publish"),
    (r"\[sampling\] has sampling=", "Policy has sampling="),
    (r"\[(sampling|columns|recoding|about)\]", r"\1"),
    (r"\b([a-z_]+) = true\b", r"\1=True"),
    (r"\b([a-z_]+) = false\b", r"\1=False"),
    (r"\b([a-z_]+) = (?=[\"\[{])", r"\1="),
    (r"\b(Write|Add|write|add|or) ([a-z_]+) = ", r"\1 \2="),
    # Commands and their options.
    (r"--engine ([a-z]+)", r'engine="\1"'),
    (r"crowdblend check\b", "check(data, policy)"),
    (r"crowdblend ledger show ([0-9]+)", r"Ledger.entry(\1)"),
    (r"crowdblend ledger list", "Ledger.entries()"),
    (r"crowdblend ledger (overlap|distinct) (\S+|'[^']*') ('[^']*')", r"Ledger.\1(\2, \3)"),
)


def in_python(text: str) -> str:
    """Return a sentence about a policy file in the words of Python.

    >>> in_python('Write design = "poisson" in [sampling], or kind = "outlier-table"; rate in [sampling] is 2.')
    'Write sampling=Poisson(…), or OutlierTable; rate in sampling is 2.'
    >>> in_python('The shares in [[publish]] add up to 1.4. Add epsilon to [privacy], or write split = "people".')
    'The shares in publish add up to 1.4. Add epsilon, or write split="people".'
    >>> in_python("To see them: crowdblend check. Or: crowdblend ledger overlap 'a town' 'b'.")
    "To see them: check(data, policy). Or: Ledger.overlap('a town', 'b')."
    """
    if not re.search(r"\[+[a-z]| = |--engine|crowdblend ", text):  # no rule finds anything
        return text
    text = re.sub(
        r'design = "([a-z]+)"(?: in \[sampling\])?', lambda found: f"sampling={found[1].capitalize()}(…)", text
    )
    text = re.sub(r'kind = "([a-z-]+)"', lambda found: found[1].title().replace("-", ""), text)
    for notation, words in _RULES:
        text = re.sub(notation, words, text)
    return text


@contextmanager
def speaking_python(speaks: bool = True) -> Iterator[None]:
    """Say what is refused in the words of Python, unless a policy file is read."""
    try:
        yield
    except CrowdblendError as error:
        if speaks and not _READING_TOML.get():
            error.message, error.remedy = in_python(error.message), in_python(error.remedy)
            error.where = error.where and error.where.removeprefix("--")
        raise


def is_reading_toml() -> bool:
    """Return whether a policy file is read."""
    return _READING_TOML.get()


@contextmanager
def reading_toml() -> Iterator[None]:
    """Keep the words of policy files while one is read."""
    before = _READING_TOML.set(True)
    try:
        yield
    finally:
        _READING_TOML.reset(before)
