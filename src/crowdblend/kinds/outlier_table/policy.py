"""The policy of an outlier-private table: every bin noisy, small bins more."""

from __future__ import annotations

import math
from typing import Annotated, ClassVar, Never

from crowdblend.policies.columns import check_closed, check_names, refuse_choice, refuse_numbers
from crowdblend.policies.crowd import SURVEY_ROWS, Accept, Delta, Drawn, People, refuse_unseen_rates
from crowdblend.policies.exactly import refuse_thinning
from crowdblend.policies.key import Rule, key, one_of
from crowdblend.policies.publication import Publication
from crowdblend.policies.publication_policy import PublicationPolicy, SampledPolicy
from crowdblend.policies.refusals import refusal
from crowdblend.policies.sampling import NOT_SAMPLED, designs_for
from crowdblend.policies.terms import Terms


class OutlierTablePolicy(SampledPolicy, frozen=True, kw_only=True):
    """The decisions of the steward; `transition` is None where it is planned for delta.

    Without a rate nobody is drawn.
    """

    kind = "outlier-table"
    designs = designs_for("everybody")
    rows_are_counted = True
    rules: ClassVar[tuple[Rule, ...]] = (
        SURVEY_ROWS,
        one_of("delta", "transition", code="planned", because="one is planned from the other"),
    )

    sampling: Drawn = NOT_SAMPLED
    limit: Annotated[int, key("K: a bin of that size would need no noise beyond epsilon's.", "limit")]
    transition: Annotated[
        int | None, key("t: noise is constant from K - t people on; planned unless given.", "transition")
    ] = None
    factor: Annotated[
        float, key("c: the guarantee for crowds of j is c times epsilon(j); 2 unless given.", "factor")
    ] = 2.0
    epsilon: Annotated[float, key("The privacy loss: what anybody spends at most.", "epsilon", section="privacy")]
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
        check_names(self.columns, self.person, ("count", "sampled", "estimate", "low", "high"))
        refuse_choice(self.columns, "an outlier-table")
        check_closed(self.columns, "an outlier-table")
        if self.design is not None:
            refuse_unseen_rates(self.design, self.sampling)

    @property
    def cells(self) -> int:
        """The number of bins, empty ones included."""
        return math.prod(column.recoding.size or 1 for column in self.columns)


class OutlierTable(Publication):
    """A table whose bins are all noisy, the more the smaller they are."""

    kind = "outlier-table"
    policy = OutlierTablePolicy

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
        **unknown: Never,
    ) -> None:
        keys = {"limit": limit, "transition": transition, "factor": factor, "show_from": show_from}
        super().__init__(columns, name, share, weight, keys, unknown)

    def within(self, terms: Terms, **own: object) -> PublicationPolicy:
        """Return what the policy decides about this publication; refuses to leave people out, which noise need not."""
        if terms.sampling is not None:
            refuse_thinning(terms.sampling)
        return super().within(terms, **own)

    def within_programme(self, terms: Terms) -> PublicationPolicy:
        """Return it without the programme's delta where the noise is given; refuses a factor, which says nothing."""
        if "factor" in self.keys:
            message = (
                "The guarantee of crowds by their size is stated of an outlier-table alone, and factor is about it."
            )
            raise refusal(
                "factor", message, "Remove factor, or publish it in a policy of its own.", "[[publish]] factor"
            )
        # Coins of its own or a part of a survey leave people out, which a publication by itself need not.
        return Publication.within(self, terms.replace(delta=None) if "transition" in self.keys else terms)
