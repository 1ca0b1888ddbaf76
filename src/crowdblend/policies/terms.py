"""Terms: what a policy says once for all its publications: source, design, budget and columns."""

from __future__ import annotations

from typing import Annotated

from crowdblend.policies.choosing import Choosing
from crowdblend.policies.columns import Column
from crowdblend.policies.crowd import Accept, Delta, Epsilon
from crowdblend.policies.key import part
from crowdblend.policies.publication_policy import Releases, RowsPerPerson, SourceAndFormat, data_key
from crowdblend.policies.sampling_section import Sampling


class Terms(SourceAndFormat, frozen=True, kw_only=True):
    """Decisions made once: the rows, the person, the sampling, and the budget."""

    needs_columns = False

    columns: tuple[Column, ...] = ()
    sampling: Annotated[Sampling | None, part("How people are drawn.")] = None
    people: Annotated[
        int | None,
        data_key(
            "How many people the population has, where you know it: delta has to stay below one over it. Statistics "
            "and synopses of a register need it.",
            (1, 10**12),
        ),
    ] = None
    rows_per_person: RowsPerPerson = None
    epsilon: Epsilon = None
    delta: Delta = None
    releases: Releases = 1
    accept_delta: Accept = False
    recoding: Annotated[Choosing | None, part("How the recoding is chosen, where columns offer several.")] = None

    def gives(self, field: str) -> bool:
        """Return whether a field says something that leaving it out would not."""
        return bool(getattr(self, field) != _DEFAULTS[field])


SHARED = Terms.__struct_fields__
_DEFAULTS = dict(zip(SHARED, Terms.__struct_defaults__, strict=True))
