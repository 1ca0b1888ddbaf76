"""Ids that were rounded: large numbers as floating-point numbers, or as texts that programs write for such.

Several people may have the same one then. And since some ids stay what they were, few enough to be those of another
sample, the ledger would take a second release of the same people for one of others.
"""

from __future__ import annotations

from crowdblend.errors import InvalidInput
from crowdblend.sources.engines.engine import ColumnType
from crowdblend.sources.engines.refusals import at_column, refusal

# Beyond, floating-point numbers of 64 and of 32 bits leave whole numbers out.
_EXACT, _EXACT_SINGLE = 2**53, 2**24
# 1.2345678901234568e+17 of most programs, 1.2345678901234568E17 of Java; no hexadecimal number has a sign or a point.
_EXPONENT = r"-?[0-9]+(\.[0-9]+[eE]\+?|[eE]\+)[0-9]+"


def rounded_sql(identifier: str, kind: ColumnType) -> str | None:
    """Return SQL that says whether an id was rounded; None where no id of the type was."""
    if kind is ColumnType.DOUBLE:
        return f"abs({identifier}) > {_EXACT}"
    if kind is ColumnType.SINGLE:
        return f"abs({identifier}) > {_EXACT_SINGLE}"
    if kind is ColumnType.TEXT:
        number = f"TRY_CAST({identifier} AS DOUBLE)"
        return f"regexp_full_match({identifier}, '{_EXPONENT}') AND abs({number}) > {_EXACT}"
    return None


def rounded_ids(name: str) -> InvalidInput:
    """Return the refusal of such ids."""
    message = f"Column {name!r} has ids that were rounded: large numbers as floating-point numbers."
    remedy = "Read them where they come from as whole numbers, decimals or texts of all their digits."
    return refusal("rounded-ids", message, remedy, at_column(name))
