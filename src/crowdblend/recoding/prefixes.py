"""The first characters of a text: postcodes, occupation and diagnosis codes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from crowdblend.errors import InvalidInput
from crowdblend.recoding.classes import Open
from crowdblend.recoding.reading import seen_sql


@dataclass(frozen=True)
class Prefixes(Open):
    """The first `length` Unicode code points; a shorter text is its own class.

    >>> Prefixes(3).label("90210")
    '902'
    """

    length: int

    def __post_init__(self) -> None:
        if not 1 <= self.length <= 1000:
            raise InvalidInput(
                f"prefix must be a whole number between 1 and 1000, got {self.length}. Say how many to keep.",
                where="prefix",
                code="recoding.prefix",
            )
        if self.other is not None:
            raise InvalidInput(
                f"prefix must go without other, got other = {self.other!r}: every text has a prefix. "
                "Use missing for blanks.",
                where="other",
                code="recoding.other",
            )
        super().__post_init__()

    def declaration(self) -> dict[str, Any]:
        """How many characters are kept."""
        return {"recoding": "prefix", "length": self.length}

    def own_label(self, value: str) -> str:
        """The beginning of the text."""
        return value[: self.length]

    def own_label_sql(self, column: str, typed: bool) -> str:
        """The beginning of the text; blanks have none."""
        text = f"CAST({column} AS VARCHAR)"
        return f"CASE WHEN {seen_sql(column)} THEN left({text}, {self.length}) END"
