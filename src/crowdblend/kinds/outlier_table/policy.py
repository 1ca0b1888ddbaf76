"""The policy of an outlier-private table: every bin noisy, small bins more."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Annotated, ClassVar

from crowdblend.policies.columns import check_closed, check_names, refuse_choice, refuse_numbers
from crowdblend.policies.crowd import SURVEY_ROWS, refuse_unseen_rates
from crowdblend.policies.exactly import refuse_thinning
from crowdblend.policies.key import Rule, key
from crowdblend.policies.publication import Publication
from crowdblend.policies.publication_policy import SampledPolicy
from crowdblend.policies.refusals import refusal
from crowdblend.policies.rules import one_of
from crowdblend.policies.sampling import designs_for
from crowdblend.policies.terms import Terms


class OutlierTable(Publication, frozen=True, kw_only=True):
    """A table whose bins are all noisy, the more the smaller they are; `transition` None is planned for delta."""

    kind = "outlier-table"
    designs = designs_for("everybody")
    lacks = ("recoding",)
    rows_are_counted = True

    limit: Annotated[int, key("K: a bin of that size would need no noise beyond epsilon's.", "limit")]
    transition: Annotated[
        int | None, key("t: noise is constant from K - t people on; planned unless given.", "transition")
    ] = None
    factor: Annotated[
        float, key("c: the guarantee for crowds of j is c times epsilon(j); 2 unless given.", "factor")
    ] = 2.0
    show_from: Annotated[
        int | None,
        key("Show only bins from this value on; all are shown unless there are over 1,000,000.", (1, 10**15)),
    ] = None

    if TYPE_CHECKING:

        def __init__(
            self,
            *columns: str,
            limit: int,
            name: str | None = None,
            share: float | None = None,
            weight: float = 1.0,
            transition: int | None = None,
            factor: float = 2.0,
            show_from: int | None = None,
        ) -> None: ...

    def among_others(self, terms: Terms) -> Terms:
        """Return the terms, without delta where the noise is given; refuses a factor, which says nothing."""
        if self.factor != 2:
            message = (
                "The guarantee of crowds by their size is stated of an outlier-table alone, and factor is about it."
            )
            raise refusal(
                "factor", message, "Remove `publish.factor`, or publish it in a policy of its own.", "`publish.factor`"
            )
        return terms if self.transition is None else terms.replace(delta=None)


class OutlierTablePolicy(SampledPolicy, frozen=True, kw_only=True):
    """An outlier-private table; without a rate nobody is drawn."""

    rules: ClassVar[tuple[Rule, ...]] = (
        SURVEY_ROWS,
        one_of("delta", "transition", code="planned", because="one is planned from the other"),
    )

    publication: OutlierTable
    epsilon: Annotated[float, key("The privacy loss: what anybody spends at most.", "epsilon", section="privacy")]

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.with_others:
            # Coins of its own or a part of a survey leave people out, which a publication by itself need not.
            refuse_thinning(self.sampling)
        refuse_numbers(self.columns)
        check_names(self.columns, self.person, ("count", "sampled", "estimate", "low", "high"))
        refuse_choice(self.columns, "an outlier-table")
        check_closed(self.columns, "an outlier-table")
        if self.strata is not None:
            refuse_unseen_rates(self.strata, self.sampling)

    @property
    def cells(self) -> int:
        """The number of bins, empty ones included."""
        return math.prod(column.recoding.size or 1 for column in self.columns)
