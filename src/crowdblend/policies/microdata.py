"""The policy of microdata: a row for each person of a class of at least k."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from crowdblend.policies.key import key
from crowdblend.policies.recoded import RecodedPolicy


@dataclass(frozen=True, kw_only=True)
class Microdata(RecodedPolicy):
    """Rows of people; classes below k are left out, and nothing of them is noisy."""

    kind = "microdata"
    flag: ClassVar[bool] = False
    noise_epsilon: ClassVar[None] = None
    show_from: ClassVar[None] = None
    tables: ClassVar[tuple[()]] = ()
    shares: ClassVar[tuple[()]] = ()

    below_k: Literal["suppress"] = key("What happens to classes below k.", default="suppress")
