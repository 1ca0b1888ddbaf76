"""What a column holds, in our own words; each engine says which of its types is which."""

from __future__ import annotations

from enum import Enum


class ColumnType(Enum):
    """The type of a column. Columns of all other types are read as the text they are shown as."""

    WHOLE = "whole number of up to 64 bits"
    DOUBLE = "floating-point number of 64 bits"
    SINGLE = "floating-point number of 32 bits"
    DECIMAL = "decimal number"
    DATE = "date"
    TIMESTAMP = "date and time without a time zone, to the microsecond"
    TEXT = "text"
    OTHER = "other"
    NESTED = "several values in each row"

    @property
    def is_number(self) -> bool:
        """Whether the values are read as the numbers they are, not as their text; every one is a double or fits one."""
        return self in (ColumnType.WHOLE, ColumnType.DOUBLE)

    @property
    def is_day(self) -> bool:
        """Whether the values are read as dates, not as their text."""
        return self in (ColumnType.DATE, ColumnType.TIMESTAMP)

    @property
    def is_broken_number(self) -> bool:
        """Whether the values may have a fraction, so that they name nobody."""
        return self in (ColumnType.DOUBLE, ColumnType.SINGLE, ColumnType.DECIMAL)
