"""Names of populations that a reader takes for one another, so that a limit of one is no limit of the other."""

from __future__ import annotations

import re
import unicodedata

from crowdblend.errors import Refused
from crowdblend.ledger.identity import UNNAMED
from crowdblend.ledger.summary import Summary

# Letters of other scripts, and digits, that look like Latin letters in most typefaces: those with which a word in
# Latin letters could be written anew. All are in Unicode's list of confusable characters (UTS 39).
_LOOKS_LIKE = str.maketrans(
    "АВЕЅІЈКМНОРСТУХԚԜаеіјорсухѕԁԛԝһⅼѵΑΒΕΖΗΙΚΜΝΟΡΤΥΧονρυιαγκτ01I|ıɑɡɩʋ",
    "ABESIJKMHOPCTYXQWaeijopcyxsdqwhlvABEZHIKMNOPTYXovpuiayktollliagiv",
)
_BETWEEN = re.compile(r"[\W_]+")


def look_alike(name: str) -> tuple[str, str]:
    """Two spellings of a name; names are taken for one another where either is equal.

    The first one forgets capitals, the forms of letters and what stands between words, the second one also of which
    script the letters are.

    >>> look_alike("New-Town_")[0] == look_alike("new town")[0]
    True
    """
    plain = unicodedata.normalize("NFKC", name)
    return _bare(plain), _bare(unicodedata.normalize("NFKC", plain.translate(_LOOKS_LIKE)))


def refuse_look_alike(name: str, summary: Summary) -> None:
    """Refuse a new name that is easily taken for one that the ledger has."""
    known = known_names(summary)
    if name in known or name.startswith(UNNAMED):
        return
    new = look_alike(name)
    for other in known:
        if any(one == two for one, two in zip(new, look_alike(other), strict=True)):
            raise Refused(
                f"the ledger has a population {other!r}, and {name!r} is easily taken for it.",
                remedy=f"Write {other!r} if these are the same people, else choose a name that reads differently.",
                where="population",
                code="population.look-alike",
            )


def known_names(summary: Summary) -> tuple[str, ...]:
    """Every population that something was released about or stated of."""
    stated = summary.stated
    pairs = (name for one in stated.overlaps for name in (one.population, one.other))
    return tuple(dict.fromkeys([*summary.populations(), *stated.limits, *stated.descriptions, *pairs]))


def _bare(text: str) -> str:
    return _BETWEEN.sub(" ", text.casefold()).strip()
