"""Synthetic rows as the audit sees them: one person replaced by another who moves as many measured counts as can be."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache, partial

import numpy as np
from numpy.typing import NDArray

from crowdblend.errors import InvalidInput
from crowdblend.kinds.shared.plan import Misfit, Outcome, Reading
from crowdblend.kinds.synopsis.coin_samples import rows_output
from crowdblend.kinds.synopsis.plan import SynopsisPlan
from crowdblend.kinds.synopsis.policy import SynopsisPolicy
from crowdblend.lab.rehearsal.made_up_people import MOST_PEOPLE, Files, Population, Values, drawn_here, people_in_memory
from crowdblend.lab.rehearsal.made_up_values import CLASSES, EVERY_CLASS, examples
from crowdblend.lab.rehearsal.observers import Number, NumbersObserver, PublishedFiles, ShownFile, Views, digest
from crowdblend.lab.rehearsal.replacing import ReplacedPerson, among, apart, require_people
from crowdblend.lab.rehearsal.subject import RELEASES, AuditRequest, AuditSubject, Neighbours
from crowdblend.methods.mechanisms.synopsis.synopses import ExponentialSynopsis, FittedSynopsis, Synopsis
from crowdblend.sources.engines.memory import MemoryEngine
from crowdblend.trusted.randomness import ReleaseKey, Source, new_key
from crowdblend.trusted.randomness.choice import distinct_rows

# With this many different rows a fit takes about a fifth of a second; an audit needs thousands of them.
MOST_ROWS = 100_000
# Rows are told apart up to this many people more or fewer than expected.
_FAR = 32
_REMEMBERED = 32
_PERSONS = ("the person", "who comes instead")
Counts = NDArray[np.float64]
Whole = NDArray[np.int64]


def subject(policy: SynopsisPolicy, request: AuditRequest) -> SynopsisSubject:
    """Return the policy with as many made-up people as it says there are; crowds have no part in its guarantee."""
    request.leave_epsilon("the policy of a synopsis", "there is no delta to trade")
    require_people(policy.people, MOST_PEOPLE, "a synopsis")
    if policy.strata is not None:
        message = "A synopsis is audited where a fixed number of people is drawn, or everybody is counted."
        raise InvalidInput(message, remedy="Audit statistics.", where="`sampling.design`", code="rehearsal.design")
    audited = SynopsisSubject(drawn_here(policy), request.name, request.understated, request.stacked)
    rows = audited.plan.parameters.mechanism.queries.universe
    if not 2 <= rows <= MOST_ROWS:
        raise InvalidInput(
            f"The columns must make between 2 and {MOST_ROWS:,} different rows to audit a synopsis, which takes "
            f"thousands of releases, got {rows:,}.",
            remedy="Audit the same policy with other columns.",
            where="`columns`",
            code="rehearsal.rows",
        )
    return audited


@dataclass(frozen=True)
class SynopsisSubject(AuditSubject[SynopsisPolicy, SynopsisPlan, ReplacedPerson]):
    """A policy on made-up people, when one person's data are replaced."""

    def pairs(self) -> list[Neighbours[ReplacedPerson]]:
        """Return two persons who differ in as many measured counts as can be, among people like either of them."""
        measured = lru_cache(_REMEMBERED)(self._measure)
        offered = [self._candidates(column.name) for column in self.policy.columns]
        farthest = apart(offered, lambda one, other: float(abs(measured(one) - measured(other)).sum()))
        return among(*farthest, self.policy.people)

    def reader(self, population: ReplacedPerson) -> Callable[[ReleaseKey], Reading]:
        return partial(self.plan.read, _in_memory(self.policy, population.people))

    def batch(self, population: ReplacedPerson) -> SynopsisBatch:
        return SynopsisBatch(self.plan, population.people, self.files)

    def _candidates(self, name: str) -> list[str | None]:
        """Return raw values of a column: of its first and last classes, and of those that some query names."""
        recoding = next(column for column in self.policy.columns if column.name == name).recoding
        named = {condition[name] for condition in self.policy.publication.queries or () if name in condition}
        few = examples(recoding, CLASSES)
        asked = [value for value in examples(recoding, EVERY_CLASS) if named and recoding.label(value) in named]
        return [few[0], *asked[:CLASSES], *asked[CLASSES:][-CLASSES:], *few[1:]]

    def labels(self, values: Values) -> tuple[str, ...]:
        """Return a person as a row would show them."""
        columns = self.policy.columns
        return tuple(str(column.recoding.label(value)) for column, value in zip(columns, values, strict=True))

    def _measure(self, values: Values) -> Counts:
        return self.measure({self.labels(values): 1})

    def measure(self, rows: Mapping[tuple[str, ...], int]) -> Counts:
        """Return the measured counts of rows, given as how many there are of each kind."""
        queries = self.plan.parameters.mechanism.queries
        table = np.zeros(queries.shape)
        for labels, count in rows.items():
            table[tuple(self._places[place][labels[place]] for place in self.plan.order)] = count
        return np.asarray(queries.counts(table), float)

    @cached_property
    def _places(self) -> list[dict[str, int]]:
        """The place of each label of each column."""
        every = [self.policy.labels(column.name) for column in self.policy.columns]
        return [{label: place for place, label in enumerate(labels)} for labels in every]

    def observer(self, population: ReplacedPerson) -> SynopsisObserver:
        """Return an observer who knows everybody else, and what to expect when the person in question is drawn."""
        one, other = (self._measure(person) for person in population.persons)
        drawn = (self.policy.samples - 1) / (self.policy.people - 1)
        others = {crowd.values: crowd.size * drawn for crowd in population.people[1:]}
        expected = one + sum(size * self._measure(values) for values, size in others.items())
        mechanism = self.plan.parameters.mechanism
        loss = mechanism.noise_epsilon if isinstance(mechanism, FittedSynopsis) else 1.0
        moved = other - one
        numbers = (Number(int(row), float(expected[row]), moved[row], loss) for row in np.flatnonzero(moved))
        persons = {name: self.labels(values) for name, values in zip(_PERSONS, population.persons, strict=True)}
        usual = tuple(others.get(values, 0.0) for values in population.persons)
        return SynopsisObserver(self, NumbersObserver(tuple(numbers)), persons, usual)


