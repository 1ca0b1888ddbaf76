"""Declarations of a column, published as they are: they never depend on the data."""

from __future__ import annotations

from typing import Annotated, Literal, TypeAlias

import msgspec

Number: TypeAlias = int | float


class Domain(
    msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True, rename={"start": "from"}
):
    """The map from values to labels, or to numbers on a grid, with the possible labels.

    `labels` are listed unless the domain is open or they follow from the rest; then `size` says how many there are.
    `recodings` are those among which the data choose, before they have. `join` says how many neighbouring classes of
    the column one class here has.
    """

    recoding: str = ""
    labels: tuple[str, ...] | None = None
    size: Annotated[int, msgspec.Meta(ge=1)] | None = None
    other: str | None = None
    missing: str | None = None
    start: Number | str | None = None
    to: Number | str | None = None
    width: Number | None = None
    resolution: Number | None = None
    breaks: tuple[Number, ...] | None = None
    include_to: bool = False
    bottom: bool = False
    top: bool = False
    whole: bool = False
    outside: Literal["refuse", "clamp", "drop"] | None = None
    blank: Number | None = None
    period: str | None = None
    level: int | None = None
    levels: int | None = None
    length: int | None = None
    join: Annotated[int, msgspec.Meta(ge=2)] | None = None
    recodings: tuple[Domain, ...] = ()

    @property
    def number_of_labels(self) -> int | None:
        """The number of possible labels; None where the domain is open."""
        return self.size if self.labels is None else len(self.labels)

    @property
    def is_ordered(self) -> bool:
        """True if the labels have an order of their own: intervals and dates."""
        return self.recoding in ("intervals", "breaks", "dates")

    @property
    def bounds(self) -> tuple[float, float]:
        """The bounds of the values."""
        assert isinstance(self.start, int | float), "only numbers have bounds"
        assert isinstance(self.to, int | float), "only numbers have bounds"
        return float(self.start), float(self.to)
