"""Reproductions: a paper's table or figure as data, with our numbers beside the printed ones."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal

from crowdblend.errors import InvalidInput
from crowdblend.reading.figures.charts import LineChart

Cell = str | int | float | bool | None


@dataclass(frozen=True)
class Reproduction:
    """One table or figure of a paper, recomputed.

    Printed values are kept as the paper's own digits, in text; an empty cell is None. The chart is missing where
    the paper has a table of three rows.
    """

    name: str
    title: str
    source: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    chart: LineChart | None
    note: str

    def __post_init__(self) -> None:
        if any(len(row) != len(self.columns) for row in self.rows):
            raise InvalidInput(f"Every row of {self.name} must have {len(self.columns)} cells.")

    def column(self, name: str) -> tuple[Cell, ...]:
        """One column, by its name."""
        place = self.columns.index(name)
        return tuple(row[place] for row in self.rows)


def agrees(printed_digits: str, value: float) -> bool:
    """Return whether a value, rounded to as many digits as were printed, gives the printed digits.

    >>> agrees("1.61e-09", 1.6063e-09), agrees("1.61e-09", 1.602e-09)
    (True, False)
    """
    digits = Decimal(printed_digits)
    return Decimal(value).quantize(digits) == digits
