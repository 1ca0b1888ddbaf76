"""Ways of looking at an output: each makes it one of not too many outcomes, which is post-processing."""

from __future__ import annotations

import math
from collections.abc import Mapping
from hashlib import blake2b
from itertools import pairwise
from typing import Any

_LONGEST = 80
_ENTRIES = 8
_DOUBLE = 53


def views_of(output: Any) -> dict[str, str]:
    """Several looks at numbers, tuples of numbers and tables; whatever it is, the whole of it is one of them.

    >>> views_of((3, 5))
    {'all of it': '(3, 5)', 'sum': '8', 'steps': '2', 'entry 0': '3', 'entry 1': '5'}
    """
    views = {"all of it": brief(output)}
    if isinstance(output, float):
        views |= _of_double(output)
    elif isinstance(output, Mapping):
        views |= {f"cell {name}": brief(value) for name, value in list(output.items())[:_ENTRIES]}
    elif isinstance(output, tuple | list) and output and all(isinstance(entry, int | float) for entry in output):
        views["sum"] = brief(sum(output))
        views["steps"] = ", ".join(brief(after - before) for before, after in pairwise(output[: _ENTRIES + 1]))
        views |= {f"entry {place}": brief(entry) for place, entry in enumerate(output[:_ENTRIES])}
    return views


def brief(value: Any) -> str:
    """A value as text, or as the hash of a long one."""
    text = value.hex() if isinstance(value, bytes) else str(value)
    return text if len(text) <= _LONGEST else blake2b(text.encode(), digest_size=12).hexdigest()


def _of_double(value: float) -> dict[str, str]:
    """Where a double lies, and how fine it is: its exponent and the bits that its mantissa needs.

    Noise in floating point lands on grids that depend on the number it was added to, and this view sees grids.
    """
    if not math.isfinite(value):
        return {}
    mantissa, exponent = math.frexp(value)
    whole = abs(int(mantissa * 2**_DOUBLE))
    needed = _DOUBLE - ((whole & -whole).bit_length() - 1) if whole else 0
    return {"place": str(math.floor(value * 4)), "grid": f"{math.floor(value * 4)}, 2^{exponent - needed}"}
