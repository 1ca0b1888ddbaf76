"""The policy of an outlier-private table: every bin noisy, small bins more."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from crowdblend.errors import InvalidInput
from crowdblend.policies.columns import Column, read_columns
from crowdblend.policies.keys import OUTLIERS, read_keys
from crowdblend.policies.sections import DataSource, Release, Sampling, read_data, read_release, read_sampling

_COUNT = "count"
DEFAULT_FACTOR = 2.0


@dataclass(frozen=True)
class OutlierPolicy:
    """What the steward decided; `transition` is None when the plan shall find it for delta."""

    data: DataSource
    sampling: Sampling
    columns: tuple[Column, ...]
    release: Release
    limit: int = field(kw_only=True)
    transition: int | None = None
    factor: float = DEFAULT_FACTOR

    def __post_init__(self) -> None:
        if self.release.epsilon is None:
            raise InvalidInput("[release] must have epsilon, the loss of the noise on large bins. Add it.")
        if (self.release.delta is None) == (self.transition is None):
            raise InvalidInput(
                "one of delta in [release] and transition in [outliers] must be given, and the other is planned. "
                "Leave one of them out."
            )
        if self.sampling.biased:
            raise InvalidInput("[sampling] must have one rate for an outlier-table. Drop low and high.")
        for column in self.columns:
            self._check_column(column)

    def _check_column(self, column: Column) -> None:
        if self.data.person is not None and column.name.lower() == self.data.person.lower():
            raise InvalidInput(
                f"column {column.name!r} must not be published: it tells people apart. Remove it from [columns]."
            )
        if column.name.lower() == _COUNT:
            raise InvalidInput(
                f"column {column.name!r} must have another name: a table has its own column of that name. "
                "Rename it in the data."
            )
        if column.chooses:
            raise InvalidInput(f"column {column.name!r} must have one recoding for an outlier-table. Name one level.")
        if not column.recoding.closed:
            raise InvalidInput(
                f"column {column.name!r} must have a closed domain, because empty cells get noise too. "
                "List its classes (values, hierarchy, or from and to for dates)."
            )

    @property
    def kind(self) -> str:
        """What is published."""
        return self.release.kind

    @property
    def cells(self) -> int:
        """How many bins there are, empty ones included."""
        cells = 1
        for column in self.columns:
            cells *= column.recoding.size or 1
        return cells


def read_policy(parts: dict[str, Any], folder: Path) -> OutlierPolicy:
    """The policy of an outlier-private table."""
    for name, section in (("columns", "[columns]"), ("outliers", "[outliers]")):
        if name not in parts:
            raise InvalidInput(f"the policy must have a section {section}, and it is missing. Add it.")
    given = read_keys("[outliers]", OUTLIERS, parts["outliers"])
    return OutlierPolicy(
        data=read_data(parts["data"], folder),
        sampling=read_sampling(parts.get("sampling", {})),
        columns=read_columns(parts["columns"], folder),
        release=read_release(parts["release"]),
        **given,
    )
