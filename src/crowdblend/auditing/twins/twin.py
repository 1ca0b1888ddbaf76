"""A broken twin: a mechanism with one mistake, next to the same without it."""

from __future__ import annotations

from dataclasses import dataclass

from crowdblend.auditing.claim import Claim


@dataclass(frozen=True)
class Twin:
    """Two claims that differ in one mistake. The audit must refute the broken one and not the honest one."""

    name: str
    mistake: str
    broken: Claim
    honest: Claim
