"""Many synopses in one run, see `batch`: noise is one array over all releases, equal samples are fitted once."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crowdblend.kinds.kind import Publication
from crowdblend.kinds.synopsis import SynopsisPlan
from crowdblend.mechanisms.synopsis import ExponentialSynopsis, FittedSynopsis
from crowdblend.mechanisms.synopsis.fitted import Synopsis
from crowdblend.randomness import ReleaseKey, Source, new_key
from crowdblend.randomness.choice import distinct_rows
from crowdblend.rehearsal.batch import RELEASES, Known
from crowdblend.rehearsal.looking import Shown, shown_in
from crowdblend.rehearsal.made_up_people import Files, Population, people_in_memory


@dataclass(frozen=True)
class SynopsisBatch:
    """Synopses of a plan about the same population."""

    plan: SynopsisPlan
    population: Population
    releases: int = RELEASES

    def publish(self, key: ReleaseKey) -> list[tuple[Shown, float | None]]:
        """The rows of each release, written into one file and read again, and their misfit."""
        source = key.source(b"synopsis: who is drawn")
        found = self._synopses(self._samples(source), key.source(b"synopsis: noise, choice and rows"))
        output = self.plan.output(Synopsis(np.concatenate([one.cells for one in found])))
        ((name, content),) = self._files.of(Publication((output,), ())).items()
        whole, each = shown_in(name, content), len(found[0].cells)
        cut = (Shown(whole.header, whole.rows[start : start + each]) for start in range(0, len(whole.rows), each))
        return [(shown, one.misfit) for shown, one in zip(cut, found, strict=True)]

    def _samples(self, source: Source) -> NDArray[np.int64]:
        """How many of those who are drawn are in each cell of the universe, for every release."""
        cells, counts = self._everybody
        queries = self.plan.parameters.mechanism.queries
        places = distinct_rows(self.releases, self.plan.policy.samples, int(counts.sum()), source)
        drawn = cells[np.searchsorted(np.cumsum(counts), places, side="right")]
        apart = drawn + queries.universe * np.arange(self.releases)[:, np.newaxis]
        found = np.bincount(apart.ravel(), minlength=self.releases * queries.universe)
        return found.reshape(self.releases, *queries.shape)

    def _synopses(self, tables: NDArray[np.int64], source: Source) -> list[Synopsis]:
        mechanism, people = self.plan.parameters.mechanism, self.plan.policy.samples
        if isinstance(mechanism, ExponentialSynopsis):
            alike: dict[bytes, list[int]] = {}
            for release, one in enumerate(tables):
                alike.setdefault(one.tobytes(), []).append(release)
            chosen: dict[int, Synopsis] = {}
            for releases in alike.values():
                scores = mechanism.scores(tables[releases[0]], people)
                chosen |= zip(releases, mechanism.chosen(scores, source, len(releases)), strict=True)
            return [chosen[release] for release in range(self.releases)]
        assert isinstance(mechanism, FittedSynopsis)
        counts = [self._counted.of(one.tobytes(), lambda: mechanism.queries.counts(one)) for one in tables]  # noqa: B023
        noisy = mechanism.add_noise(np.concatenate(counts), source).reshape(self.releases, -1) / people
        found = []
        for shares in noisy:
            p = self._fitted.of(shares.tobytes(), lambda: mechanism.fitted(shares, people))  # noqa: B023
            found.append(mechanism.rows_from(p, shares, source))
        return found

    @cached_property
    def _everybody(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        policy = self.plan.policy
        engine = people_in_memory(policy.data, [column.name for column in policy.columns], self.population)
        everybody = self.plan.read(engine, ReleaseKey(new_key())).sample
        return self.plan.cells_of(everybody), everybody.counts

    @cached_property
    def _counted(self) -> Known[Any]:
        return Known()

    @cached_property
    def _fitted(self) -> Known[Any]:
        return Known()

    @cached_property
    def _files(self) -> Files:
        return Files()
