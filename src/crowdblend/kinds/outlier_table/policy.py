"""The policy of an outlier-private table: every bin noisy, small bins more."""

from __future__ import annotations

import math
from functools import partial
from typing import Annotated, ClassVar

from crowdblend.policies.columns import Column, check_closed, check_names, refuse_choice, refuse_numbers
from crowdblend.policies.crowd import Accept, Delta, Drawn, People
from crowdblend.policies.key import Rule, conflicts, key, one_of
from crowdblend.policies.policy import AboutPeople
from crowdblend.policies.sampling import NOT_SAMPLED

_outliers = partial(key, section="outliers")


class OutlierTable(AboutPeople, frozen=True, kw_only=True):
    """What the steward decided; `transition` is None where it is planned for delta. Without a rate nobody is drawn."""

    kind = "outlier-table"
    designs = ("draw", "sample")
    rows_are_counted = True
    rules: ClassVar[tuple[Rule, ...]] = (
        one_of("delta", "transition", code="planned", because="the other of them is planned"),
        *(
            conflicts(f"sampling.{name}", code=code, because="an outlier-table is proved for one sampling rate")
            for name, code in (("stratum", "stratum"), ("weight", "stratum"), ("low", "biased-sampling"))
        ),
    )

    columns: tuple[Column, ...]
    sampling: Drawn = NOT_SAMPLED
    limit: Annotated[int, _outliers("K: a bin of that size would need no noise beyond epsilon's.", "limit")]
    transition: Annotated[
        int | None, _outliers("t: noise is constant from K - t people on; planned unless given.", "transition")
    ] = None
    factor: Annotated[
        float, _outliers("c: the guarantee for crowds of j is c times epsilon(j); 2 unless given.", "factor")
    ] = 2.0
    epsilon: Annotated[float, key("The privacy loss of the noise on large bins.", "epsilon")]
    delta: Delta = None
    accept_delta: Accept = False
    people: People = None
    show_from: Annotated[
        int | None,
        key("Show only bins from this value on; all are shown unless there are over 1,000,000.", (1, 10**15)),
    ] = None

    def __post_init__(self) -> None:
        super().__post_init__()
        refuse_numbers(self.columns)
        check_names(self.columns, self.person, ("count", "estimate", "low", "high"))
        refuse_choice(self.columns, "an outlier-table")
        check_closed(self.columns, "an outlier-table")

    @property
    def cells(self) -> int:
        """How many bins there are, empty ones included."""
        return math.prod(column.recoding.size or 1 for column in self.columns)
