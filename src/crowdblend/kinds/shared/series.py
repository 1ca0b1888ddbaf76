"""Releases that are planned together, every one with an equal part of epsilon and delta: noise adds up.

Crowds hardly lose more in several releases, and are planned by their curves instead (`crowd_facts`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import suppress
from fractions import Fraction
from typing import Annotated, Any, Protocol, TypeVar

import msgspec

from crowdblend.errors import Infeasible
from crowdblend.kinds.shared.facts import OTHER_BUDGET, Delta, Epsilon, Fact, Parameters, PeopleFacts, contradiction
from crowdblend.methods.designs.design import differential_of
from crowdblend.trusted.calculus import Derivation
from crowdblend.trusted.calculus.profiles import profile_of
from crowdblend.trusted.calculus.rules import profiles


class Series(Fact, frozen=True, kw_only=True):
    """Several releases under one epsilon and delta."""

    releases: Annotated[int, msgspec.Meta(ge=2, le=10**6)]
    epsilon: Epsilon
    delta: Delta = 0.0


class RepeatedFacts(PeopleFacts, frozen=True, kw_only=True):
    """Facts of releases of which each may be one of a series."""

    series: Series | None = None

    @property
    def planned_releases(self) -> int:
        return 1 if self.series is None else self.series.releases

    def check_among_others(self, epsilon: float, delta: float) -> None:
        super().check_among_others(epsilon, delta)
        if self.series is not None:
            raise contradiction(OTHER_BUDGET)

    @property
    def series_parameters(self) -> Parameters:
        """The joint spending of all releases, where there are several."""
        return {} if self.series is None else {"epsilon": self.series.epsilon, "releases": self.series.releases}

    def in_series(self, derivations: Sequence[Derivation]) -> tuple[Derivation, ...]:
        """Return the derivations; refuse those of which as many do not keep the totals of the series."""
        if (series := self.series) is not None:
            check_totals(differential_of(derivations), series.releases, series.epsilon, series.delta)
        return tuple(derivations)


class RepeatedPolicy(Protocol):
    """A policy that says how many such releases there will be."""

    @property
    def releases(self) -> int:
        """The number of releases."""

    @property
    def epsilon(self) -> float:
        """The joint epsilon of all releases."""

    @property
    def delta(self) -> float | None:
        """The joint delta of all releases, where the policy names it."""

    def replace(self, **changes: object) -> Any:
        """Return the same with other values."""


PolicyT = TypeVar("PolicyT", bound=RepeatedPolicy)


def one_of_series(policy: PolicyT) -> PolicyT:
    """Return the policy of one release of its series, with its part of the budget."""
    if policy.releases == 1:
        return policy
    # A hair less, so that this many of them add up to no more than the whole.
    part = (1 - 1e-12) / policy.releases
    changes = {"releases": 1, "epsilon": policy.epsilon * part}
    changes |= {} if policy.delta is None else {"delta": policy.delta * part}
    found: PolicyT = policy.replace(**changes)
    return found


def series_of(policy: RepeatedPolicy, delta: float = 0.0) -> Series | None:
    """Return the series of a policy, of which every release has this delta where the policy names none for all."""
    if policy.releases == 1:
        return None
    whole = policy.delta or math.nextafter(delta * policy.releases, 1.0) * (delta > 0)
    return Series(releases=policy.releases, epsilon=policy.epsilon, delta=min(1.0, whole))


def check_totals(once: Derivation, releases: int, epsilon: float, delta: float) -> None:
    """Refuse totals that as many releases do not keep together: by sums, or by curves where there is a delta."""
    stated = ((once.conclusion.epsilon, epsilon), (once.conclusion.delta, delta))
    if releases == 1 or all(Fraction(one) * releases <= Fraction(total) for one, total in stated):
        return
    check_series(profile_of(once), releases, epsilon, delta)


def check_series(once: Derivation, releases: int, epsilon: float, delta: float) -> None:
    """Refuse a budget that as many releases with this profile do not keep together."""
    together = profiles.repeated_releases_compose(once, releases=releases)
    if profiles.profile_at_epsilon(together, epsilon=epsilon).conclusion.delta <= delta:
        return
    with suppress(Infeasible):
        if profiles.profile_at_delta(together, delta=delta).conclusion.epsilon <= epsilon:
            return
    raise contradiction("its releases guarantee less together than it states")