@dataclass(frozen=True)
class SynopsisObserver:
    """An observer who looks for rows like either of two persons, with a known number expected."""

    subject: SynopsisSubject
    numbers: NumbersObserver
    persons: Mapping[str, tuple[str, ...]]
    expected: tuple[float, ...]

    def observe(self, files: PublishedFiles, outcome: Outcome) -> Views:
        """Return several views of one release; its misfit is in the certificate, and so public."""
        ((_, shown),) = files.items()
        misfit = outcome.value if isinstance(outcome, Misfit) else None
        rows = Counter(map(tuple, shown.rows))
        scale = self.subject.policy.samples / rows.total()
        more = [
            scale * rows[labels] - usual for labels, usual in zip(self.persons.values(), self.expected, strict=True)
        ]
        found = [str(round(min(max(one, -_FAR), _FAR))) for one in more]
        fits = "" if misfit is None else f", misfit {misfit:.2g}"
        return {
            "the files": digest((shown.rows, misfit)),
            "the rows in any order": digest((sorted(rows.items()), misfit)),
            **{f"rows like {person}": seen for person, seen in zip(self.persons, found, strict=True)},
            "rows like both": ", ".join(found) + fits,
            **self.numbers.views_of((scale * self.subject.measure(rows)).tolist()),
        }


@dataclass(frozen=True)
class SynopsisBatch:
    """Synopses of a plan about the same population: noise is one array over all, equal samples are fitted once."""

    plan: SynopsisPlan
    population: Population
    files: Files
    releases: int = RELEASES

    def draw(self, key: ReleaseKey) -> list[tuple[bytes, float | None]]:
        """Return the rows of each release, as the cells of the universe that they are in, and their misfit."""
        tables = self._samples(key.source(b"synopsis: who is drawn"))
        found = self._synopses(tables, key.source(b"synopsis: noise, choice and rows"))
        return [(one.cells.astype(np.int64).tobytes(), one.misfit) for one in found]

    def show(self, outcomes: Sequence[tuple[bytes, float | None]]) -> list[tuple[dict[str, ShownFile], Misfit | None]]:
        """Return the rows of some releases, written into one file and read again."""
        cells = np.frombuffer(b"".join(cells for cells, _ in outcomes), np.int64)
        cut = self.files.cut(
            rows_output(self.plan.policy, self.plan.parameters.mechanism.queries.shape, Synopsis(cells)), len(outcomes)
        )
        fits = [None if misfit is None else Misfit(misfit) for _, misfit in outcomes]
        return list(zip(cut, fits, strict=True))

    def _samples(self, source: Source) -> Whole:
        """Return how many of those who are drawn are in each cell of the universe, for every release."""
        cells, counts = self._everybody
        queries = self.plan.parameters.mechanism.queries
        places = distinct_rows(self.releases, self.plan.policy.samples, int(counts.sum()), source)
        drawn = cells[np.searchsorted(np.cumsum(counts), places, side="right")]
        each = drawn + queries.universe * np.arange(self.releases)[:, np.newaxis]
        found = np.bincount(each.ravel(), minlength=self.releases * queries.universe)
        return found.reshape(self.releases, *queries.shape)

    def _synopses(self, tables: Whole, source: Source) -> list[Synopsis]:
        mechanism, people = self.plan.parameters.mechanism, self.plan.policy.samples
        alike: dict[bytes, list[int]] = {}
        for release, one in enumerate(tables):
            alike.setdefault(one.tobytes(), []).append(release)
        if isinstance(mechanism, ExponentialSynopsis):
            chosen: dict[int, Synopsis] = {}
            for releases in alike.values():
                scores = mechanism.scores(tables[releases[0]], people)
                chosen |= zip(releases, mechanism.choose(scores, source, len(releases)), strict=True)
            return [chosen[release] for release in range(self.releases)]
        counts = {release: mechanism.queries.counts(tables[some[0]]) for some in alike.values() for release in some}
        exact = np.concatenate([counts[release] for release in range(self.releases)])
        noisy = mechanism.add_noise(exact, source).reshape(self.releases, -1) / people
        return [mechanism.rows_from(self._fitting(shares.tobytes()), shares, source) for shares in noisy]

    @cached_property
    def _fitting(self) -> Callable[[bytes], Counts]:
        mechanism, people = self.plan.parameters.mechanism, self.plan.policy.samples
        assert isinstance(mechanism, FittedSynopsis)
        return lru_cache(20_000)(lambda shares: mechanism.fit(np.frombuffer(shares), people))

    @cached_property
    def _everybody(self) -> tuple[Whole, Whole]:
        engine = _in_memory(self.plan.policy, self.population)
        everybody = self.plan.read(engine, ReleaseKey(new_key())).sample
        return self.plan.cells_of(everybody), everybody.counts


def _in_memory(policy: SynopsisPolicy, population: Population) -> MemoryEngine:
    return people_in_memory([column.name for column in policy.columns], population)
