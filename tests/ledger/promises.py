"""Promises as a planned release makes them."""

from __future__ import annotations

from functools import cache

from crowdblend import plan
from crowdblend.guarantees import Guarantee
from crowdblend.ledger import Promise

DIGEST, DATA = "ab" * 32, "cd" * 32


@cache
def planned(rate: float = 0.1, epsilon: float = 1.0) -> tuple[Guarantee, ...]:
    return plan(rate=rate, epsilon=epsilon, delta=1e-6).certificate().guarantees


def promise(
    sample: str = "draw-1",
    population: str = "residents",
    fresh: bool = True,
    guarantees: tuple[Guarantee, ...] | None = None,
) -> Promise:
    made = planned() if guarantees is None else guarantees
    return Promise(population, sample, fresh, "table", made, "out")


def shared(sample: str = "survey.parquet", population: str = "residents") -> Promise:
    return promise(sample, population, fresh=False)
