"""One published statistic: exactly one key, such as average or count, says what it is of."""

from __future__ import annotations

import math
from collections.abc import Iterable
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from typing import Annotated, Any, ClassVar

from crowdblend.errors import InvalidInput
from crowdblend.kinds.statistics.estimands import ESTIMANDS, Estimand, Subject, keys_where
from crowdblend.methods.estimates.nouns import PEOPLE, Noun
from crowdblend.policies.key import Rule, key
from crowdblend.policies.refusals import refusal
from crowdblend.policies.rules import conflicts, needs, one_of
from crowdblend.policies.value_types import Texts, Where

WHAT: tuple[str, ...] = tuple(ESTIMANDS)
# Scores of a quantile are whole numbers of this part of a person at least.
_FINEST = 1000


def group_columns(statistics: Iterable[Statistic]) -> tuple[str, ...]:
    """Return the columns that some statistic counts by, each once: those of the published file."""
    return tuple(dict.fromkeys(name for made in statistics for name in made.counted_by))


class Statistic(Subject, frozen=True, kw_only=True):
    """One published statistic: exactly one key, such as average or count, says what it is of."""

    rules: ClassVar[tuple[Rule, ...]] = (
        one_of(*WHAT, code="statistic"),
        conflicts("where", "fraction", "count", code="statistic", because="they name their labels themselves"),
        needs("by", *keys_where("grouped"), code="statistic"),
        needs("at", "quantile", code="statistic"),
        needs("quantile", "at", code="statistic", because="it is the share of people below"),
    )

    by: Annotated[
        Texts | None,
        key(
            "With average, sum, median, quantile or count: one number for each group of people with the same labels in "
            "these columns."
        ),
    ] = None
    where: Annotated[Where | None, key("Only people with these labels; not with fraction and count.")] = None
    error: Annotated[
        float | None, key("The largest error that is acceptable, in the statistic's unit; plans or checks sample.")
    ] = None
    weight: Annotated[float, key("How much of epsilon the statistic gets, relative to the others; 1 unless given.")] = (
        1.0
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        groups = self.by or ()
        twice = [name for name in groups if name in self.among]
        if not self.name.strip():
            raise self._refusal("has a blank name.", "Name the statistic.")
        if self.by is not None and (not groups or len(set(groups)) < len(groups)):
            raise self._refusal("names a column of by twice, or none.", "Name each column once.")
        if twice:
            raise self._refusal(
                f"has {twice[0][:60]!r} in by and in its labels.", "Keep one: groups are published whole."
            )
        if self.at is not None and (not 0 < self.at < 1 or self.share.denominator > _FINEST):
            raise self._refusal(
                f"has `at = {self.at:g}`.", "Give a share between 0 and 1 with at most three decimals, such as 0.9."
            )
        if not 0 < self.weight < math.inf:
            raise self._refusal(f"has the weight {self.weight:g}.", "Give it a part of epsilon above 0.")
        if self.error is not None and not 0 < self.error < math.inf:
            raise self._refusal(f"has the error {self.error:g}.", "Give an error above 0.")
        if self.error is not None and self.depends_on_groups:
            problem = "has error, and how large its error is depends on how many people are in a group."
            raise self._refusal(problem, "Remove error, and give sample in `sampling`.")

    def _refusal(self, problem: str, remedy: str) -> InvalidInput:
        return refusal("statistic", f"Statistic {self.name[:60]!r} {problem}", remedy, f"statistic {self.name[:60]!r}")

    @property
    def what(self) -> str:
        """The key of what it is of."""
        return next(name for name in ESTIMANDS if getattr(self, name) is not None)

    @cached_property
    def estimand(self) -> Estimand:
        """The estimand, with everything that follows from it."""
        return ESTIMANDS[self.what](Fraction(1, 2) if self.at is None else self.share)

    @property
    def column(self) -> str | None:
        """The column that is measured or counted by label; None for a fraction or count."""
        return None if self.estimand.of_labels else str(getattr(self, self.what))

    @property
    def among(self) -> Where:
        """The labels of the people who count; empty for everybody."""
        return self.fraction or self.count or self.where or {}

    @property
    def groups(self) -> tuple[str, ...]:
        """The columns whose labels make the groups; none for one number about all."""
        return self.by or ()

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that it needs."""
        return (*(() if self.column is None else (self.column,)), *self.among, *self.groups)

    @property
    def counted_by(self) -> tuple[str, ...]:
        """The columns whose labels it counts by: that of a histogram, or its groups."""
        return (str(self.column),) if self.estimand.by_column else self.groups

    @property
    def measured(self) -> bool:
        """True if it is of a column of numbers."""
        return self.estimand.measured

    @property
    def of_some(self) -> bool:
        """True if it is of numbers of some people only, so that it needs the numbers and the labels together."""
        return self.measured and bool(self.groups or self.among)

    @property
    def is_quantile(self) -> bool:
        """True if it is a median or another quantile."""
        return self.estimand.is_quantile

    @property
    def needs_steps(self) -> bool:
        """True if people have to be counted at every step of its column: class counts and sums are not enough."""
        return self.of_some or self.estimand.by_steps

    @property
    def depends_on_groups(self) -> bool:
        """True if its error depends on noisy group sizes, so that it is known only when published."""
        return self.of_some and self.estimand.is_share

    @property
    def share(self) -> Fraction:
        """The share of people below a quantile."""
        return Fraction(1, 2) if self.at is None else Fraction(Decimal(repr(float(self.at))))

    def facts(self) -> dict[str, Any]:
        """Return the statistic as a policy writes it: {"average": "income"}."""
        among = {name: tuple(labels) for name, labels in self.among.items()}
        by = {"by": self.groups} if self.groups else {}
        if self.column is None:
            return {self.what: among, **by}
        at = {} if self.at is None else {"at": self.at}
        return {self.what: self.column, **at, **by, **({"where": among} if among else {})}

    def words(self, noun: Noun = PEOPLE) -> str:
        """Return the statistic as one says it; a `noun` names what is counted."""
        among = " and ".join(f"{name} is {' or '.join(labels)}" for name, labels in self.among.items())
        by = f", by {' and '.join(self.groups)}" if self.groups else ""
        where = f", where {among}" if among and not self.estimand.of_labels else ""
        said = self.estimand.words.format(key=self.what, column=self.column, at=self.at, among=among, counted=noun.many)
        return f"{said}{by}{where}"
