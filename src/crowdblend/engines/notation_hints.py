"""What to add to a policy when the values of a column are numbers or dates in another notation than the declared one.

The hint is for the steward. It names notations, never a value.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from crowdblend.packages import duckdb
from crowdblend.policies.csv_reading import CsvReading
from crowdblend.recoding import Closed, Lookup, Recoding
from crowdblend.recoding.reading import day_sql, number_sql

_MARKS = ((",", None), (".", ","), (",", "."), (".", " "), (",", " "), (".", "'"), (",", "'"))
_DATES = ("%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y", "%d-%m-%Y", "%Y/%m/%d", "%Y.%m.%d", "%Y%m%d")
_CLOCKS = ("", " %H:%M", " %H:%M:%S")
_UNIT = re.compile(r"^\s*[€$£%]|[€$£%]\s*$|[a-zA-Z]+\s*$")


def hint_for(recoding: Recoding, texts: Sequence[str], connection: duckdb.DuckDBPyConnection) -> str | None:
    """Return what helps with these texts, none of which is in the recoding's domain; None where nothing is known to."""
    if not texts:
        return None
    if recoding.reads == "number":
        return _number_hint(texts, connection)
    return _date_hint(texts, connection) if recoding.reads == "date" else _text_hint(recoding, texts)


def _number_hint(texts: Sequence[str], connection: duckdb.DuckDBPyConnection) -> str | None:
    for decimal, thousands in _MARKS:
        reading = CsvReading(decimal=decimal, thousands=thousands)
        if _holds(f"isfinite({number_sql(reading.number_sql('t'))})", texts, connection):
            keys = [f'decimal = "{decimal}"'] * (decimal != ".")
            keys += [f'thousands = "{thousands}"'] * (thousands is not None)
            return f"Add {' and '.join(keys)} to [data]"
    if all(_UNIT.search(text) and any(character.isdigit() for character in text) for text in texts):
        return "Remove the units or signs beside the numbers"
    return None


def _date_hint(texts: Sequence[str], connection: duckdb.DuckDBPyConnection) -> str | None:
    declared = [date + clock for clock in _CLOCKS for date in _DATES]
    readings = {each: day_sql(CsvReading(date_format=each).day_sql("t")) for each in declared}
    fitting = [f'"{each}"' for each, sql in readings.items() if _holds(f"({sql}) IS NOT NULL", texts, connection)]
    which = ", whichever the file means," if len(fitting) > 1 else ""
    return f"Add date_format = {' or '.join(fitting)}{which} to [data]" if fitting else None


def _holds(condition: str, texts: Sequence[str], connection: duckdb.DuckDBPyConnection) -> bool:
    """Whether a condition in SQL holds of every text, called t."""
    query = f"SELECT bool_and(coalesce({condition}, false)) FROM (SELECT unnest(?::VARCHAR[]) AS t)"
    return connection.execute(query, [list(texts)]).fetchall() == [(True,)]


def _text_hint(recoding: Recoding, texts: Sequence[str]) -> str | None:
    if not isinstance(recoding, Closed) or not isinstance(recoding, Lookup):
        return None
    if all(recoding.own_code(text.strip()) is not None for text in texts):
        return "Remove the spaces around the values"
    lowered = {value.lower() for value in recoding.lookup}
    if all(text.strip().lower() in lowered for text in texts):
        return "Write the values in upper and lower case as the data do"
    return None
