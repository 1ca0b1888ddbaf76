"""The section [sampling] as anyone reads it, whatever the design: rates, columns and numbers by the same names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar, Literal, Self

from crowdblend.policies.columns import Column
from crowdblend.policies.key import Section
from crowdblend.policies.strata import DeclaredStrata
from crowdblend.trusted.machine.lazy import lazy_imports

with lazy_imports():
    from crowdblend.methods.designs import Design


class _DesignDefaults:
    """Values for the designs that do not say them."""

    # True if everybody is in the table, and nobody is drawn.
    everybody: bool = False
    # True if a fixed number of people are drawn, or were.
    fixed_size: bool = False
    # The fate of the secret key of the sample.
    key: Literal["destroy", "seal"] = "destroy"
    # The smallest probability of those who can be sampled, where probabilities differ.
    low: float | None = None
    # The largest ordinary probability, where probabilities differ.
    high: float | None = None
    # The largest probability of anyone protected, where it is stated.
    max_rate: float | None = None
    # The number of people who may have any probability.
    exceptions: int = 0
    # The share of a survey's people who are kept here, where the table is a survey.
    thin: float | None = None
    # The number of people drawn, where it is fixed.
    people: int | None = None


class Sampling(_DesignDefaults, Section, frozen=True):
    """The way in which people come into the counts; parts that a design lacks are None or False."""

    section = "sampling"
    said: ClassVar[Mapping[str, str]] = {
        "everybody": '`sampling.design = "everybody"`',
        "stratum": '`sampling.design = "strata"`',
        "weight": '`sampling.design = "weights"`',
        "people": '`sampling.design = "survey"`',
    }
    design: ClassVar[str]
    # What the data are with this design, and what that means for what is published.
    words: ClassVar[str]
    meaning: ClassVar[str]

    @property
    def already_drawn(self) -> bool:
        """True if the table is itself the sample."""
        return False

    @property
    def rate(self) -> float | None:
        """The share of people kept."""
        return None

    @property
    def table_rate(self) -> float | None:
        """The largest probability with which a table that is itself a sample holds anyone."""
        return max((rate for rate in (self.rate, self.high, self.max_rate) if rate is not None), default=None)

    @property
    def inclusion_rate(self) -> float | None:
        """The probability with which people are counted, where it is one number."""
        return self.rate

    @property
    def population(self) -> int | None:
        """The number of people in the population, where the design says it."""
        return None

    @property
    def stratum(self) -> str | None:
        """The column whose labels are the strata."""
        return None

    @property
    def weight(self) -> str | None:
        """The column of design weights."""
        return None

    @property
    def stratum_rates(self) -> Mapping[str, float]:
        """The rate of every stratum by its label."""
        return {}

    @property
    def designed(self) -> bool:
        """True if strata or weights say how likely people were to be sampled, instead of one rate or number."""
        return self.stratum is not None or self.weight is not None

    @property
    def biased(self) -> bool:
        """True if people's probabilities may differ, so that low and high carry the guarantee."""
        return self.low is not None

    def declare(self, columns: Sequence[Column], beside: Sequence[Column] = ()) -> DeclaredStrata | None:
        """Return the strata or weights of a sample; None where people have one rate, or rates between low and high.

        Their column is among the published `columns`, or declared `beside` them, or not declared.
        """
        del columns, beside
        return None

    def sample(self, strata: DeclaredStrata | None = None) -> Design:
        """Return the design as a value, where it leaves nothing open; `strata` are its declared strata or weights."""
        raise NotImplementedError

    def drawn_here(self) -> Sampling:
        """Return the same design with people drawn now where they were drawn before."""
        return self

    def thin_by(self, share: float) -> Self:
        """Return the same design as a part of its sample sees it; rates are smaller by the `share`."""
        if self.thin is not None:
            return self.replace(thin=self.thin * share)
        return self if self.rate is None else self.at_rate(self.rate * share)

    def at_rate(self, rate: float | None) -> Self:
        """Return the same design at another `rate`; the same where it has none."""
        return self.replace(rate=rate) if "rate" in self.__struct_fields__ else self
