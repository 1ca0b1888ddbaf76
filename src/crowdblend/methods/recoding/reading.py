"""Reading of raw values as text, number or date: once in Python, once in SQL.

The Python side is the definition; the SQL side (DuckDB's dialect) must give the same answer for every text.

- *blank*: NULL, or nothing but ASCII white space. A blank is no value, whatever the column is.
- *number*: an ASCII decimal, optionally signed and with an exponent, white space around it allowed. It means the
  nearest double, which is also what a numeric column holds. NaN and the infinities, thousands separators, underscores,
  hexadecimal and the digits of other scripts are no numbers.
- *date*: YYYY-MM-DD in the years 0001 to 9999, white space around it allowed, a time of day after it ignored. A moment
  with a time zone or an offset falls on other days in other zones: it is no date, and `has_zone` tells it from others.
"""

from __future__ import annotations

import math
import re
from datetime import date
from decimal import Decimal
from fractions import Fraction
from typing import TypeAlias

from crowdblend.errors import InvalidInput

Number: TypeAlias = int | float | Decimal

SPACES = " \t\n\v\f\r"
_SPACES_SQL = r"E' \t\n\x0B\f\r'"
_NUMBER = re.compile(r"[ \t\n\v\f\r]*[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?[ \t\n\v\f\r]*")
_SPACE = r"[ \t\n\x0B\f\r]*"
_TIME = r"([ T][0-9]{2}:[0-9]{2}(:[0-9]{2}(\.[0-9]+)?)?)?"
_DATE = rf"{_SPACE}[0-9]{{4}}-[0-9]{{2}}-[0-9]{{2}}{_TIME}{_SPACE}"
# A time of day, in whatever notation of dates, or a plain date, and then a zone.
_OFFSET = r"[+-][0-9]{1,2}(:?[0-9]{2}){0,2}|[Zz]|UTC|GMT|[A-Za-z]+/[A-Za-z_/+-]+"
_MOMENT = rf".*[0-9]:[0-9]{{2}}([:.,][0-9]+)*[ ]?({_OFFSET})(\[.*\])?"
_ZONED = rf"({_MOMENT}|{_SPACE}[0-9]{{4}}-[0-9]{{2}}-[0-9]{{2}}(Z|[+-][0-9]{{2}}:[0-9]{{2}})){_SPACE}"
FIRST_DAY, LAST_DAY = date.min, date.max


def quote(text: str) -> str:
    """Return a text as an SQL literal."""
    return "'" + text.replace("'", "''") + "'"


def double(value: float) -> str:
    """Return a finite double as an SQL literal that is read back as the same double."""
    return f"CAST('{value!r}' AS DOUBLE)"


def is_blank(value: str | None) -> bool:
    """Return whether there is no value: NULL, or white space only."""
    return value is None or not value.strip(SPACES)


def blank_sql(column: str, typed: bool = False) -> str:
    """Return SQL for whether there is no value; a typed column can only be NULL."""
    if typed:
        return f"{column} IS NULL"
    return f"({column} IS NULL OR trim(CAST({column} AS VARCHAR), {_SPACES_SQL}) = '')"


def seen_sql(column: str) -> str:
    """Return SQL for whether there is a value; the first byte decides for most texts."""
    text = f"CAST({column} AS VARCHAR)"
    return f"({text} >= '!' OR trim({text}, {_SPACES_SQL}) <> '')"


def number(value: str | None) -> float | None:
    """Return the finite double that a text means, or None.

    >>> number(" 1e2 "), number("1_000"), number("NaN")
    (100.0, None, None)
    """
    if value is None or not _NUMBER.fullmatch(value):
        return None
    read = float(value)
    return read if math.isfinite(read) else None


def number_sql(column: str, typed: bool = False) -> str:
    """Return SQL for the double that a column means; it may still be NaN or infinite, so bound it on both sides.

    DuckDB reads 1_000 and +-5 as numbers; the two conditions exclude them.
    """
    if typed:
        return f"CAST({column} AS DOUBLE)"
    text = f"CAST({column} AS VARCHAR)"
    return f"CASE WHEN NOT contains({text}, '_') AND NOT contains({text}, '+-') THEN TRY_CAST({text} AS DOUBLE) END"


