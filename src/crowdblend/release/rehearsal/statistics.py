"""Statistics as the audit sees them: one person replaced by another whom the noise hides least from the first."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from crowdblend import __version__
from crowdblend.errors import InvalidInput
from crowdblend.guarantees import Differential, Relation
from crowdblend.planning.statistics import EVERYBODY
from crowdblend.randomness import new_key
from crowdblend.release.kinds.statistics import Promise, StatisticsPolicy, promise
from crowdblend.release.rehearsal.between import Between, Number
from crowdblend.release.rehearsal.registry import Hard
from crowdblend.release.rehearsal.replacing import Neighbours, Replaced, among, apart
from crowdblend.release.rehearsal.subject import CLASSES, claimed
from crowdblend.release.rehearsal.table import Values
from crowdblend.release.rehearsal.totals import TotalsRehearsal
from crowdblend.release.rehearsal.values import examples

MOST_PEOPLE = 1 << 20
_ALL = 1 << 20
_KEPT = "_held"


def subject(
    policy: StatisticsPolicy,
    hard: Hard,
    *,
    name: str,
    people: int,
    understated: float = 1.0,
    stacked: bool = False,
    epsilon: float | None = None,
) -> StatisticsSubject:
    """The policy with as many made-up people as it says there are; crowds have no part in its promise."""
    del hard, people, stacked
    if epsilon is not None:
        raise InvalidInput("epsilon must be left to a policy of statistics: there is no delta to trade. Drop it.")
    if not 2 <= policy.people <= MOST_PEOPLE:
        raise InvalidInput(
            f"people in [data] must be between 2 and {MOST_PEOPLE:,} to audit statistics, got {policy.people:,}. "
            "Audit the same policy with fewer people, and as much fewer in sample."
        )
    return StatisticsSubject(policy, name, understated)


@dataclass(frozen=True)
class StatisticsSubject:
    """What a policy publishes about made-up people, when one person's data are replaced."""

    policy: StatisticsPolicy
    name: str = "policy"
    understated: float = 1.0

    @cached_property
    def promised(self) -> Promise:
        """The plan behind the policy."""
        return promise(self.policy)

    @cached_property
    def promise(self) -> Differential:
        """What the certificate says about one person's data replaced."""
        return claimed(self.promised, Relation.REPLACE, self.understated)

    @property
    def made_of(self) -> str:
        """A text that is another one for every other policy, and for every other version."""
        return digest((__version__, self.policy))

    def pairs(self) -> list[Neighbours]:
        """Two different persons among people like the one, like the other, and half and half."""
        offered = [self._candidates(name) for name in self.policy.wanted]
        return among(*apart(offered, self._distance), self.policy.people)

    def observe(self, population: Replaced, runs: int) -> dict[str, Counter[str]]:
        """Release so many times, with a fresh key each time, and look at what is published."""
        held = self.__dict__.setdefault(_KEPT, {})
        if population not in held:
            held[population] = TotalsRehearsal(self.promised, population.people), self._between(population)
        rehearsal, between = held[population]
        seen: dict[str, Counter[str]] = {}
        for _ in range(runs):
            for view, found in between.at(rehearsal.publish(new_key())).items():
                seen.setdefault(view, Counter())[found] += 1
        return seen

    def __getstate__(self) -> dict[str, object]:
        """Without what is kept: another process makes its own."""
        return {name: value for name, value in self.__dict__.items() if name not in (_KEPT, "promised", "promise")}

    def _candidates(self, name: str) -> list[str | None]:
        """Raw values of a column: its bounds, its first and last classes, and those that some condition names."""
        measure = self.policy.measures.get(name)
        column = next((column for column in self.policy.classes if column.name == name), None)
        found: list[str | None] = [] if measure is None else [str(measure.start), str(measure.stop)]
        if column is not None:
            known = examples(column.recoding, _ALL)
            named = {label for made in self.policy.statistics for label in made.where.get(name, ())}
            found += [
                *examples(column.recoding, CLASSES),
                *(one for one in known if column.recoding.label(one) in named),
            ]
            found = [value for value in found if column.recoding.label(value) is not None]
        if any((made.what, made.column) == ("average", name) for made in self.policy.statistics):
            assert measure is not None, "an average has bounds"
            found = [value for value in found if measure.code(value) is not None]
        return list(dict.fromkeys(found))

    def _distance(self, one: Values, other: Values) -> float:
        """The loss between two persons, by the noise on everything that they add to."""
        return sum(
            self.promised.plan.noise_epsilon(place) * abs(here - there)
            for (place, here), (_, there) in zip(self._adds(one), self._adds(other), strict=True)
        )

    def _adds(self, values: Values) -> list[tuple[int, int]]:
        """What a person adds to every published number, in steps, each with the place of its statistic."""
        person = dict(zip(self.policy.wanted, values, strict=True))
        label = {
            column.name: column.recoding.label(person[column.name])
            for column in self.policy.classes
            if column.name in person
        }
        found: list[tuple[int, int]] = []
        for place, made in enumerate(self.policy.statistics):
            fits = all(label[name] in labels for name, labels in made.where.items())
            if made.what == "average":
                found.append((place, self.policy.measures[str(made.column)].code(person[str(made.column)]) or 0))
            elif made.what == "histogram":
                found += [(place, int(fits and label[str(made.column)] == one)) for one in self.policy.bins(made)]
            else:
                found.append((place, int(fits)))
        return found

    def _between(self, population: Replaced) -> Between:
        """The numbers that the two persons move, where they are without noise, and by how much they move."""
        one, other = (self._adds(person) for person in population.persons)
        others = [(self._adds(crowd.values), crowd.size) for crowd in population.people[1:]]
        numbers = []
        for row, ((place, here), (_, there)) in enumerate(zip(one, other, strict=True)):
            if here != there:
                way, n = self.promised.plan.way_of(place), self.policy.people
                counted = n if way.mechanism == EVERYBODY else way.samples
                total = here + sum(adds[row][1] * size for adds, size in others)
                moved = self.promised.in_unit(place, (there - here) / counted)
                loss = self.promised.plan.noise_epsilon(place) * abs(there - here)
                numbers.append(Number(row, float(self.promised.value(place, Fraction(total, n))), moved, loss))
        return Between(tuple(numbers))
