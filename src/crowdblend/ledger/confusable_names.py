"""Names of populations that are easily taken for one another: a limit of one would be no limit of the other."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

from crowdblend.errors import Refused
from crowdblend.ledger.identity import UNNAMED

_BETWEEN = re.compile(r"[\W_]+")


def spelling(name: str) -> str:
    """Return a name without capitals, the forms of letters and what stands between words.

    >>> spelling("New-Town_") == spelling("new town")
    True
    """
    return _BETWEEN.sub(" ", unicodedata.normalize("NFKC", name).casefold()).strip()


def refuse_confusable(name: str, known: Iterable[str]) -> None:
    """Refuse a new name that is easily taken for a known one."""
    names = dict.fromkeys(known)
    if name in names or name.startswith(UNNAMED):
        return
    for other in names:
        if spelling(name) == spelling(other):
            raise Refused(
                f"The ledger has a population {other!r}, and {name!r} is easily taken for it.",
                remedy=f"Write {other!r} if these are the same people, else choose a name that reads differently.",
                where="population",
                code="population.look-alike",
            )
