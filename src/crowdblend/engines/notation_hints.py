"""What to add to a policy when the values of a column are numbers or dates in another notation than the declared one.

The hint is for the steward. It names notations, never a value.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from crowdblend.policies.csv_reading import CsvReading
from crowdblend.recoding import Closed, Lookup, Recoding
from crowdblend.recoding.reading import day, number

_MARKS = ((",", None), (".", ","), (",", "."), (".", " "), (",", " "), (".", "'"), (",", "'"))
_DATES = ("%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y", "%d-%m-%Y", "%Y/%m/%d", "%Y.%m.%d", "%Y%m%d")
_CLOCKS = ("", " %H:%M", " %H:%M:%S")
_UNIT = re.compile(r"^\s*[€$£%]|[€$£%]\s*$|[a-zA-Z]+\s*$")


def hint_for(recoding: Recoding, texts: Sequence[str]) -> str | None:
    """What helps with these texts, none of which is in the recoding's domain; None where nothing is known to."""
    if recoding.reads == "number":
        return _number_hint(texts)
    if recoding.reads == "date":
        return _date_hint(texts)
    return _text_hint(recoding, texts)


def _number_hint(texts: Sequence[str]) -> str | None:
    for decimal, thousands in _MARKS:
        reading = CsvReading(decimal=decimal, thousands=thousands)
        if _all(texts, lambda text, reading=reading: number(reading.number_text(text)) is not None):  # type: ignore[misc]
            keys = [f'decimal = "{decimal}"'] * (decimal != ".")
            keys += [f'thousands = "{thousands}"'] * (thousands is not None)
            return f"Add {' and '.join(keys)} to [data]"
    if _all(texts, lambda text: bool(_UNIT.search(text)) and any(character.isdigit() for character in text)):
        return "Remove the units or signs beside the numbers"
    return None


def _date_hint(texts: Sequence[str]) -> str | None:
    fitting = []
    for clock in _CLOCKS:
        for declared in _DATES:
            reading = CsvReading(date_format=declared + clock)
            if _all(texts, lambda text, reading=reading: day(reading.day_text(text)) is not None):  # type: ignore[misc]
                fitting.append(f'"{declared}{clock}"')
    which = ", whichever the file means," if len(fitting) > 1 else ""
    return f"Add date_format = {' or '.join(fitting)}{which} to [data]" if fitting else None


def _text_hint(recoding: Recoding, texts: Sequence[str]) -> str | None:
    if not isinstance(recoding, Closed) or not isinstance(recoding, Lookup):
        return None
    if _all(texts, lambda text: recoding.own_code(text.strip()) is not None):
        return "Remove the spaces around the values"
    lowered = {value.lower() for value in recoding.lookup}
    if _all(texts, lambda text: text.strip().lower() in lowered):
        return "Write the values in upper and lower case as the data do"
    return None


def _all(texts: Sequence[str], fits: Callable[[str], bool]) -> bool:
    return bool(texts) and all(map(fits, texts))
