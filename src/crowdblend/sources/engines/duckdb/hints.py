"""Hints about values outside a domain, for the remedy of a refusal.

A hint names keys of the policy and the bounds that it declares, never a value of the data.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import timedelta
from decimal import Decimal

from crowdblend.methods.recoding.classes import ClosedRecoding, Lookup, Recoding
from crowdblend.methods.recoding.dates import DateRange
from crowdblend.methods.recoding.intervals import Breaks, Intervals
from crowdblend.methods.recoding.reading import day, day_sql, exact, has_zone, number, number_sql, plain_digits
from crowdblend.policies.csv_reading import CsvReading
from crowdblend.trusted.machine.packages import duckdb

# This many different values are looked at.
MOST_TEXTS = 1000
# A notation of numbers is proposed that reads such a share of them.
_MOST = 0.9
_MARKS: tuple[tuple[str, str | None], ...] = (
    (",", None),
    (".", ","),
    (",", "."),
    (".", " "),
    (",", " "),
    (".", "'"),
    (",", "'"),
)
_DATES = ("%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y", "%d-%m-%Y", "%Y/%m/%d", "%Y.%m.%d", "%Y%m%d")
_CLOCKS = ("", " %H:%M", " %H:%M:%S")
# Months and years, for periods that are as long.
_PARTIAL = {"month": ("%Y-%m", "%m/%Y", "%m.%Y", "%Y/%m"), "year": ("%Y",)}
_COARSE = {"month": ("month",), "quarter": ("month",), "year": ("month", "year")}
_UNIT = re.compile(r"^\s*[€$£%]|[€$£%]\s*$|[a-zA-Z]+\s*$")


def hint_for(
    recoding: Recoding,
    texts: Sequence[str],
    connection: duckdb.DuckDBPyConnection,
    raw: Callable[[str, str], str] = lambda _, text: text,
) -> str | None:
    """Return what helps with these texts, none of which is in the recoding's domain; None where nothing is known to.

    `raw` gives the text of the file for one that was rewritten into the one notation of numbers or dates.
    """
    if recoding.reads == "text":
        return _text_hint(recoding, texts) if texts else None
    read = number if recoding.reads == "number" else day
    foreign = [raw(recoding.reads, text) for text in texts if read(text) is None]
    if recoding.reads == "date" and any(map(has_zone, foreign)):
        return "Convert moments with a time zone to dates of the zone that you mean"
    if foreign:
        notation = _number_hint if recoding.reads == "number" else _date_hint
        return notation(foreign, connection) or (_partial_hint(recoding, foreign, connection))
    return _end_hint(recoding, texts) if texts else None


def _end_hint(recoding: Recoding, texts: Sequence[str]) -> str | None:
    """Return a hint where values are the excluded end of the domain, or fractions among integers."""
    if isinstance(recoding, Intervals | Breaks) and recoding.whole:
        plain = replace(recoding, whole=False)
        if all(plain.code(text) is not None for text in texts):
            return "Remove `whole = true`: the values have fractions"
    if isinstance(recoding, DateRange) and all(day(text) == recoding.stop for text in texts):
        after = recoding.stop + timedelta(days=1)
        return f"to = {recoding.stop} is excluded: write `to = {after}`, or add `include_to = true`"
    if isinstance(recoding, Intervals) and all(number(text) == float(recoding.stop) for text in texts):
        stop, width = exact("to", recoding.stop), exact("width", recoding.width)
        return (
            f"to = {plain_digits(stop)} is excluded: write "
            f"`to = {plain_digits(stop + width)}`, or add `include_to = true`"
        )
    if isinstance(recoding, Breaks) and all(number(text) == float(recoding.breaks[-1]) for text in texts):
        last = plain_digits(exact("breaks", Decimal(recoding.breaks[-1])))
        return f"The last break, {last}, is excluded: write a larger one, or add `top = true`"
    return None


def _number_hint(texts: Sequence[str], connection: duckdb.DuckDBPyConnection) -> str | None:
    readings = {marks: CsvReading(decimal=marks[0], thousands=marks[1]) for marks in _MARKS}
    numbers = {marks: f"isfinite({number_sql(reading.number_sql('t'))})" for marks, reading in readings.items()}
    shares = {marks: _share(condition, texts, connection) for marks, condition in numbers.items()}
    decimal, thousands = max(_MARKS, key=shares.__getitem__)
    if (share := shares[decimal, thousands]) >= _MOST:
        keys = [f'`data.decimal = "{decimal}"`'] * (decimal != ".")
        keys += [f'`data.thousands = "{thousands}"`'] * (thousands is not None)
        return f"Add {' and '.join(keys)}{'' if share == 1 else ', which reads most of them'}"
    if all(_UNIT.search(text) and any(character.isdigit() for character in text) for text in texts):
        return "Remove the units or signs beside the numbers"
    return None


def _date_hint(texts: Sequence[str], connection: duckdb.DuckDBPyConnection) -> str | None:
    return _format_hint([date + clock for clock in _CLOCKS for date in _DATES], texts, connection)


def _partial_hint(recoding: Recoding, texts: Sequence[str], connection: duckdb.DuckDBPyConnection) -> str | None:
    """Return a hint where months or years are written, and the domain has such periods."""
    wanted = _COARSE.get(getattr(recoding, "period", ""), ())
    return _format_hint([each for period in wanted for each in _PARTIAL[period]], texts, connection)


def _format_hint(formats: Sequence[str], texts: Sequence[str], connection: duckdb.DuckDBPyConnection) -> str | None:
    readings = {each: day_sql(CsvReading(date_format=each).day_sql("t")) for each in formats}
    fitting = [f'"{each}"' for each, sql in readings.items() if _share(f"({sql}) IS NOT NULL", texts, connection) == 1]
    which = ", whichever the file means," if len(fitting) > 1 else ""
    return f"Add `data.date_format = {' | '.join(fitting)}`{which}" if fitting else None


def _share(condition: str, texts: Sequence[str], connection: duckdb.DuckDBPyConnection) -> float:
    """Return the share of the texts, called t, of which a condition in SQL holds."""
    query = f"SELECT count(*) FILTER (WHERE {condition}) FROM (SELECT unnest(?::VARCHAR[]) AS t)"
    ((fitting,),) = connection.execute(query, [list(texts)]).fetchall()
    return int(fitting) / len(texts)


def _text_hint(recoding: Recoding, texts: Sequence[str]) -> str | None:
    if not isinstance(recoding, ClosedRecoding) or not isinstance(recoding, Lookup):
        return None
    if all(recoding.own_code(text.strip()) is not None for text in texts):
        return "Remove the spaces around the values"
    lowered = {value.lower() for value in recoding.lookup}
    if all(text.strip().lower() in lowered for text in texts):
        spaces = " and spaces around them" if any(text != text.strip() for text in texts) else ""
        return (
            f"Values differ from the declared ones in upper and lower case{spaces} alone: declare each once, as the "
            "data have it, or, where they spell it in several ways, list all of these with one label in a hierarchy"
        )
    return None