def day(value: str | None) -> date | None:
    """Return the date that a text means, or None.

    >>> day("2024-02-29T12:00:00"), day("2024-02-29T12:00:00Z"), day("2023-02-29")
    (datetime.date(2024, 2, 29), None, None)
    """
    if value is None or not re.fullmatch(_DATE, value):
        return None
    try:
        return date.fromisoformat(value.strip(SPACES)[:10])
    except ValueError:
        return None


def day_sql(column: str, typed: bool = False) -> str:
    """Return SQL for the date that a column means; it may still lie outside the years 0001 to 9999.

    A text that is a date written back needs no pattern, which is several times as fast.
    """
    if typed:
        return f"CAST({column} AS DATE)"
    text = f"CAST({column} AS VARCHAR)"
    plain = f"TRY_CAST({text} AS DATE)"
    trimmed = f"left(trim({text}, {_SPACES_SQL}), 10)"
    return (
        f"CASE WHEN CAST({plain} AS VARCHAR) = {text} THEN {plain} "
        f"WHEN regexp_full_match({text}, {quote(_DATE)}) THEN TRY_CAST({trimmed} AS DATE) END"
    )


def has_zone(text: str) -> bool:
    """Return whether a text is a moment, or a day, with a time zone or an offset.

    >>> has_zone("2019-12-31T23:30:00-05:00"), has_zone("2019-12-31 23:30"), has_zone("2019-12-31")
    (True, False, False)
    """
    return re.fullmatch(_ZONED, text) is not None


def zone_sql(column: str) -> str:
    """Return SQL for whether a text, as it is in the data, is a moment with a time zone or an offset."""
    return f"regexp_full_match(CAST({column} AS VARCHAR), {quote(_ZONED)})"


def exact(name: str, value: Number) -> Decimal:
    """Return the decimal number that was declared: 0.1 is a tenth, not the double beside it."""
    read = Decimal(repr(value)) if isinstance(value, float) else Decimal(value)
    if not read.is_finite() or abs(read.adjusted()) > 300:
        reason = f"{name} must be finite, and 0 or between 1e-300 and 1e300 in size, got {value}."
        raise InvalidInput(f"{reason} Declare the number that applies.", where=name, code="recoding.number")
    return read


def exact_range(
    start: Number, stop: Number, step: Number, *, unit: str, most: int
) -> tuple[Fraction, Fraction, Fraction]:
    """Return bounds and step of a declared grid; refuses what is no whole number of steps, or more than `most`.

    `unit` is the key that declares the step.
    """
    named = (("from", start), ("to", stop), (unit, step))
    low, high, each = (Fraction(exact(name, value)) for name, value in named)
    given = ", ".join(f"{name} {value}" for name, value in named)
    if each <= 0 or low >= high:
        remedy = f"Write a {unit} above 0" if each <= 0 else "Swap from and to" if low > high else "Write a larger to"
        message = f"from must be below to and {unit} above 0, got {given}. {remedy}."
        raise InvalidInput(message, where="from", code="recoding.order")
    if (high - low) % each:
        end = float(low + math.ceil((high - low) / each) * each)
        message = f"to - from must be a whole number of {unit}s, got {given}. Write `to = {end:.15g}`, or use breaks."
        raise InvalidInput(message, where="to", code="recoding.step")
    if (high - low) / each > most:
        message = f"to - from may be at most {most:,} {unit}s, got {given}. Use a larger {unit}."
        raise InvalidInput(message, where=unit, code="recoding.size")
    return low, high, each


def plain(value: Number) -> int | float:
    """Return a declared number for JSON: an int where it is whole, else the nearest double."""
    read = exact("a number", value)
    return int(read) if read == read.to_integral_value() and abs(read) < 2**53 else float(read)


def plain_digits(value: Decimal) -> str:
    """Return a declared number as it appears in a label: plain digits, no exponent, no trailing zeros."""
    text = format(value if value else Decimal(0), "f")
    return text.rstrip("0").rstrip(".") if "." in text else text
