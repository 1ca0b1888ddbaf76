"""Our own releases with one mistake planted in each: the code that publishes runs, but for the one step that is wrong.

The claim is that of the release without the mistake, so the audit must refute it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from crowdblend.kinds import plan
from crowdblend.kinds.kind import Publication
from crowdblend.kinds.statistics import StatisticsPlan
from crowdblend.kinds.strata import StratifiedPlan
from crowdblend.kinds.table import TablePlan
from crowdblend.mechanisms.fresh_samples import draw_each
from crowdblend.policies.load import parse_policy
from crowdblend.randomness import ReleaseKey
from crowdblend.rehearsal.families import FAMILIES, Family
from crowdblend.rehearsal.registry import Hard


@dataclass(frozen=True)
class Planted:
    """A family whose plan is changed by `mistake` before it runs."""

    name: str
    words: str
    family: Family
    mistake: Callable[[Any], Any]

    def subject(self, hard: Hard, *, understated: float = 1.0, people: int | None = None) -> Any:
        """The family as the audit sees it, with the mistake."""
        return replace(self.family.subject(hard, understated=understated, people=people), mistake=self.mistake)


class _WithoutNoise(StatisticsPlan):
    def add_noise(self, taken: Any, mechanism: Any, exact: Sequence[Any], key: ReleaseKey) -> Sequence[Any]:
        del taken, mechanism, key
        return list(exact)


class _NoiseOnOneOfTwo(StatisticsPlan):
    def add_noise(self, taken: Any, mechanism: Any, exact: Sequence[Any], key: ReleaseKey) -> Sequence[Any]:
        noisy = super().add_noise(taken, mechanism, exact, key)
        for found, counted in zip(noisy, exact, strict=True):
            found[::2] = counted[::2]  # type: ignore[index]
        return noisy


class _NoiseForOneGroup(StatisticsPlan):
    _FACTOR = 2.0

    @property
    def mechanisms(self) -> Any:
        return tuple(
            replace(made, noise_epsilons=tuple(self._FACTOR * loss for loss in made.noise_epsilons))
            for made in super().mechanisms
        )


class _LittleNoise(_NoiseForOneGroup):
    _FACTOR = 3.0


class _HardlyAnyNoise(_NoiseForOneGroup):
    _FACTOR = 20.0


class _OtherStratum(StratifiedPlan):
    @property
    def mechanisms(self) -> Any:
        return super().mechanisms[::-1]


class _InEveryPart(TablePlan):
    def publish(self, reading: Any, key: ReleaseKey, progress: Any = None) -> Publication:
        sample, _ = self.sample_of(reading, key, progress)
        return self._publish_each([sample] * len(self.policy.tables), self.parameters.thresholds, {})


class _OneSampleForAll(TablePlan):
    def publish(self, reading: Any, key: ReleaseKey, progress: Any = None) -> Publication:
        everybody, _ = self.sample_of(reading, key, progress)
        assert self.parameters.rate is not None
        samples = draw_each(everybody, self.parameters.rate, 1, key) * len(self.policy.tables)
        return self._publish_each(samples, (self.parameters.k,) * len(samples), {})


def _same(changed: type[Any], planned: Any) -> Any:
    return changed(planned.policy, planned.parameters)


def _without_noise(planned: Any) -> Any:
    return _same(_WithoutNoise, planned)


def _noise_on_one_of_two(planned: Any) -> Any:
    return _same(_NoiseOnOneOfTwo, planned)


def _noise_for_one_group(planned: Any) -> Any:
    return _same(_NoiseForOneGroup, planned)


def _little_noise(planned: Any) -> Any:
    return _same(_LittleNoise, planned)


def _hardly_any_noise(planned: Any) -> Any:
    return _same(_HardlyAnyNoise, planned)


def _noise_of_tight_bounds(planned: Any) -> Any:
    """The noise is that of values up to 1; the policy, which reads the data, has values up to 5."""
    tight: Any = plan(parse_policy(FAMILIES["sum"].policy))
    return replace(planned, parameters=tight.parameters)


def _other_stratum(planned: Any) -> Any:
    return _same(_OtherStratum, planned)


def _in_every_part(planned: Any) -> Any:
    return _same(_InEveryPart, planned)


def _one_sample_for_all(planned: Any) -> Any:
    return _same(_OneSampleForAll, planned)


_LOOSE = replace(FAMILIES["sum"], policy=FAMILIES["sum"].policy.replace("from = 0, to = 1,", "from = 0, to = 5,"))

PLANTED = {
    planted.name: planted
    for planted in (
        Planted("bare counts", "counts in groups have no noise", FAMILIES["counts in groups"], _without_noise),
        Planted("loose clipping", "values are clipped at 5, and the noise is for 1", _LOOSE, _noise_of_tight_bounds),
        Planted(
            "one group's noise",
            "sums in groups have noise for people who change one group",
            FAMILIES["sum in groups"],
            _noise_for_one_group,
        ),
        Planted(
            "half-noisy average",
            "of the two totals behind an average one has no noise",
            FAMILIES["average in groups"],
            _noise_on_one_of_two,
        ),
        Planted("quiet median", "a median is chosen with a third of its noise", FAMILIES["median"], _little_noise),
        Planted(
            "quiet medians in groups",
            "medians in groups are chosen with a third of their noise",
            FAMILIES["median in groups"],
            _little_noise,
        ),
        Planted("bare quantile", "a quantile is chosen with hardly any noise", FAMILIES["quantile"], _hardly_any_noise),
        Planted(
            "other stratum's k", "every stratum has the k of another", FAMILIES["stratified table"], _other_stratum
        ),
        Planted("in every part", "a person is in all parts", FAMILIES["parts of one sample"], _in_every_part),
        Planted(
            "one sample for all", "fresh samples are one and the same", FAMILIES["fresh samples"], _one_sample_for_all
        ),
    )
}
