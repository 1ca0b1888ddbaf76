"""Facts of tables, microdata and points: the sample, the mechanisms that ran on it, and the budget."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Annotated, Self, TypeVar

import msgspec
from msgspec.structs import replace as replace_fields

from crowdblend.kinds.shared.facts import (
    OTHER_BUDGET,
    Delta,
    Epsilon,
    Fact,
    Parameters,
    PeopleFacts,
    Share,
    check_budget,
    contradiction,
)
from crowdblend.kinds.shared.series import check_series
from crowdblend.methods.designs import Design
from crowdblend.methods.designs.design import Claims, blends
from crowdblend.methods.designs.draw import shares_within
from crowdblend.methods.estimates.cells import CellLaws, estimator_of
from crowdblend.methods.estimates.laws import Law
from crowdblend.methods.mechanisms.mechanism import Mechanism
from crowdblend.methods.planning.certified_choice import CertifiedChoice
from crowdblend.methods.recoding.domain import Domain
from crowdblend.policies.unit import Unit
from crowdblend.trusted.calculus import Derivation
from crowdblend.trusted.calculus.profiles import profile_of
from crowdblend.trusted.calculus.rules import profiles, sampling

MechanismT = TypeVar("MechanismT", bound=Mechanism)


class Level(Fact, frozen=True, kw_only=True):
    """The level that was chosen for a column, and what an average value of its declared domain loses by it."""

    step: int
    steps: int
    loss: float
    classes: int | None = None
    level: int | None = None
    period: str | None = None
    width: float | None = None


class RecodingFacts(Fact, frozen=True, kw_only=True):
    """The choice of the recoding, its outcome, and the epsilon left for the release itself.

    `share` is the part of the sample that decided and is not published; without one everybody decided.
    """

    choice: CertifiedChoice
    score: str
    recodings: int
    released_epsilon: Epsilon
    share: Share | None = None
    chosen: dict[str, Level] = msgspec.field(default_factory=dict)


class CrowdFacts(PeopleFacts, frozen=True, kw_only=True):
    """Facts of releases of crowds; epsilon and delta cover all `releases` together."""

    epsilon: Epsilon
    delta: Delta
    releases: Annotated[int, msgspec.Meta(ge=1, le=10**6)] = 1
    columns: dict[str, Domain]
    recoding: RecodingFacts | None = None

    @property
    def mechanisms(self) -> tuple[Mechanism, ...]:
        """The mechanisms that ran: one, or one for every stratum in the order of their labels."""
        raise NotImplementedError

    @property
    def unit(self) -> Unit:
        # Where people have several rows, crowds need a coin for each, and noise does not.
        found = super().unit
        return found.counted(coins=blends(self.mechanisms[0])) if found.several else found

    @property
    def planned_releases(self) -> int:
        return self.releases

    @property
    def labels_are_chosen(self) -> bool:
        return self.recoding is not None

    @property
    def chosen_by_the_sample(self) -> bool:
        return self.recoding is not None and self.recoding.share is not None

    @property
    def domains(self) -> Mapping[str, Domain]:
        return self.columns

    def check(self) -> None:
        """Refuse strata that are not the labels of a published column."""
        check_strata(self.design, self.domains)

    def among_others(self, epsilon: float, delta: float) -> Self:
        chosen = None if self.recoding is None else replace_fields(self.recoding, released_epsilon=epsilon)
        return replace_fields(self, epsilon=epsilon, delta=delta, recoding=chosen)

    def check_among_others(self, epsilon: float, delta: float) -> None:
        super().check_among_others(epsilon, delta)
        if (self.epsilon, self.delta, self.releases) != (epsilon, delta, 1) or (
            self.recoding is not None and self.recoding.released_epsilon != epsilon
        ):
            raise contradiction(OTHER_BUDGET)

    def ran_on_parts(self, share: float) -> list[tuple[Sequence[Claims], float]]:
        if self.recoding is None:
            return super().ran_on_parts(share)
        ran: list[Sequence[Claims]] = [(self.recoding.choice,), self.mechanisms]
        return list(zip(ran, shares_within(share, self.recoding.share), strict=True))

    def derivations(self) -> tuple[Derivation, ...]:
        """Derive the guarantee of sampling and mechanisms, the choice of a recoding included."""
        self.check()
        if self.recoding is not None:
            return self._derive_with_choice(self.recoding)
        return self.check_derivations(self._derive(self.epsilon))

    def _derive(self, epsilon: float) -> tuple[Derivation, ...]:
        """Derive the guarantee of sampling and mechanisms at one ε, to people who may have several rows."""
        if self.unit.has_row_coins and not self.design.throws_row_coins:
            raise contradiction("one coin decided about all rows of a person")
        return self.unit.derive(self.design, self.claims, epsilon)

    def _derive_with_choice(self, choice: RecodingFacts) -> tuple[Derivation, ...]:
        """Derive without listing crowds: that the release blends says nothing of the choice."""
        (mechanism, *_), epsilon = self.mechanisms, choice.released_epsilon
        if self.unit.several:
            raise contradiction("a recoding is chosen where everybody has one row")
        if self.chosen_in_parts:
            return self._derive_parts(choice)
        together = self.design.derive_with_choice(choice.choice.claim(), mechanism, choice.share, epsilon)
        if self.releases > 1:
            # In a series epsilon is for all releases, and the curve says what this one loses at it.
            check_series(profile_of(together), self.releases, epsilon, self.delta)
            together = profiles.profile_at_epsilon(profile_of(together), epsilon=epsilon)
        check_budget(together, self.epsilon, self.delta)
        return together, sampling.replacing_is_removing_and_adding(together)

    @property
    def chosen_in_parts(self) -> bool:
        """True if those who choose the recoding are one part of a sample that has more than one rate."""
        return self.recoding is not None and (not self.design.has_one_rate)

    def _derive_parts(self, choice: RecodingFacts) -> tuple[Derivation, ...]:
        """Derive what the choice and the release guarantee, each on a part of the sample."""
        if choice.released_epsilon != self.epsilon:
            raise contradiction("parts of one sample have one epsilon")
        ran: list[Sequence[Claims]] = [(choice.choice,), self.mechanisms]
        return self.check_derivations(
            self.design.parts_derivations(ran, shares_within(1.0, choice.share), self.epsilon)
        )

    def check_derivations(self, derivations: Sequence[Derivation]) -> tuple[Derivation, ...]:
        """Return the derivations; refuse mechanisms that guarantee less than the stated epsilon and delta."""
        check_budget(derivations[1], self.epsilon, self.delta)
        if self.releases > 1:
            # As many releases keep to the budget together by equal shares of it, or by their curves.
            share, part = (math.nextafter(whole / self.releases, 0.0) for whole in (self.epsilon, self.delta))
            alone = self._derive(share)[1].conclusion if len(self.mechanisms) == 1 else None
            if alone is None or alone.epsilon > share or alone.delta > part:
                check_series(profile_of(derivations[1]), self.releases, self.epsilon, self.delta)
        return tuple(derivations)

    @property
    def published_sample(self) -> Design:
        """The sample without the part of it that chose the labels, which is not published."""
        apart = None if self.recoding is None else self.recoding.share
        return self.design if apart is None else self.design.thin_by(1 - apart)

    @property
    def laws(self) -> CellLaws:
        """The laws of cells in the sample, or in the part of it that is published; one per published stratum."""
        sample, sizes = self.published_sample, {name: domain.number_of_labels for name, domain in self.domains.items()}
        laws = [own.law for own in self.mechanisms[: None if sample.strata else 1]]
        return replace(laws_of(sample, laws, sizes), repeated=self.unit.counts_people)

    @property
    def counting_note(self) -> str | None:
        return self.unit.in_classes()

    @property
    def meanings(self) -> Mapping[str, tuple[str, str]]:
        return self.unit.meanings

    @property
    def own_parameters(self) -> Parameters:
        found = super().own_parameters
        if self.rate is not None and self.recoding is not None and self.recoding.share is not None:
            found |= {"rate": self.rate * (1 - self.recoding.share)}
        return found

    @property
    def parameters(self) -> Parameters:
        found: Parameters = {"epsilon": self.epsilon, "delta": self.delta}
        found |= {"releases": self.releases} if self.releases > 1 else {}
        found |= {} if self.rate is None else {"rate": self.rate}
        return found | self.design.parameters


def check_strata(design: Design, columns: Mapping[str, Domain]) -> None:
    """Refuse strata that are not the labels of a published column: classes would span them."""
    labels = {name: domain.labels for name, domain in columns.items()}
    if (why := design.contradicts(labels, {name: domain.breaks for name, domain in columns.items()})) is not None:
        raise contradiction(why)


def laws_of(sample: Design, laws: Sequence[Law], sizes: Mapping[str, int | None]) -> CellLaws:
    """Return the laws of a sample's cells: one law, or one for each published stratum."""
    if not sample.strata:
        (law,) = laws
        return CellLaws(estimator_of(law, sample.inclusion), sizes)
    each = zip(sample.counting_strata.items(), by_law(sample, laws), strict=True)
    strata = {label: estimator_of(law, stratum) for (label, stratum), law in each}
    return CellLaws(None, sizes, sample.column, strata)


def by_law(sample: Design, laws: Sequence[Law]) -> tuple[Law, ...]:
    """Return the law of every stratum: one for all of them, or each its own; of other samples the one law."""
    return (*laws,) * (len(sample.strata) or 1 if len(laws) == 1 else 1)


def by_stratum(
    mechanism: MechanismT | None, strata: Mapping[str, MechanismT], design: Design
) -> tuple[MechanismT, ...]:
    """Return the mechanism of every stratum, in the order of their labels, or the one of the whole sample."""
    if list(strata) != list(design.strata) or (mechanism is None) != bool(design.strata):
        raise contradiction("its mechanisms are not those of its strata")
    if len({type(one) for one in strata.values()}) > 1:
        raise contradiction("its strata have different mechanisms")
    return tuple(strata.values()) if mechanism is None else (mechanism,)
