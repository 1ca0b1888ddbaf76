"""Listed values, kept as they are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from crowdblend.errors import InvalidInput
from crowdblend.recoding.classes import Lookup
from crowdblend.recoding.reading import is_blank


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
            raise InvalidInput(
                "values must list at least one value, got none. List every value that may be published.",
                where="values",
                code="recoding.too-few",
            )
        if any(is_blank(value) for value in self.values):
            raise InvalidInput(
                'values must not list a blank, got one. Declare missing = "a label" to give blanks a class.',
                where="values",
                code="recoding.blank",
            )
        super().__post_init__()

    @property
    def own_labels(self) -> tuple[str, ...]:
        """The values themselves."""
        return self.values

    def declaration(self) -> dict[str, Any]:
        """The labels are the values."""
        return {"recoding": "values"}

    @cached_property
    def lookup(self) -> Mapping[str, int]:
        """The position of every value."""
        return {value: code for code, value in enumerate(self.values)}
