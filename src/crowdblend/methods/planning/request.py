"""Requests: the parameters that a steward fixes, and the one to solve for."""

from __future__ import annotations

from dataclasses import dataclass, fields
from fractions import Fraction
from typing import Any, Literal

from crowdblend.errors import InvalidInput
from crowdblend.trusted.guarantees.parameters import MOST_PARTS, PARAMETERS, SHARES_ROUNDING, CheckedFields, check
from crowdblend.trusted.guarantees.privacy import Relation

# What is published of a crowd: its size, its records one by one, or its points, moved by noise.
Form = Literal["histogram", "records", "moved"]
SOLVABLE = ("k", "rate", "epsilon", "delta")


@dataclass(frozen=True)
class PlanRequest(CheckedFields):
    """Exactly one of k, rate, epsilon and delta is None; the rest is given.

    With `low` and `high` the sampling is biased: then the rate is not solved for, and only says what is typical.
    With below_k = "noise" small counts are noised rather than dropped; `flag` says whether cells tell that they are
    exact, and noise_epsilon the loss of the noise, by default the largest that sampling makes good for.
    With `shares` several tables are published, each from its own part of the sample.
    With `releases` above 1, epsilon and delta are for this many releases together, each from a fresh sample. Where each
    of them chooses its recoding, choice_epsilon is what a choice costs and choosing_share the part that chooses.
    With `samples` and `population` the table is a survey of this many people, which is thinned at the rate; epsilon and
    delta are then for one person's data replaced.
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
    form: Form = "histogram"
    below_k: str = "suppress"
    noise_epsilon: float | None = None
    flag: bool = False
    shares: tuple[float, ...] = ()
    releases: int = 1
    choice_epsilon: float | None = None
    choosing_share: float | None = None
    samples: int | None = None
    population: int | None = None

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if value is not None and field.name in PARAMETERS:
                check(field.name, value)
        self._check_bias()
        self._check_noise()
        self._check_parts()
        self._check_unknown()

    @property
    def biased(self) -> bool:
        """True if people are sampled with different probabilities."""
        return self.low is not None

    @property
    def survey_parameters(self) -> dict[str, int]:
        """The people asked and the population, as the rules spell them; empty without a survey."""
        if self.samples is None or self.population is None:
            return {}
        return {"samples": self.samples, "population": self.population}

    @property
    def relation(self) -> Relation:
        """The neighbours that epsilon and delta are about: a survey has a fixed number of people."""
        return Relation.REPLACE if self.survey_parameters else Relation.ADD_REMOVE

    @property
    def unknown(self) -> str:
        """The parameter to solve for."""
        names = [name for name in SOLVABLE if getattr(self, name) is None and not (self.biased and name == "rate")]
        return names[0]

    @property
    def protected_rate(self) -> float:
        """The largest sampling probability of anyone who is protected."""
        if self.max_rate is not None:
            return self.max_rate
        return self.high if self.exceptions == 0 and self.high is not None else 1.0

    def sampling(self, rate: float | None) -> dict[str, Any]:
        """Return the sampling parameters as the rules spell them."""
        if not self.biased:
            return {"rate": rate}
        return {"low": self.low, "high": self.high, "exceptions": self.exceptions, "max_rate": self.protected_rate}

    def _check_bias(self) -> None:
        if (self.low is None) != (self.high is None):
            raise _refusal("range", "Only one of low and high is given.", "Pass both, or a rate alone.", "low")
        if self.low is None and (self.exceptions or self.max_rate is not None):
            message = "Pass the ordinary range of probabilities too."
            raise _refusal("range", "exceptions and max_rate need low and high.", message, "low")
        if self.low is not None and self.high is not None:
            if self.low > self.high:
                raise _refusal("range", f"`low = {self.low:g}` is above `high = {self.high:g}`.", "Swap them.", "low")
            if self.max_rate is not None and self.max_rate < self.high:
                raise _refusal(
                    "max-rate",
                    f"`max_rate = {self.max_rate:g}` is below `high = {self.high:g}`; "
                    "everyone in the ordinary range is "
                    "protected.",
                    "Raise max_rate.",
                    "max_rate",
                )
            if self.rate is not None and not self.low <= self.rate <= self.high:
                message = f"`rate = {self.rate:g}` is not between `low = {self.low:g}` and `high = {self.high:g}`."
                raise _refusal("rate", message, "Pass the typical probability, or leave the rate out.", "rate")

    @property
    def noisy(self) -> bool:
        """True if small counts are noised rather than dropped."""
        return self.below_k == "noise"

    @property
    def crowd_epsilon(self) -> float:
        """The distance between members of one crowd."""
        return self.noise_epsilon or 0.0 if self.form == "moved" else self.blend_epsilon

    def _check_noise(self) -> None:
        if self.form == "moved":
            if self.noise_epsilon is None or self.noisy or self.flag or self.blend_epsilon:
                raise _refusal(
                    "points-noise",
                    "Points take noise_epsilon, how far points of one block may be told apart, without below_k, flag "
                    "and blend_epsilon.",
                    "Pass noise_epsilon alone.",
                    "noise_epsilon",
                )
            return
        if self.below_k not in ("suppress", "noise"):
            raise _refusal("below-k", f"below_k is {self.below_k!r}.", "Use suppress or noise.", "below_k")
        if not self.noisy:
            if self.flag or self.noise_epsilon is not None:
                message = "flag and noise_epsilon need below_k = noise."
                raise _refusal("noise-needed", message, "Leave them out to suppress.", "below_k")
        elif self.biased or self.blend_epsilon or self.form != "histogram":
            message = "Noise below k is certified only for tables from unbiased sampling."
            raise _refusal("noise-below-k", message, "Suppress below k instead.", "below_k")
        elif self.epsilon == 0:
            message = "Noise below k needs an epsilon above 0."
            raise _refusal("noise-below-k", message, "Raise it, or suppress below k instead.", "epsilon")

    def _check_parts(self) -> None:
        if not self.shares:
            return
        for share in self.shares:
            check("share", share)
        if len(self.shares) > MOST_PARTS or sum(map(Fraction, self.shares)) > 1 + Fraction(SHARES_ROUNDING):
            message = f"A sample is divided into at most {MOST_PARTS} parts whose shares add up to at most 1."
            remedy = "Plan fewer tables, or lower their shares."
            raise InvalidInput(message, remedy=remedy, where="parts", code="plan.parts")
        if self.biased or self.noisy or self.blend_epsilon or self.form == "moved" or self.survey_parameters:
            message = "Tables from disjoint parts are certified for suppression and one sampling rate only."
            remedy = 'Use `publish.below_k = "suppress"` and a rate, or plan one table.'
            raise InvalidInput(message, remedy=remedy, where="parts", code="plan.parts")

    def _check_unknown(self) -> None:
        candidates = [name for name in SOLVABLE if not (self.biased and name == "rate")]
        missing = [name for name in candidates if getattr(self, name) is None]
        if len(missing) != 1:
            listed = [", ".join(some[:-1]) + f" and {some[-1]}" if some else "none" for some in (candidates, missing)]
            unset = f"{listed[1]} are unset" if missing else "all of them are set"
            raise _refusal("unknown", f"One of {listed[0]} is solved for; {unset}.", "Leave exactly one unset.", "k")


def _refusal(code: str, message: str, remedy: str, where: str) -> InvalidInput:
    """Return an error about the parameters of a plan; its code begins with `plan.`."""
    return InvalidInput(message, remedy=remedy, where=where, code=f"plan.{code}")
