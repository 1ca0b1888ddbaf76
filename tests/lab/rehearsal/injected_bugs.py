"""Our own releases with one bug injected into each: the code that publishes runs, but for the one step that is wrong.

The claim is that of the release without the bug, so the audit must refute it.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from functools import partial
from typing import Any, cast

import numpy as np

from crowdblend.kinds import plan
from crowdblend.kinds.programme.programme import ProgrammePlan
from crowdblend.kinds.shared.class_counts import ClassCountsReading
from crowdblend.kinds.shared.plan import Result
from crowdblend.kinds.statistics.fixed_size import FixedSizePlan
from crowdblend.kinds.statistics.rehearse import Whole
from crowdblend.kinds.table.plan import TablePlan
from crowdblend.kinds.table.register import RegisterPlan
from crowdblend.kinds.table.threshold import ThresholdPlan
from crowdblend.lab.rehearsal.subject import AnySubject, Hard
from crowdblend.methods.designs.draw import Draw, Everybody
from crowdblend.methods.mechanisms import NoisyHistogram, SuppressedHistogram
from crowdblend.methods.mechanisms.statistics import ChosenQuantile, NoisyStatistics
from crowdblend.methods.planning.plan import SolvedPlan
from crowdblend.methods.planning.statistics.strata_totals import StrataWay
from crowdblend.methods.planning.statistics.ways import Way
from crowdblend.methods.selection.lattice import Node
from crowdblend.policies.load import parse_policy
from crowdblend.sources.engines.engine import Progress
from crowdblend.trusted.randomness import ReleaseKey
from tests.lab.rehearsal.families import FAMILIES, Family

Taken = tuple[tuple[int, ...], Way | StrataWay]


@dataclass(frozen=True)
class InjectedBug:
    """A family whose plan is changed before it runs."""

    name: str
    words: str
    family: Family
    change: Callable[[Any], Any]

    def subject(self, hard: Hard, *, understated: float = 1.0, people: int | None = None) -> AnySubject:
        """Return the family as the audit sees it, with the bug."""
        return replace(self.family.subject(hard, understated=understated, people=people), bug=self.change)


class _WithoutNoise(FixedSizePlan):
    def add_noise(
        self, taken: Taken, mechanism: NoisyStatistics, exact: Sequence[Whole], key: ReleaseKey
    ) -> Sequence[Whole | ChosenQuantile]:
        return list(exact)


class _NoiseOnOneOfTwo(FixedSizePlan):
    def add_noise(
        self, taken: Taken, mechanism: NoisyStatistics, exact: Sequence[Whole], key: ReleaseKey
    ) -> Sequence[Whole | ChosenQuantile]:
        noisy = super().add_noise(taken, mechanism, exact, key)
        places = np.arange(len(exact[0])) % 2
        return [np.where(places, np.asarray(found), counted) for found, counted in zip(noisy, exact, strict=True)]


@dataclass(frozen=True)
class _LittleNoise(FixedSizePlan):
    factor: float = 1.0

    @property
    def mechanisms(self) -> tuple[NoisyStatistics, ...]:
        return tuple(
            replace(made, noise_epsilons=tuple(self.factor * loss for loss in made.noise_epsilons))
            for made in super().mechanisms
        )


class _OtherStratum(TablePlan):
    def mechanism_of(self, stratum: SolvedPlan, choice: Node | None = None) -> SuppressedHistogram | NoisyHistogram:
        strata = [*self.parameters.each.values()]
        return super().mechanism_of(strata[-1 - strata.index(stratum)], choice)


class _ThresholdBeforeNoise(ThresholdPlan):
    def publish(self, reading: ClassCountsReading, key: ReleaseKey, progress: Progress | None = None) -> Result:
        enough = reading.sample.where(reading.sample.counts >= self.mechanism.show_from)
        counted = replace(reading, counted=replace(reading.counted, classes=enough))
        return super().publish(counted, key, progress)


class _OneSample(ProgrammePlan):
    def draws(self, key: ReleaseKey) -> list[tuple[Draw, ...]]:
        return [(self.sample.draw(key.coin()),)] * len(self.planned)


class _NoSample(ProgrammePlan):
    def draws(self, key: ReleaseKey) -> list[tuple[Draw, ...]]:
        return [(Everybody(row_key=key.coin()),)] * len(self.planned)


def _half_of_sigma(planned: ProgrammePlan) -> ProgrammePlan:
    """Return the plan with Gaussian noise of half its standard deviation."""
    made = [(one, cast(RegisterPlan, one.plan)) for one in planned.planned]
    quiet = (replace(one, plan=replace(own, sigma=cast(float, own.sigma) / 2)) for one, own in made)
    return replace(planned, planned=tuple(quiet))


def _planned_as(changed: Callable[..., Any], planned: Any) -> Any:
    return changed(**{field.name: getattr(planned, field.name) for field in fields(planned)})


def _run_as(changed: Callable[..., Any], planned: Any, **how: float) -> Any:
    return changed(planned.policy, planned.parameters, **how)


def _noise_of_tight_bounds(planned: FixedSizePlan) -> FixedSizePlan:
    """Return the plan with the noise of values up to 1; the policy, which reads the data, has values up to 5."""
    tight = cast(FixedSizePlan, plan(parse_policy(FAMILIES["sum"].policy).only))
    return replace(planned, parameters=tight.parameters)


def _bug(name: str, words: str, family: str, change: Callable[..., Any], **how: float) -> InjectedBug:
    return InjectedBug(name, words, FAMILIES[family], partial(_run_as, change, **how))


_LOOSE = replace(FAMILIES["sum"], policy=FAMILIES["sum"].policy.replace("from = 0, to = 1,", "from = 0, to = 5,"))

INJECTED_BUGS = {
    bug.name: bug
    for bug in (
        _bug("bare counts", "counts in groups have no noise", "counts in groups", _WithoutNoise),
        InjectedBug(
            "loose clipping", "values are clipped at 5, and the noise is for 1", _LOOSE, _noise_of_tight_bounds
        ),
        _bug(
            "one group's noise",
            "sums in groups have noise for people who change one group",
            "sum in groups",
            _LittleNoise,
            factor=2,
        ),
        _bug(
            "half-noisy average",
            "of the two totals behind an average one has no noise",
            "average in groups",
            _NoiseOnOneOfTwo,
        ),
        _bug("quiet median", "a median is chosen with a third of its noise", "median", _LittleNoise, factor=3),
        _bug(
            "quiet medians in groups",
            "medians in groups are chosen with a third of their noise",
            "median in groups",
            _LittleNoise,
            factor=3,
        ),
        _bug("bare quantile", "a quantile is chosen with hardly any noise", "quantile", _LittleNoise, factor=20),
        InjectedBug(
            "other stratum's k",
            "every stratum has the k of another",
            FAMILIES["stratified table"],
            partial(_planned_as, _OtherStratum),
        ),
        InjectedBug(
            "threshold before the noise",
            "cells of fewer people are left out before the noise, and not after it",
            FAMILIES["threshold"],
            partial(_planned_as, _ThresholdBeforeNoise),
        ),
        InjectedBug(
            "in every part",
            "a person is in all parts",
            FAMILIES["parts of one sample"],
            partial(_planned_as, _OneSample),
        ),
        InjectedBug(
            "one sample for all",
            "fresh samples are one and the same",
            FAMILIES["fresh samples"],
            partial(_planned_as, _OneSample),
        ),
        InjectedBug(
            "quiet Gaussian noise",
            "Gaussian noise has half of its standard deviation",
            FAMILIES["Gaussian noise"],
            _half_of_sigma,
        ),
        InjectedBug(
            "noise on everybody",
            "noisy tables of a sample count everybody",
            FAMILIES["noise on one sample"],
            partial(_planned_as, _NoSample),
        ),
    )
}
