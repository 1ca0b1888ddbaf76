"""The policy of an outlier-private table: every bin noisy, small bins more."""

from __future__ import annotations

import math
from dataclasses import dataclass

from crowdblend.policies.columns import Column, columns_field, refuse_choice, refuse_numbers
from crowdblend.policies.crowd import ACCEPT, PEOPLE, check_closed, check_names
from crowdblend.policies.key import key, refusal
from crowdblend.policies.policy import AboutPeople, part
from crowdblend.policies.sampling import NOT_SAMPLED, Sampling


@dataclass(frozen=True, kw_only=True)
class OutlierTable(AboutPeople):
    """What the steward decided; `transition` is None where it is planned for delta. Without a rate nobody is drawn."""

    kind = "outlier-table"

    columns: tuple[Column, ...] = columns_field()
    sampling: Sampling = part("sampling", Sampling, "How people are drawn.", default=NOT_SAMPLED)
    limit: int = key(
        "K: a bin of that size would need no noise beyond epsilon's.", section="outliers", required=True, ranged=True
    )
    transition: int | None = key(
        "t: noise is constant from K - t people on; planned unless given.", section="outliers", ranged=True
    )
    factor: float = key(
        "c: the guarantee for crowds of j is c times epsilon(j); 2 unless given.",
        section="outliers",
        ranged=True,
        default=2.0,
    )
    epsilon: float = key("The privacy loss of the noise on large bins.", ranged=True, required=True)
    delta: float | None = key("The probability beyond epsilon; leave it out to have it planned.", ranged=True)
    accept_delta: bool = key(ACCEPT, default=False)
    people: int | None = key(PEOPLE, section="data", between=(1, 10**12))
    show_from: int | None = key(
        "Show only bins from this value on; all are shown unless there are over 1,000,000.", between=(1, 10**15)
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if (self.delta is None) == (self.transition is None):
            raise refusal(
                "planned",
                f"delta and transition are both {'missing' if self.delta is None else 'given'}.",
                "Give one of them; the other is planned.",
                "[release] delta",
            )
        if self.sampling.designed:
            raise refusal(
                "stratum",
                "An outlier-table is proved for one sampling rate, not for strata and weights.",
                "Remove stratum, rates and weight from [sampling].",
                "[sampling] stratum",
            )
        if self.sampling.biased:
            raise refusal(
                "biased-sampling",
                "An outlier-table is proved for one sampling rate.",
                "Remove low and high from [sampling].",
                "[sampling] low",
            )
        refuse_numbers(self.columns)
        check_names(self.columns, self.person, ("count", "estimate", "low", "high"))
        refuse_choice(self.columns, "an outlier-table")
        check_closed(self.columns, "an outlier-table")

    @property
    def cells(self) -> int:
        """How many bins there are, empty ones included."""
        return math.prod(column.recoding.size or 1 for column in self.columns)
