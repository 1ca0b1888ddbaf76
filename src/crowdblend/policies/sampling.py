"""The section [sampling]: how people come into what is counted, one class for each design.

Drawn here: Poisson. The table is itself a sample: Coins, Weights. Either of the two: Survey (a fixed number), Strata,
Biased. Nobody is drawn: Everybody.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from itertools import pairwise
from typing import Annotated, Literal, Self

from msgspec.structs import replace

from crowdblend.policies.columns import Column
from crowdblend.policies.key import key as says
from crowdblend.policies.refusals import refusal
from crowdblend.policies.sampling_section import Sampling
from crowdblend.policies.strata import DeclaredStrata, rates_of, strata_by_label, strata_by_weight
from crowdblend.policies.value_types import Rates
from crowdblend.trusted.machine.lazy import lazy_imports

with lazy_imports():
    from crowdblend.methods import designs

Secret = Annotated[Literal["destroy", "seal"], says("What happens to the secret key of the sample.")]
AlreadyDrawn = Annotated[bool, says("True when the table is itself the sample and its rates are your assumption.")]
Thin = Annotated[
    float | None,
    says("Of a survey with these rates, however drawn: the share whom a secret coin keeps here, such as 0.8.", "rate"),
]
Rate = Annotated[float | None, says("The share of people kept; where k is given, it may be left to the plan.", "rate")]


class Poisson(Sampling, frozen=True):
    """Each person is kept here by a coin of their own; `rate` is None where it is planned."""

    design = "poisson"
    words = "everybody, or a survey of any kind, of whom a sample is drawn"
    meaning = (
        "Each person of the table is drawn here by a secret coin. Where the table is a survey, that thins it, and the "
        "guarantee is to its people, however they were chosen."
    )

    rate: Rate = None
    key: Secret = "destroy"

    def sample(self, strata: DeclaredStrata | None = None) -> designs.Design:
        """Return coins of the rate; without one, everybody."""
        return designs.Everybody() if self.rate is None else designs.Poisson(self.rate)


class Coins(Sampling, frozen=True):
    """The table is a sample to which each person came by an independent coin, as the steward assumes.

    A survey of a fixed number of people, or of quotas, households or volunteers, is no such sample: the number of
    people asked minus the counts shown is the number hidden, whatever k is. Draw from such a table with `Poisson`.
    """

    design = "coins"
    words = "a sample for which a coin of its own decided about each person"
    meaning = (
        "Independent coins are your assumption. A survey of a fixed number of people, or of quotas, households or "
        'volunteers, is not such a sample: write `sampling.design = "poisson"` for it.'
    )

    rate: Annotated[float, says("The share of people who were sampled, each by a coin of their own.", "rate")]

    already_drawn = True

    def sample(self, strata: DeclaredStrata | None = None) -> designs.Design:
        return designs.Coins(self.rate)

    def drawn_here(self) -> Poisson:
        return Poisson(self.rate)


class Survey(Sampling, frozen=True):
    """Exactly `people` of `of` people are drawn here; None where the number is planned from the errors wanted.

    With `thin` the table is itself such a survey, drawn before: crowds are those of its people whom a secret coin at
    that rate keeps, and noise keeps all of them (1). What is guaranteed is for one person's data replaced.
    """

    design = "survey"
    fixed_size = True
    words = "a fixed number of people at random: drawn here, or a survey that was drawn before (thin)"
    meaning = (
        "A fixed number of people out of a known number, each set equally likely; both numbers are public. With thin "
        "the table is the survey, and a secret coin keeps that share of its people."
    )

    people: Annotated[
        int | None, says("How many random people the guarantee is relative to, or are drawn.", (1, 10**12))
    ] = None
    of: Annotated[
        int | None,
        says("How many people there are in the population; this number is public.", (1, 10**12)),
    ] = None
    thin: Annotated[
        float | None,
        says(
            "The table is itself the survey: the share of its people whom a secret coin keeps, for crowds, such as "
            "0.8; 1 keeps all, for noise.",
            "max_rate",
        ),
    ] = None
    key: Secret = "destroy"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.people is not None and self.of is not None and self.people > self.of:
            message = f"`sampling.people` is {self.people}, of {self.of} people."
            raise refusal("sample", message, "Lower people, or correct of.", "`sampling.people`")
        if self.thin is not None and (self.people is None or self.of is None):
            name = "people" if self.people is None else "of"
            message = f"`sampling.thin` needs `sampling.{name}`."
            remedy = (
                "Say how many of how many people were drawn at random; if you do not "
                'know, use `sampling.design = "poisson"`.'
            )
            raise refusal("missing-key", message, remedy, f"`sampling.{name}`")

    @property
    def population(self) -> int | None:
        return self.of

    @property
    def already_drawn(self) -> bool:
        """True where the survey is thinned."""
        return self.thin is not None

    @property
    def rate(self) -> float | None:
        """The share of the survey's people who are kept."""
        return self.thin

    @property
    def table_rate(self) -> float | None:
        """The share of all people who were asked."""
        return None if self.people is None or self.of is None else self.people / self.of

    def sample(self, strata: DeclaredStrata | None = None) -> designs.Design:
        """Return the survey as it is thinned; everybody where it is not."""
        if self.thin is None or self.people is None or self.of is None:
            return designs.Everybody()
        return designs.ThinnedSurvey(self.thin, self.people, self.of)

    def drawn_here(self) -> Survey:
        return self.replace(thin=None)

    @property
    def inclusion_rate(self) -> float | None:
        """The probability of being asked and kept."""
        asked = self.table_rate
        return None if asked is None or self.thin is None else asked * self.thin


