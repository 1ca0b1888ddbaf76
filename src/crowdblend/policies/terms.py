"""Terms: what a policy says once for all its publications: source, design, budget and columns."""

from __future__ import annotations

from functools import partial
from typing import Annotated

from msgspec.structs import force_setattr

from crowdblend.policies.choosing import Choosing
from crowdblend.policies.columns import Column
from crowdblend.policies.key import key, part
from crowdblend.policies.publication_policy import Sourced, data_key
from crowdblend.policies.sampling import Sampling

privacy_key = partial(key, section="privacy")


class Terms(Sourced, frozen=True, kw_only=True):
    """What is decided once: where the rows are, who is protected, how people are drawn, and the budget."""

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
    rows_per_person: Annotated[
        int | None,
        data_key(
            "In a register: how many rows a person may have; of more, as many random ones are kept.", "rows_per_person"
        ),
    ] = None
    epsilon: Annotated[float | None, privacy_key("The privacy loss; leave it out to have it planned.", "epsilon")] = (
        None
    )
    delta: Annotated[
        float | None, privacy_key("The probability beyond epsilon; leave it out to have it planned.", "delta")
    ] = None
    releases: Annotated[
        int,
        privacy_key(
            "How many such releases there will be, each from a fresh sample: epsilon and delta are for all of them "
            "together.",
            "releases",
        ),
    ] = 1
    accept_delta: Annotated[
        bool,
        privacy_key("True to publish although delta is above 1e-3, or above one over the people of the population."),
    ] = False
    recoding: Annotated[Choosing | None, part("How the recoding is chosen, where columns offer several.")] = None

    def gives(self, field: str) -> bool:
        """Return whether a field says something that leaving it out would not."""
        return bool(getattr(self, field) != _DEFAULTS[field])

    def with_columns(self, columns: tuple[Column, ...]) -> Terms:
        """Return the same terms about other columns."""
        made = self.replace()
        force_setattr(made, "columns", columns)
        return made


SHARED = Terms.__struct_fields__
_DEFAULTS = dict(zip(SHARED, Terms.__struct_defaults__, strict=True))
