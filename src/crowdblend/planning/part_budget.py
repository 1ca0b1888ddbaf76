"""The budget of a publication from a part of one sample, and the smallest crowds within it."""

from __future__ import annotations

from collections.abc import Callable

from crowdblend.frozen import dataclass
from crowdblend.guarantees import PartOfSample
from crowdblend.planning.parts import largest_noise, smallest_k


@dataclass(frozen=True)
class PartBudget:
    """The share of a part, those of all parts, the rate of the sample, and what the part loses at most.

    `drawn` is the share that its publication has of the sample: larger than that of the part where others of its people
    choose the recoding.

    `noise_loss` is the part of epsilon that noise may spend in one release: all of it where there is one, and less in a
    series, in which crowds hardly lose more, and noise loses every time.
    """

    share: float
    shares: tuple[float, ...]
    rate: float
    epsilon: float
    delta: float
    noise_loss: float
    drawn: float

    @property
    def own_rate(self) -> float:
        """The rate at which people come into this part."""
        return self.rate * self.share

    @property
    def noise(self) -> float:
        """The largest loss of noise that costs no delta at epsilon."""
        return largest_noise(self.shares, self.rate, self.noise_loss)

    @property
    def own_delta(self) -> float:
        """The delta that a mechanism may have by itself, before sampling."""
        return min(1.0, self.delta / (self.rate * min(1.0, sum(self.shares))))

    def smallest_k(self, part: Callable[[int], PartOfSample]) -> int:
        """Return the smallest k with which the part keeps to epsilon and delta."""
        return smallest_k(part, self.shares, rate=self.rate, epsilon=self.epsilon, delta=self.delta)