class Strata(Sampling, frozen=True):
    """People are sampled by the label that they have in a column, each label with a rate of its own."""

    design = "strata"
    words = "a sample by strata"
    meaning = "Every label of a column has a rate of its own, at which people are drawn here or were drawn before."

    column: Annotated[str, says("The column whose labels are the strata.")]
    rates: Annotated[
        Rates, says("The rate of every label, or the path of a CSV file with a label and a rate in each line.")
    ]
    already_drawn: AlreadyDrawn = False
    thin: Thin = None
    key: Secret = "destroy"

    def __post_init__(self) -> None:
        super().__post_init__()
        _ = self.stratum_rates
        if self.already_drawn and self.thin is not None:
            message = "`sampling.already_drawn` assumes independent coins, and `sampling.thin` needs none."
            raise refusal("thin", message, "Remove `sampling.already_drawn`.", "`sampling.already_drawn`")

    @property
    def stratum(self) -> str:
        return self.column

    @cached_property
    def stratum_rates(self) -> Mapping[str, float]:
        """The rate of every stratum by its label, read from the file where one is named."""
        return rates_of(self.rates)

    def declare(self, columns: Sequence[Column], beside: Sequence[Column] = ()) -> DeclaredStrata:
        return strata_by_label(self.column, self.stratum_rates, columns, beside)

    def sample(self, strata: DeclaredStrata | None = None) -> designs.Design:
        """Return the strata; where their column is not published, a sample with unequal probabilities."""
        assert strata is not None, "strata are declared"
        if strata.published:
            return designs.Strata(self.column, strata.by_label, self.already_drawn, self.thin)
        rates = {label: one.rate for label, one in strata.by_label.items()}
        return replace(strata.as_biased(), already_drawn=self.already_drawn, stratum=self.column, rates=rates)

    def thin_by(self, share: float) -> Self:
        """Return the same strata with smaller rates, or a survey of which fewer are kept."""
        return (
            super().thin_by(share)
            if self.thin is not None
            else self.replace(rates={label: rate * share for label, rate in self.stratum_rates.items()})
        )

    def drawn_here(self) -> Strata:
        rates = {label: rate * (self.thin or 1.0) for label, rate in self.stratum_rates.items()}
        return self.replace(already_drawn=False, **({} if self.thin is None else {"thin": None, "rates": rates}))


class Weights(Sampling, frozen=True):
    """The table is a survey with design weights, each one over the probability that its person was sampled."""

    design = "weights"
    words = "a survey with design weights"
    meaning = "Every row has a weight, one over the probability that its person was sampled."

    column: Annotated[str, says("The column of the design weight, which is one over the sampling probability.")]
    low: Annotated[
        float | None, says("Where the weights are not published: the smallest sampling probability.", "low")
    ] = None
    high: Annotated[
        float | None, says("Where the weights are not published: the largest sampling probability.", "high")
    ] = None
    thin: Thin = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if (self.low is None) != (self.high is None):
            message = "`sampling.low` and `sampling.high` bound weights from both sides, and one of them is missing."
            raise refusal("biased-sampling", message, "Add the other.", "`sampling.low`")
        _check_order(self)

    @property
    def already_drawn(self) -> bool:
        """Unless a coin keeps its people here."""
        return self.thin is None

    @property
    def weight(self) -> str:
        return self.column

    def declare(self, columns: Sequence[Column], beside: Sequence[Column] = ()) -> DeclaredStrata:
        return strata_by_weight(self.column, self.low, self.high, columns, beside)

    def sample(self, strata: DeclaredStrata | None = None) -> designs.Design:
        """Return the classes of weights; where these are not published, a sample with unequal probabilities."""
        assert strata is not None, "weights are declared"
        if not strata.published:
            return replace(strata.as_biased(), already_drawn=self.already_drawn, weight=self.column)
        return designs.Weights(self.column, strata.by_label, self.already_drawn, self.thin, strata.breaks)


