"""The policy of microdata: the rows of sampled people whose class has at least k of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crowdblend.policies.crowd import Crowds, RecodedPolicy
from crowdblend.policies.sampling import designs_for


class Microdata(Crowds, frozen=True, kw_only=True):
    """Rows of sampled people, where at least k of them are in their class."""

    kind = "microdata"
    designs = designs_for("poisson", crowds=True)
    audits_strata = True

    if TYPE_CHECKING:

        def __init__(
            self,
            *columns: str,
            name: str | None = None,
            share: float | None = None,
            weight: float = 1.0,
            k: int | None = None,
        ) -> None: ...


class MicrodataPolicy(RecodedPolicy, frozen=True, kw_only=True):
    """Rows of people; classes below k are left out, and nothing of them is noisy."""

    publication: Microdata
