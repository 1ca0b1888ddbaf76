"""The section [sampling]: people are drawn one by one with a rate, or exactly so many of them."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from itertools import pairwise
from typing import Annotated, ClassVar, Literal

from crowdblend.policies.key import Rates, Rule, Section, conflicts, needs
from crowdblend.policies.key import key as says
from crowdblend.policies.refusals import refusal
from crowdblend.policies.stratum_rates import rates_of

_BIASED = "Biased sampling: "


class AnySampling(Section, frozen=True, kw_only=True):
    """What every design may say: strata, weights, or that nobody is drawn here."""

    section = "[sampling]"
    rules: ClassVar[tuple[Rule, ...]] = (
        needs("stratum", "rates", because="every label of its column has a rate"),
        needs("rates", "stratum", code="stratum", because="it names the column of the labels"),
        needs("weight", "already_drawn", because="it is the design weight of a survey that was already drawn"),
        conflicts("weight", "everybody", because="it is the design weight of a survey that was already drawn"),
    )

    already_drawn: Annotated[
        bool, says("True when the table is itself the sample and its rate or rates are your assumption.")
    ] = False
    everybody: Annotated[bool, says("True for a register: everybody is in the table, and no sample is drawn.")] = False
    stratum: Annotated[str | None, says("Stratified sampling: the column whose labels are the strata.")] = None
    rates: Annotated[
        Rates | None,
        says(
            "Stratified sampling: the rate of every label of stratum, or the path of a CSV file with a label and a "
            "rate in each line."
        ),
    ] = None
    weight: Annotated[
        str | None,
        says("An already drawn survey: the column of the design weight, which is one over the sampling probability."),
    ] = None
    key: Annotated[Literal["destroy", "seal"], says("What happens to the secret key of the sample.")] = "destroy"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.rates is not None:
            _ = self.stratum_rates

    @property
    def designed(self) -> bool:
        """Whether strata or weights say how likely people were to be sampled, instead of one rate or number."""
        return self.stratum is not None or self.weight is not None

    @cached_property
    def stratum_rates(self) -> Mapping[str, float]:
        """The rate of every stratum by its label, read from the file where one is named."""
        return rates_of(self.rates or {})


class Sampling(AnySampling, frozen=True, kw_only=True):
    """How people are drawn, each by a coin of their own; `rate` is None where it is planned."""

    rules: ClassVar[tuple[Rule, ...]] = (
        conflicts(
            *("stratum", "rate", "low", "high", "max_rate", "weight", "exceptions", "everybody"),
            because="strata have rates of their own",
        ),
        conflicts("everybody", "rate", "already_drawn", "low", "high", because="it draws no sample"),
        conflicts(
            *("fresh", "everybody", "already_drawn", "stratum", "weight", "low", "high"),
            because="it draws a sample for every table, at one rate, from people who are all in the data",
        ),
        *(
            needs(
                name, other, code="biased-sampling", because="biased sampling has a smallest and a largest probability"
            )
            for name, other in (("low", "high"), ("high", "low"), ("exceptions", "low"), ("max_rate", "low"))
        ),
        needs(
            *("already_drawn", "rate", "stratum", "weight", "low"),
            code="assumed-rate",
            because="the assumed sampling rate is missing",
        ),
        needs("low", "rate", "already_drawn", code="biased-sampling", because="without it there is no rate to draw at"),
    )

    rate: Annotated[float | None, says("The share of people kept.", "rate")] = None
    fresh: Annotated[
        bool, says("True when every table of [[tables]] is counted in a fresh sample of its own, each at this rate.")
    ] = False
    low: Annotated[
        float | None, says(_BIASED + "the smallest probability of the people who can be sampled.", "low")
    ] = None
    high: Annotated[float | None, says(_BIASED + "the largest ordinary probability.", "high")] = None
    exceptions: Annotated[int, says(_BIASED + "how many people may have any probability.", "exceptions")] = 0
    max_rate: Annotated[float | None, says(_BIASED + "the largest probability of anybody protected.", "max_rate")] = (
        None
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        ends = ((name, getattr(self, name)) for name in ("low", "rate", "high", "max_rate"))
        for (name, value), (above, bound) in pairwise([end for end in ends if self.biased and end[1] is not None]):
            if value > bound:
                message = f"{name} in [sampling] is {value} and above {above}, {bound}."
                remedy = "Correct them: low, rate, high and max_rate rise in this order."
                raise refusal("biased-sampling", message, remedy, f"[sampling] {name}")

    @property
    def biased(self) -> bool:
        """Whether people's probabilities may differ, so that low and high carry the guarantee."""
        return self.low is not None


class ExactSample(AnySampling, frozen=True, kw_only=True):
    """Exactly `sample` random people; the guarantee is relative to so many, whether or not they are drawn.

    `sample` is None where it is planned from the errors of statistics, with `everybody`, and where statistics are of
    strata, whose people are drawn one by one with a rate.
    """

    rules: ClassVar[tuple[Rule, ...]] = (
        needs("already_drawn", "stratum", "weight", because="they say how people were drawn"),
        conflicts("stratum", "sample", "everybody", "weight", because="strata have rates of their own"),
        conflicts("weight", "sample", because="weights say how people were drawn"),
        conflicts("everybody", "sample", because="it draws no sample"),
    )

    sample: Annotated[
        int | None, says("How many random people the guarantee is relative to, or are drawn.", (1, 10**12))
    ] = None


NOT_SAMPLED = Sampling()
