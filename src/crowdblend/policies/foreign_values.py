"""Values of other libraries as Python's own, before a key reads them."""

from __future__ import annotations

import numbers
import os
from collections.abc import Mapping
from decimal import Decimal
from types import NoneType


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
