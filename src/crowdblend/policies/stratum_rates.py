"""The rates of strata by label, written in the policy or in a CSV file."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Mapping
from pathlib import Path

from crowdblend.errors import InvalidInput
from crowdblend.policies.refusals import refusal
from crowdblend.regular_files import read_regular

_MOST_STRATA = 1_000


def rates_of(rates_or_column: Mapping[str, float] | str) -> Mapping[str, float]:
    """Return the rates by label, from the policy or from a file; every one above 0 and below 1."""
    rates = _read(Path(rates_or_column)) if isinstance(rates_or_column, str) else dict(rates_or_column)
    if len(rates) > _MOST_STRATA:
        raise _refusal(f"rates in [sampling] lists more than {_MOST_STRATA:,} strata.", "Merge some of them.")
    for label, rate in rates.items():
        if not 0 < rate < 1:
            raise _refusal(
                f"The rate of {label!r} in [sampling] is {rate:g}; rates lie above 0 and below 1.",
                "Give the share of people kept. People who are kept for certain belong into a register of their own.",
            )
    return rates


def _read(path: Path) -> dict[str, float]:
    """Return a file of rates: a label and a rate in each line, after a line that names the two."""
    try:
        text = read_regular(path).decode("utf-8-sig")
        lines = [line for line in csv.reader(io.StringIO(text, newline="")) if line]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        why = getattr(error, "strerror", None) or "it is no CSV file in UTF-8"
        raise _refusal(f"The file of rates {path.name!r} cannot be read: {why}.", "Name a file of rates.") from None
    rates: dict[str, float] = {}
    for number, line in enumerate(lines[1:], 2):
        try:
            label, rate = line[0], float(line[1])
        except (IndexError, ValueError):
            label, rate = "", math.nan
        if len(line) != 2 or label in rates or not math.isfinite(rate):
            message = f"Line {number} of {path.name!r} repeats a label, or does not hold a label and a rate alone."
            remedy = "Write every label once, with its rate, after a line that names the two, such as region,rate."
            raise _refusal(message, remedy)
        rates[label] = rate
    if not rates:
        raise _refusal(f"{path.name!r} lists no rates.", "Write a label and a rate in each line after the first.")
    return rates


def _refusal(message: str, remedy: str) -> InvalidInput:
    return refusal("rates", message, remedy, "[sampling] rates")
