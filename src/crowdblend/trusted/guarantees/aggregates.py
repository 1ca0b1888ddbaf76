"""Aggregates that a zero-knowledge simulator sees: the yardstick of a guarantee."""

from __future__ import annotations

from dataclasses import dataclass

from crowdblend.errors import InvalidInput
from crowdblend.trusted.guarantees.parameters import CheckedFields, check_ends
from crowdblend.trusted.guarantees.wording import exactly


@dataclass(frozen=True)
class Aggregate(CheckedFields):
    """Information about the other people that counts as harmless."""

    def words(self) -> str:
        """Completes 'its probability is at most … times what it would be from …'."""
        raise NotImplementedError


@dataclass(frozen=True)
class RandomSamples(Aggregate):
    """RS: a fixed number of random people out of a population."""

    samples: int
    population: int

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.samples > self.population:
            raise InvalidInput(
                f"samples must be at most population = {self.population}, got {self.samples}. Draw fewer people."
            )

    def words(self) -> str:
        if self.samples == self.population:
            return f"the data of all {self.population:,} people, you concealed"
        return f"the data of {self.samples:,} random people out of {self.population:,}, you concealed"


@dataclass(frozen=True)
class IidSampling(Aggregate):
    """iidRS: everybody else sampled with the same probability, independently, in several rounds."""

    rate: float
    rounds: int = 1

    def words(self) -> str:
        times = "once" if self.rounds == 1 else f"{self.rounds} times"
        return f"everybody else sampled {times}, each with probability {exactly(self.rate)}"


@dataclass(frozen=True)
class RobustSampling(Aggregate):
    """iRS: everybody else sampled with a probability in {0} ∪ [low, high], a few exceptions aside."""

    low: float
    high: float
    exceptions: int

    def __post_init__(self) -> None:
        super().__post_init__()
        check_ends(self.low, self.high)

    def words(self) -> str:
        ends = exactly(self.low), exactly(self.high)
        chance = f"either 0 or {ends[0]}" if ends[0] == ends[1] else f"0 or between {ends[0]} and {ends[1]}"
        excepted = f", {self.exceptions:,} people excepted" if self.exceptions else ""
        return f"everybody else sampled with a probability of {chance}{excepted}"


@dataclass(frozen=True)
class Exploration(Aggregate):
    """RSE: random people of a network, each with the first few people reached from there."""

    samples: int
    explored: int

    def words(self) -> str:
        return f"{self.samples:,} random people and up to {self.explored:,} people reached from each, you concealed"


@dataclass(frozen=True)
class Neighbourhood(Aggregate):
    """RSN: random people of a network, each with everybody within a few steps."""

    samples: int
    radius: int

    def words(self) -> str:
        steps = "1 step" if self.radius == 1 else f"{self.radius} steps"
        return f"{self.samples:,} random people and everybody within {steps} of each, you concealed"


@dataclass(frozen=True)
class Together(Aggregate):
    """Several aggregates at once, each with random choices of its own."""

    aggregates: tuple[Aggregate, ...]

    def __post_init__(self) -> None:
        super().__post_init__()
        if len(self.aggregates) < 2 or any(not isinstance(part, Aggregate) for part in self.aggregates):
            raise InvalidInput("aggregates must be at least two. Use a single aggregate by itself.")

    def words(self) -> str:
        return ", and ".join(part.words() for part in self.aggregates)
