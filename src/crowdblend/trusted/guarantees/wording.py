"""Numbers and closeness in words. A risk that is shown is never smaller than the one that was proved."""

from __future__ import annotations

import math
from collections.abc import Mapping
from decimal import ROUND_CEILING, ROUND_FLOOR, Context
from typing import Any


def at_most(value: float) -> str:
    """Return a bound to six digits, rounded up.

    >>> at_most(2.631783466225066e-11), at_most(0.1), at_most(1.0)
    ('2.63179e-11', '0.1', '1')
    """
    return _six_digits(value, ROUND_CEILING)


def at_least(value: float) -> str:
    """Return a floor to six digits, rounded down: a rate that is shown may be used.

    >>> at_least(0.18299999999)
    '0.182999'
    """
    return _six_digits(value, ROUND_FLOOR)


def _six_digits(value: float, rounding: str) -> str:
    return f"{float(Context(prec=6, rounding=rounding).create_decimal(repr(value))):.6g}"


def round_up(value: float, digits: int = 3) -> str:
    """Return a number to some digits, rounded up.

    >>> round_up(2.71828), round_up(9.24694e-07), round_up(0.1), round_up(12341.0), round_up(12341.2, digits=4)
    ('2.72', '9.25e-07', '0.1', '12,400', '12,350')
    """
    rounded = float(Context(prec=digits, rounding=ROUND_CEILING).create_decimal(repr(value)))
    return f"{rounded:,.0f}" if 10**digits <= rounded < 1e15 else f"{rounded:.{digits}g}"


def one_in(probability: float) -> str:
    """Return a probability as '1 in …', rounded up.

    >>> one_in(9.7e-07), one_in(0.3), one_in(0.9)
    ('1 in 1,030,000', '1 in 3', '0.9')
    """
    if probability > 0.5 or probability < 1e-15:
        return round_up(probability)
    among = math.floor(1 / probability * (1 - 1e-12))
    unit = 10 ** max(0, len(str(among)) - 3)
    return f"1 in {among // unit * unit:,}"


def three_digits(value: float) -> str:
    """Return a number of people to three digits, without an exponent.

    >>> three_digits(0.8509), three_digits(25.2313), three_digits(1054.2), three_digits(709_500.3)
    ('0.851', '25.2', '1,054', '709,500')
    """
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def exactly(value: object) -> str:
    """Return a stated number as short as it is exact.

    >>> exactly(0.1), exactly(1.0), exactly(20), exactly(1e-06)
    ('0.1', '1', '20', '1e-06')
    """
    return repr(value).removesuffix(".0") if isinstance(value, int | float) else str(value)


def fact(value: Any) -> str:
    """Return a fact of the certificate as text: numbers as short as they are exact, flags as yes and no.

    >>> fact(True), fact(False), fact(1200), fact(None)
    ('yes', 'no', '1,200', 'none')
    """
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


def close(epsilon: float, delta: float, otherwise: str) -> str:
    """Return a sentence about (ε, δ)-closeness for anything that may be published.

    >>> close(0.5, 1e-6, "without the person")
    'at most e^0.5 times what it would be without the person, plus 1e-06, and vice versa'
    """
    slack = f", plus {at_most(delta)}" if delta > 0 else ""
    return f"at most e^{at_most(epsilon)} times what it would be {otherwise}{slack}, and vice versa"
