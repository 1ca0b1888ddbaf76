"""The policy of microdata: the rows of sampled people whose class has at least k of them."""

from __future__ import annotations

from typing import ClassVar, Never

from crowdblend.policies.crowd import RecodedPolicy
from crowdblend.policies.publication import Publication
from crowdblend.policies.sampling import designs_for


class MicrodataPolicy(RecodedPolicy, frozen=True, kw_only=True):
    """Rows of people; classes below k are left out, and nothing of them is noisy."""

    kind = "microdata"
    designs = designs_for("poisson", crowds=True)
    audits_strata = True
    below_k: ClassVar[str] = "suppress"
    flag: ClassVar[bool] = False
    noise_epsilon: ClassVar[None] = None
    show_from: ClassVar[None] = None


class Microdata(Publication):
    """Rows of sampled people, where at least k of them are in their class."""

    kind = "microdata"
    policy = MicrodataPolicy

    def __init__(
        self,
        *columns: str,
        name: str | None = None,
        share: float | None = None,
        weight: float = 1.0,
        k: int | None = None,
        **unknown: Never,
    ) -> None:
        super().__init__(columns, name, share, weight, {"k": k}, unknown)
