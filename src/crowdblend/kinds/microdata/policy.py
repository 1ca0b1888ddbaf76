"""The policy of microdata: a row for each person of a class of at least k."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from crowdblend.policies.crowd import RecodedPolicy
from crowdblend.policies.key import key


class Microdata(RecodedPolicy, frozen=True, kw_only=True):
    """Rows of people; classes below k are left out, and nothing of them is noisy."""

    kind = "microdata"
    designs = ("draw", "sample")
    audits_strata = True
    flag: ClassVar[bool] = False
    noise_epsilon: ClassVar[None] = None
    show_from: ClassVar[None] = None
    tables: ClassVar[tuple[()]] = ()
    shares: ClassVar[tuple[()]] = ()

    below_k: Annotated[Literal["suppress"], key("What happens to classes below k.")] = "suppress"
