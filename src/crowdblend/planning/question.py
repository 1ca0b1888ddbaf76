"""What a steward fixes and what is left to solve for."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

from crowdblend.errors import InvalidInput
from crowdblend.guarantees.parameters import PARAMETERS, Checked, check

SOLVABLE = ("k", "rate", "epsilon", "delta")


@dataclass(frozen=True)
class Question(Checked):
    """Exactly one of k, rate, epsilon and delta is None; the rest is given.

    With `low` and `high` the sampling is biased: then the rate is not solved for, and only says what is typical.
    With below_k = "noise" small counts are noised rather than dropped; `flag` says whether cells tell that they are
    exact, and noise_epsilon the loss of the noise, by default the largest that sampling makes good for. With `releases`
    above 1, epsilon and delta are for so many releases together, each from a fresh sample.
    """

    rate: float | None = None
    k: int | None = None
    epsilon: float | None = None
    delta: float | None = None
    blend_epsilon: float = 0.0
    low: float | None = None
    high: float | None = None
    exceptions: int = 0
    max_rate: float | None = None
    kind: str = "table"
    below_k: str = "suppress"
    noise_epsilon: float | None = None
    flag: bool = False
    releases: int = 1

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if value is not None and field.name in PARAMETERS:
                check(field.name, value)
        self._check_bias()
        self._check_noise()
        self._check_unknown()

    @property
    def biased(self) -> bool:
        """Whether people are sampled with different probabilities."""
        return self.low is not None

    @property
    def unknown(self) -> str:
        """The parameter to solve for."""
        names = [name for name in SOLVABLE if getattr(self, name) is None and not (self.biased and name == "rate")]
        return names[0]

    @property
    def protected_rate(self) -> float:
        """The largest sampling probability of anybody who is protected."""
        if self.max_rate is not None:
            return self.max_rate
        return self.high if self.exceptions == 0 and self.high is not None else 1.0

    def sampling(self, rate: float | None) -> dict[str, Any]:
        """The sampling parameters as the rules spell them."""
        if not self.biased:
            return {"rate": rate}
        return {"low": self.low, "high": self.high, "exceptions": self.exceptions, "max_rate": self.protected_rate}

    def _check_bias(self) -> None:
        if (self.low is None) != (self.high is None):
            raise InvalidInput("low and high must be given together, got one of them. Pass both, or a rate alone.")
        if self.low is None and (self.exceptions or self.max_rate is not None):
            raise InvalidInput(
                "exceptions and max_rate need low and high. Pass the ordinary range of probabilities too."
            )
        if self.low is not None and self.high is not None:
            if self.low > self.high:
                raise InvalidInput(f"low must be at most high = {self.high:g}, got {self.low:g}. Swap them.")
            if self.max_rate is not None and self.max_rate < self.high:
                raise InvalidInput(
                    f"max_rate must be at least high = {self.high:g}, got {self.max_rate:g}. Everybody in the ordinary "
                    "range is protected."
                )
            if self.rate is not None and not self.low <= self.rate <= self.high:
                raise InvalidInput(
                    f"rate must be between low = {self.low:g} and high = {self.high:g}, got {self.rate:g}. "
                    "Pass the typical probability, or leave the rate out."
                )

    @property
    def noisy(self) -> bool:
        """Whether small counts are noised rather than dropped."""
        return self.below_k == "noise"

    @property
    def crowd_epsilon(self) -> float:
        """How far members of one crowd may be told apart."""
        return self.noise_epsilon or 0.0 if self.kind == "points" else self.blend_epsilon

    def _check_noise(self) -> None:
        if self.kind == "points":
            if self.noise_epsilon is None or self.noisy or self.flag or self.blend_epsilon:
                raise InvalidInput(
                    "points need noise_epsilon, how far points of one block may be told apart, and no below_k, flag or "
                    "blend_epsilon. Pass noise_epsilon alone."
                )
            return
        if self.below_k not in ("suppress", "noise"):
            raise InvalidInput(f"below_k must be suppress or noise, got {self.below_k!r}.")
        if not self.noisy:
            if self.flag or self.noise_epsilon is not None:
                raise InvalidInput("flag and noise_epsilon need below_k = noise. Leave them out to suppress.")
        elif self.biased or self.blend_epsilon or self.kind != "table":
            raise InvalidInput(
                "noise below k is certified for tables from unbiased sampling only. Suppress below k instead."
            )
        elif self.epsilon == 0:
            raise InvalidInput("epsilon must be above 0 for noise below k, got 0. Suppress below k instead.")

    def _check_unknown(self) -> None:
        candidates = [name for name in SOLVABLE if not (self.biased and name == "rate")]
        missing = [name for name in candidates if getattr(self, name) is None]
        if len(missing) != 1:
            given = "none" if not missing else ", ".join(missing)
            raise InvalidInput(
                f"exactly one of {', '.join(candidates)} must be left out to be solved for, got {given}."
            )
