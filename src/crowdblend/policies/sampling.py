"""The section [sampling]: people are drawn one by one with a rate, or exactly so many of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

from crowdblend.policies.key import Section, refusal
from crowdblend.policies.key import key as declared
from crowdblend.policies.strata import check_design, check_exact_design, rates_of

_BIASED = "Biased sampling: "
_STRATUM = "the column whose labels are the strata."
_RATES = "the rate of every label of stratum, or the path of a CSV file with a label and a rate in each line."
_WEIGHT = "the column of the design weight, which is one over the sampling probability."
_KEY = "What happens to the secret key of the sample."


@dataclass(frozen=True, kw_only=True)
class Sampling(Section):
    """How people are drawn, each by a coin of their own; `rate` is None where it is planned."""

    section = "sampling"

    rate: float | None = declared("The share of people kept.", ranged=True)
    already_drawn: bool = declared(
        "True when the table is itself the sample and the rate is your assumption.", default=False
    )
    everybody: bool = declared(
        "True for a register: everybody is in the table, no sample is drawn, and every cell is noisy.", default=False
    )
    fresh: bool = declared(
        "True when every table of [[tables]] is counted in a fresh sample of its own, each at this rate.", default=False
    )
    stratum: str | None = declared("Stratified sampling: " + _STRATUM)
    rates: Any = declared("Stratified sampling: " + _RATES, kind="rates")
    weight: str | None = declared("An already drawn survey: " + _WEIGHT)
    low: float | None = declared(_BIASED + "the smallest probability of the people who can be sampled.", ranged=True)
    high: float | None = declared(_BIASED + "the largest ordinary probability.", ranged=True)
    exceptions: int = declared(_BIASED + "how many people may have any probability.", ranged=True, default=0)
    max_rate: float | None = declared(_BIASED + "the largest probability of anybody protected.", ranged=True)
    key: Literal["destroy", "seal"] = declared(_KEY, default="destroy")

    def __post_init__(self) -> None:
        super().__post_init__()
        low, high = self.low, self.high
        check_design(self)
        if self.everybody and (self.rate is not None or self.already_drawn or low is not None or high is not None):
            raise refusal(
                "everybody",
                "everybody = true draws no sample.",
                "Remove rate, already_drawn, low and high from [sampling], or everybody.",
                "[sampling] everybody",
            )
        other = (self.already_drawn, self.everybody, low is not None, high is not None, self.stratum is not None)
        if self.fresh and (any(other) or self.rates is not None or self.weight is not None):
            raise refusal(
                "fresh",
                "fresh = true draws a sample for every table, at one rate, from people who are all in the data.",
                "Remove everybody, already_drawn, stratum, rates, weight, low and high from [sampling], or fresh.",
                "[sampling] fresh",
            )
        if low is None or high is None:
            if low is not None or high is not None or self.exceptions or self.max_rate is not None:
                raise refusal(
                    "biased-sampling",
                    "Biased sampling needs both low and high in [sampling].",
                    "Give the smallest and the largest ordinary probability, or remove exceptions and max_rate.",
                    "[sampling] low",
                )
            if self.already_drawn and self.rate is None and not self.designed:
                raise refusal(
                    "assumed-rate",
                    "already_drawn = true needs the assumed sampling rate.",
                    "Add rate to [sampling].",
                    "[sampling] rate",
                )
            return
        if low > high:
            raise refusal(
                "biased-sampling", f"low in [sampling] is {low} and above high, {high}.", "Swap them.", "[sampling] low"
            )
        if self.rate is not None and not low <= self.rate <= high:
            raise refusal(
                "biased-sampling",
                f"rate in [sampling] is {self.rate} and does not lie between low, {low}, and high, {high}.",
                "Widen low and high, or remove rate.",
                "[sampling] rate",
            )
        if self.rate is None and not self.already_drawn:
            raise refusal(
                "biased-sampling",
                "[sampling] has low and high, but no rate to draw at.",
                "Add rate, or already_drawn = true.",
                "[sampling] rate",
            )
        if self.max_rate is not None and self.max_rate < high:
            raise refusal(
                "biased-sampling",
                f"max_rate in [sampling] is {self.max_rate} and below high, {high}.",
                "Raise max_rate.",
                "[sampling] max_rate",
            )

    @property
    def designed(self) -> bool:
        """Whether strata or weights say how likely people were to be sampled, instead of one rate."""
        return self.stratum is not None or self.weight is not None

    @cached_property
    def stratum_rates(self) -> Mapping[str, float]:
        """The rate of every stratum by its label, read from the file where one is named."""
        return rates_of(self.rates)

    @property
    def biased(self) -> bool:
        """Whether people's probabilities may differ, so that low and high carry the guarantee."""
        return self.low is not None


@dataclass(frozen=True, kw_only=True)
class ExactSample(Section):
    """Exactly `sample` random people; the guarantee is relative to so many, whether or not they are drawn.

    `sample` is None where it is planned from the errors of statistics, with `everybody`, and where statistics are of
    strata, whose people are drawn one by one with a rate.
    """

    section = "sampling"

    sample: int | None = declared(
        "How many random people the guarantee is relative to, or are drawn.", between=(1, 10**12)
    )
    everybody: bool = declared(
        "True instead of sample: nobody is left out, and the guarantee is plain differential privacy.", default=False
    )
    stratum: str | None = declared("Statistics of a stratified sample: " + _STRATUM)
    rates: Any = declared("Statistics of a stratified sample: " + _RATES, kind="rates")
    weight: str | None = declared("Statistics of an already drawn survey: " + _WEIGHT)
    already_drawn: bool = declared(
        "With stratum or weight: true when the table is itself the sample and the rates are your assumption.",
        default=False,
    )
    key: Literal["destroy", "seal"] = declared(_KEY, default="destroy")

    def __post_init__(self) -> None:
        super().__post_init__()
        check_exact_design(self)
        if self.everybody and self.sample is not None:
            raise refusal(
                "everybody",
                "everybody = true draws no sample.",
                "Remove sample or everybody from [sampling].",
                "[sampling] everybody",
            )

    @property
    def designed(self) -> bool:
        """Whether strata or weights say how likely people were to be sampled, instead of a number of people."""
        return self.stratum is not None or self.weight is not None

    @cached_property
    def stratum_rates(self) -> Mapping[str, float]:
        """The rate of every stratum by its label, read from the file where one is named."""
        return rates_of(self.rates)


NOT_SAMPLED = Sampling()