class Biased(Sampling, frozen=True):
    """People are sampled with probabilities between two ends; here at `rate`, or before."""

    design = "biased"
    words = "a sample with unequal probabilities"
    meaning = "You know bounds of the probabilities with which people are sampled, and not each of them."

    low: Annotated[float, says("The smallest probability of the people who can be sampled.", "low")]
    high: Annotated[float, says("The largest ordinary probability.", "high")]
    rate: Annotated[float | None, says("The rate at which people are drawn here.", "rate")] = None
    exceptions: Annotated[int, says("How many people may have any probability.", "exceptions")] = 0
    max_rate: Annotated[float | None, says("The largest probability of anybody protected.", "max_rate")] = None
    already_drawn: AlreadyDrawn = False
    key: Secret = "destroy"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.rate is None and not self.already_drawn:
            message = "`sampling.rate` is missing: unequal probabilities need a rate to draw at."
            raise refusal("biased-sampling", message, "Add it, or `sampling.already_drawn = true`.", "`sampling.rate`")
        _check_order(self)
        if not self.exceptions and self.max_rate not in (None, self.high):
            message = (
                f"`sampling.max_rate` is {self.max_rate}, and without exceptions nobody is above high, {self.high}."
            )
            raise refusal("biased-sampling", message, "Remove it, or add `sampling.exceptions`.", "`sampling.max_rate`")

    def thin_by(self, share: float) -> Self:
        """Return the same with smaller probabilities; of exceptions nothing is known but that they are thinned too."""
        most = 1.0 if self.max_rate is None and self.exceptions else self.max_rate
        ends = {"low": self.low, "high": self.high, "rate": self.rate, "max_rate": most}
        return self.replace(**{name: None if end is None else end * share for name, end in ends.items()})

    def sample(self, strata: DeclaredStrata | None = None) -> designs.Design:
        """Return the ends; nothing bounds the rate of exceptions unless max_rate does, and noise protects them too."""
        most = max(self.high, self.max_rate or (1.0 if self.exceptions else 0.0))
        return designs.Biased(self.low, self.high, self.exceptions, most, self.rate, self.already_drawn)

    def drawn_here(self) -> Biased:
        """Return people drawn now, at the stated rate or at the largest one."""
        return self.replace(already_drawn=False, rate=self.high if self.rate is None else self.rate)


class Everybody(Sampling, frozen=True):
    """A register: everybody is in the table, and nobody is drawn."""

    design = "everybody"
    words = "everybody, as a register"
    meaning = "Nobody is drawn. What is published gets a little noise, and no group is left out."

    everybody = True

    def sample(self, strata: DeclaredStrata | None = None) -> designs.Design:
        return designs.Everybody()


class NotSaid(Poisson, frozen=True):
    """The policy says nothing of a sample: nobody is drawn, or people at a rate that is left to the plan."""


# A new design stands here, and policies can state it.
DESIGNS: dict[str, type[Sampling]] = {
    one.design: one for one in (Poisson, Everybody, Coins, Survey, Strata, Weights, Biased)
}
NOT_SAMPLED = NotSaid()


def designs_for(usual: str, *, crowds: bool = False) -> tuple[str, ...]:
    """Return the names of all designs, the usual one first; crowds need a sample."""
    return usual, *(name for name, one in DESIGNS.items() if name != usual and not (crowds and one.everybody))


def _check_order(sampling: Sampling) -> None:
    """Refuse probabilities that do not rise in their order."""
    ends = ((name, getattr(sampling, name)) for name in ("low", "rate", "high", "max_rate"))
    for (name, value), (above, bound) in pairwise([end for end in ends if end[1] is not None]):
        if value > bound:
            message = f"`sampling.{name}` is {value} and above {above}, {bound}."
            remedy = "Correct them: low, rate, high and max_rate rise in this order."
            raise refusal("biased-sampling", message, remedy, f"`sampling.{name}`")
