"""What a planned release spends."""

from functools import cache

from crowdblend import plan
from crowdblend.ledger import Spending
from crowdblend.trusted.guarantees.privacy import Guarantee

DIGEST, DATA = "ab" * 32, "cd" * 32


@cache
def planned(rate: float = 0.1, epsilon: float = 1.0) -> tuple[Guarantee, ...]:
    return plan(rate=rate, epsilon=epsilon, delta=1e-6).certificate().guarantees


def spending(
    sample: str = "draw-1",
    population: str = "residents",
    fresh: bool = True,
    guarantees: tuple[Guarantee, ...] | None = None,
    series: int = 1,
) -> Spending:
    made = planned() if guarantees is None else guarantees
    return Spending(population, sample, fresh, "table", made, "out", series=series)


def shared(sample: str = "survey.parquet", population: str = "residents") -> Spending:
    return spending(sample, population, fresh=False)
