"""Policies that publish crowds of at least k people: k, rate, epsilon and delta, of which one may be left out."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, Literal

from crowdblend.policies.columns import Column, columns_field, refuse_numbers
from crowdblend.policies.key import key, refusal
from crowdblend.policies.policy import AboutPeople, part
from crowdblend.policies.sampling import NOT_SAMPLED, Sampling
from crowdblend.policies.strata import Design, check_strata, design_of

PEOPLE = "How many people the population has, where you know it: delta has to stay below one over it."
RELEASES = (
    "How many such releases there will be, each from a fresh sample: epsilon and delta are for all of them together."
)
ACCEPT = "True to publish although delta is above 1e-3, or above one over the people of the population."


@dataclass(frozen=True, kw_only=True)
class CrowdPolicy(AboutPeople):
    """What tables, microdata and points have in common."""

    reserved: ClassVar[tuple[str, ...]] = ()

    columns: tuple[Column, ...] = columns_field()
    sampling: Sampling = part("sampling", Sampling, "How people are drawn.", default=NOT_SAMPLED)
    k: int | None = key("The crowd size, the person included; leave it out to have it planned.", ranged=True)
    epsilon: float | None = key("The privacy loss; leave it out to have it planned.", ranged=True)
    delta: float | None = key("The probability beyond epsilon; leave it out to have it planned.", ranged=True)
    releases: int = key(RELEASES, ranged=True, default=1)
    accept_delta: bool = key(ACCEPT, default=False)
    people: int | None = key(PEOPLE, section="data", between=(1, 10**12))

    def __post_init__(self) -> None:
        super().__post_init__()
        refuse_numbers(self.columns)
        self._check_names()
        check_strata(self)
        self._check_planned()

    def _check_everybody(self) -> None:
        """Refuse a register where crowds are published: without a sample nobody is hidden in one."""
        raise refusal(
            "everybody",
            f'kind = "{self.kind}" hides people in a sample, and everybody = true draws none.',
            'Write rate in [sampling], or kind = "table", which adds noise to every cell.',
            "[sampling] everybody",
        )

    def _check_fresh(self) -> None:
        """Refuse fresh samples where there is one output."""
        raise refusal(
            "fresh",
            f'fresh = true draws a sample for each of several tables, and kind = "{self.kind}" has none.',
            'Remove fresh from [sampling], or write kind = "table" with [[tables]].',
            "[sampling] fresh",
        )

    @property
    def planned(self) -> Literal["k", "rate", "epsilon", "delta"] | None:
        """The one parameter that is left to the plan, or None when all are given."""
        if self.k is None:
            return "k"
        if self.epsilon is None:
            return "epsilon"
        if self.delta is None:
            return "delta"
        return None if self._rates_known else "rate"

    @cached_property
    def design(self) -> Design | None:
        """The strata or weights by which people are sampled; None where there is one rate, or low and high."""
        return design_of(self)

    @property
    def rate_range(self) -> tuple[float | None, float | None]:
        """The smallest and the largest rate of the people of one class, where they differ."""
        if self.design is not None and not self.design.published:
            return self.design.strata.low, self.design.strata.high
        return self.sampling.low, self.sampling.high

    @property
    def max_rate(self) -> float | None:
        """The largest rate of anybody who is protected; what rounding adds to the largest rate, it adds to this one."""
        stated, (_, high) = self.sampling.max_rate, self.rate_range
        return stated if stated is None or high is None else max(stated, high)

    @property
    def _rates_known(self) -> bool:
        return self.sampling.rate is not None or self.sampling.biased or self.sampling.designed

    @property
    def closed(self) -> bool:
        """Whether every column's classes are known beforehand."""
        return all(column.recoding.closed for column in self.columns)

    @property
    def cells(self) -> int | None:
        """How many cells the finest table has, or None when a domain is open."""
        return self.cells_at([0] * len(self.columns))

    def cells_at(self, levels: Sequence[int]) -> int | None:
        """How many cells the table has at these levels of its columns."""
        sizes = [column.recodings[level].size for column, level in zip(self.columns, levels, strict=True)]
        return math.prod(size for size in sizes if size is not None) if None not in sizes else None

    def column(self, name: str) -> Column:
        """The column of that name."""
        return next(column for column in self.columns if column.name == name)

    def _check_names(self) -> None:
        check_names(self.columns, self.person, self.reserved)

    def _check_planned(self) -> None:
        if self.sampling.everybody:
            self._check_everybody()
            return
        if self.sampling.fresh:
            self._check_fresh()
        given = {"k": self.k, "epsilon": self.epsilon, "delta": self.delta}
        missing = [name for name, value in given.items() if value is None]
        if not self._rates_known:
            missing.insert(1 if "k" in missing else 0, "rate")
        if len(missing) > 1:
            raise refusal(
                "planned",
                f"Leave at most one of k, rate, epsilon and delta out; {' and '.join(missing)} are missing.",
                "Give all but the one to be planned.",
                "[release]",
            )
        if self.k is not None and self.sampling.exceptions >= max(1, self.k - 1):
            raise refusal(
                "exceptions",
                f"exceptions in [sampling] is {self.sampling.exceptions}, and not below k - 1 = {self.k - 1}.",
                "Raise k, or lower exceptions.",
                "[sampling] exceptions",
            )


def check_names(columns: Sequence[Column], person: str | None, reserved: tuple[str, ...]) -> None:
    """Refuse to publish who somebody is, and names that the published table has itself."""
    for column in columns:
        if person is not None and column.name.lower() == person.lower():
            raise refusal(
                "person-published",
                f"column {column.name!r} tells people apart and cannot be published.",
                "Remove it from [columns].",
                f"column {column.name!r}",
            )
        if column.name.lower() in reserved:
            raise refusal(
                "reserved-name",
                f"The published data have a column of their own called {column.name!r}.",
                "Rename the column in the data.",
                f"column {column.name!r}",
            )


def check_closed(columns: Sequence[Column], why: str) -> None:
    """Refuse open domains where every cell is published."""
    for column in columns:
        if not column.recoding.closed:
            raise refusal(
                "open-domain",
                f"column {column.name!r} has an open domain, and {why} gives empty cells noise too.",
                "List its classes (values, a hierarchy, or from and to for dates).",
                f"column {column.name!r}",
            )
