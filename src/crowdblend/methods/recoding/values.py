"""Listed values, kept as they are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from crowdblend.errors import InvalidInput
from crowdblend.methods.recoding.classes import Lookup, Open
from crowdblend.methods.recoding.domain import Domain
from crowdblend.methods.recoding.reading import is_blank, seen_sql


@dataclass(frozen=True)
class Values(Lookup):
    """A class for every listed value; equality is exact, so case, spaces and leading zeros count.

    >>> sex = Values(("Female", "Male"), other="Other")
    >>> sex.code("Male"), sex.code("male"), sex.labels
    (1, 2, ('Female', 'Male', 'Other'))
    """

    values: tuple[str, ...]

    def __post_init__(self) -> None:
        if not self.values:
            message = "values must list at least one value, got none. List every value that may be published."
            raise InvalidInput(message, where="values", code="recoding.too-few")
        if any(is_blank(value) for value in self.values):
            message = 'values must not list a blank, got one. Declare `missing = "a label"` to give blanks a class.'
            raise InvalidInput(message, where="values", code="recoding.blank")
        super().__post_init__()

    @property
    def own_labels(self) -> tuple[str, ...]:
        """The values themselves."""
        return self.values

    def declaration(self) -> Domain:
        """The labels are the values."""
        return Domain(recoding="values")

    @cached_property
    def lookup(self) -> Mapping[str, int]:
        """The position of every value."""
        return {value: code for code, value in enumerate(self.values)}


@dataclass(frozen=True)
class Prefixes(Open):
    """The first `length` Unicode code points; a shorter text is its own class.

    >>> Prefixes(3).label("90210")
    '902'
    """

    length: int

    def __post_init__(self) -> None:
        if not 1 <= self.length <= 1000:
            message = f"prefix must be a whole number between 1 and 1000, got {self.length}. Say how many to keep."
            raise InvalidInput(message, where="prefix", code="recoding.prefix")
        if self.other is not None:
            raise InvalidInput(
                f"prefix must go without other, got `other = {self.other!r}`: every text has a prefix. "
                "Use missing for blanks.",
                where="other",
                code="recoding.other",
            )
        super().__post_init__()

    def declaration(self) -> Domain:
        """Return the domain: the number of characters kept."""
        return Domain(recoding="prefix", length=self.length)

    def own_label(self, value: str) -> str:
        """Return the beginning of the text."""
        return value[: self.length]

    def own_label_sql(self, column: str, typed: bool) -> str:
        """Return the beginning of the text; blanks have none."""
        text = f"CAST({column} AS VARCHAR)"
        return f"CASE WHEN {seen_sql(column)} THEN left({text}, {self.length}) END"
