"""Numbers as a page prints them. Risks are rounded up: none is ever printed smaller than it is."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from decimal import ROUND_CEILING, Context
from typing import Any


def round_up(value: float) -> str:
    """A number to three digits, rounded up.

    >>> round_up(2.71828), round_up(9.24694e-07), round_up(0.1), round_up(12341.0)
    ('2.72', '9.25e-07', '0.1', '12,400')
    """
    rounded = float(Context(prec=3, rounding=ROUND_CEILING).create_decimal(repr(value)))
    return f"{rounded:,.0f}" if 1000 <= rounded < 1e15 else f"{rounded:.3g}"


def one_in(probability: float) -> str:
    """A probability as '1 in …', rounded up.

    >>> one_in(9.7e-07), one_in(0.3), one_in(0.9)
    ('1 in 1,030,000', '1 in 3', '0.9')
    """
    if probability > 0.5 or probability < 1e-15:
        return round_up(probability)
    among = math.floor(1 / probability * (1 - 1e-12))
    unit = 10 ** max(0, len(str(among)) - 3)
    return f"1 in {among // unit * unit:,}"


def fact(value: Any) -> str:
    """A fact of the certificate as text: numbers as short as they are exact, flags as yes and no."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if value is None:
        return "none"
    if isinstance(value, Mapping):
        return ", ".join(f"{name}: {fact(one)}" for name, one in value.items()) or "none"
    if isinstance(value, list | tuple):
        return ", ".join(map(fact, value)) or "none"
    return repr(value) if isinstance(value, float) else str(value)


def enumeration(names: Iterable[str]) -> str:
    """Names as one says them.

    >>> enumeration(["age", "sex", "region"])
    'age, sex and region'
    """
    *first, last = names
    return f"{', '.join(first)} and {last}" if first else last
