"""Synthetic rows as the audit sees them: one person replaced by another who moves as many measured counts as can be."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crowdblend.errors import InvalidInput
from crowdblend.kinds.kind import Outcome
from crowdblend.kinds.outcome import Misfit
from crowdblend.mechanisms.synopsis import FittedSynopsis
from crowdblend.policies.synopsis import Synopsis as SynopsisPolicy
from crowdblend.randomness import ReleaseKey, new_key
from crowdblend.rehearsal.batch import Known, endless
from crowdblend.rehearsal.crowd_classes import CLASSES
from crowdblend.rehearsal.looking import Between, Number, Shown, digest, shown_in
from crowdblend.rehearsal.made_up_people import MOST_PEOPLE, Rehearsal, Values
from crowdblend.rehearsal.registry import AuditRequest
from crowdblend.rehearsal.rehearsed import Neighbours, Rehearsed, Views
from crowdblend.rehearsal.replacing import Replaced, among, apart, require_people
from crowdblend.rehearsal.synopsis_batch import SynopsisBatch
from crowdblend.rehearsal.values import examples

# With so many different rows a fit takes about a fifth of a second; an audit needs thousands of them.
MOST_ROWS = 100_000
# Rows are told apart up to so many people more or fewer than expected.
_FAR = 32
_ALL = 1 << 20
_REMEMBERED = 32
Counts = NDArray[np.float64]


def subject(policy: SynopsisPolicy, request: AuditRequest) -> SynopsisSubject:
    """The policy with as many made-up people as it says there are; crowds have no part in its guarantee."""
    request.leave_epsilon("the policy of a synopsis", "there is no delta to trade")
    require_people(policy.people, MOST_PEOPLE, "a synopsis")
    audited = SynopsisSubject(policy, request.name, request.understated, request.stacked)
    rows = audited.plan.parameters.mechanism.queries.universe
    if not 2 <= rows <= MOST_ROWS:
        raise InvalidInput(
            f"the columns must make between 2 and {MOST_ROWS:,} different rows to audit a synopsis, which takes "
            f"thousands of releases, got {rows:,}. Audit the same policy with other columns."
        )
    return audited


@dataclass(frozen=True)
class SynopsisSubject(Rehearsed):
    """What a policy publishes about made-up people, when one person's data are replaced."""

    policy: SynopsisPolicy
    name: str = "policy"
    understated: float = 1.0
    stacked: bool = False
    mistake: Callable[[Any], Any] | None = None

    def pairs(self) -> list[Neighbours]:
        """Two persons who differ in as many measured counts as can be, among people like the one and the other."""
        measured = lru_cache(_REMEMBERED)(self._measured)

        def distance(one: Values, other: Values) -> float:
            return float(abs(measured(one) - measured(other)).sum())

        offered = [self._candidates(column.name) for column in self.policy.columns]
        return among(*apart(offered, distance), self.policy.people)

    def looking(self, population: Replaced) -> Callable[[bytes], Views]:
        """Rows like either of the two persons."""
        rehearsal = Rehearsal(self.policy, population.people, self.plan)
        onlooker = self._onlooker(population)
        return lambda key: onlooker.at(*rehearsal.publish(key))

    def batches(self, population: Replaced) -> Iterator[Views]:
        """The same of many releases as one."""
        batch, onlooker = SynopsisBatch(self.plan, population.people), self._onlooker(population)
        known: Known[Views] = Known()

        def seen() -> list[Views]:
            found = batch.publish(ReleaseKey(new_key()))
            drawn = [(tuple(map(tuple, shown.rows)), misfit) for shown, misfit in found]
            return known.of_all(drawn, lambda new: [onlooker.at_shown(*found[one]) for one in new])

        return endless(seen)

    def _candidates(self, name: str) -> list[str | None]:
        """Raw values of a column: of its first and last classes, and of those that some query names."""
        recoding = next(column for column in self.policy.columns if column.name == name).recoding
        named = {condition[name] for condition in self.policy.queries or () if name in condition}
        few = examples(recoding, CLASSES)
        asked = [value for value in examples(recoding, _ALL) if named and recoding.label(value) in named]
        return [few[0], *asked[:CLASSES], *asked[CLASSES:][-CLASSES:], *few[1:]]

    def labels(self, values: Values) -> tuple[str, ...]:
        """A person as a row would show them."""
        columns = self.policy.columns
        return tuple(str(column.recoding.label(value)) for column, value in zip(columns, values, strict=True))

    def _measured(self, values: Values) -> Counts:
        """What one person adds to every measured count."""
        return self.measured({self.labels(values): 1})

    def measured(self, rows: Mapping[tuple[str, ...], int]) -> Counts:
        """The measured counts of rows, given as how many there are of each kind."""
        queries = self.plan.parameters.mechanism.queries
        table = np.zeros(queries.shape)
        places = [self._places[place] for place in self.plan.order]
        for labels, count in rows.items():
            cell = tuple(known[labels[place]] for known, place in zip(places, self.plan.order, strict=True))
            table[cell] = count
        return np.asarray(queries.counts(table), float)

    @cached_property
    def _places(self) -> list[dict[str, int]]:
        """Where each label of each column is."""
        return [
            {label: place for place, label in enumerate(self.policy.labels(column.name))}
            for column in self.policy.columns
        ]

    def _onlooker(self, population: Replaced) -> Onlooker:
        """Somebody who knows everybody else, and what to expect when the person in question is drawn."""
        one, other = (self._measured(person) for person in population.persons)
        drawn = (self.policy.samples - 1) / (self.policy.people - 1)
        others = {crowd.values: crowd.size * drawn for crowd in population.people[1:]}
        expected = one + sum(size * self._measured(values) for values, size in others.items())
        mechanism = self.plan.parameters.mechanism
        loss = mechanism.noise_epsilon if isinstance(mechanism, FittedSynopsis) else 1.0
        moved = other - one
        numbers = (Number(int(row), float(expected[row]), moved[row], loss) for row in np.flatnonzero(moved))
        persons = {name: self.labels(values) for name, values in zip(_PERSONS, population.persons, strict=True)}
        usual = [others.get(values, 0.0) for values in population.persons]
        return Onlooker(self, Between(tuple(numbers)), persons, tuple(usual))


_PERSONS = ("the person", "who comes instead")


@dataclass(frozen=True)
class Onlooker:
    """Somebody who looks for rows like either of two persons, of whom so many are expected among the others."""

    subject: SynopsisSubject
    between: Between
    persons: Mapping[str, tuple[str, ...]]
    expected: tuple[float, ...]

    def at(self, files: Mapping[str, bytes], outcome: Outcome) -> dict[str, str]:
        """Several ways of looking at one release; its misfit is in the certificate, and so public."""
        ((name, content),) = files.items()
        return self.at_shown(shown_in(name, content), outcome.value if isinstance(outcome, Misfit) else None)

    def at_shown(self, shown: Shown, misfit: float | None) -> dict[str, str]:
        """The same of rows that were read before."""
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
            **self.between.of((scale * self.subject.measured(rows)).tolist()),
        }
