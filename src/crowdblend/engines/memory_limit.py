"""How much memory a release may take, and the refusal of more."""

from __future__ import annotations

import re
from typing import NoReturn

from crowdblend.errors import InvalidInput

TOO_LITTLE_MEMORY = (
    "memory in [release] must be enough to read and group the data, and is not. Raise it, or coarsen the columns."
)
_UNITS = {"k": 1, "m": 2, "g": 3, "t": 4}


def bytes_of(memory: str | None) -> int | None:
    """A size such as "1.5GB" in bytes."""
    if memory is None:
        return None
    number, unit, binary = re.fullmatch(r"([0-9.]+)\s?([KMGT])(i?)B", memory, re.IGNORECASE).groups()  # type: ignore[union-attr]
    return int(float(number) * (1024 if binary else 1000) ** _UNITS[unit.lower()])


def refuse_memory() -> NoReturn:
    """The result does not fit the memory that the steward allows."""
    raise InvalidInput(TOO_LITTLE_MEMORY)


def refuse_beyond(memory_limit: int | None, needed: int) -> None:
    """Refuse to hold more than the steward allows."""
    if memory_limit is not None and needed > memory_limit:
        refuse_memory()
