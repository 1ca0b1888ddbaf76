"""Statistics as the audit sees them: one person replaced by another whom the noise hides least from the first."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from crowdblend.kinds.statistics import StatisticsPlan
from crowdblend.planning.statistics import EVERYBODY, TotalsPlan
from crowdblend.policies.statistics import Statistics
from crowdblend.rehearsal.crowd_classes import CLASSES
from crowdblend.rehearsal.looking import Between, Number
from crowdblend.rehearsal.made_up_people import Files, Population, Values, people_in_memory, publish_once
from crowdblend.rehearsal.registry import AuditRequest
from crowdblend.rehearsal.rehearsed import Neighbours, Rehearsed, Views
from crowdblend.rehearsal.replacing import Replaced, among, apart, require_people
from crowdblend.rehearsal.values import examples


class TotalsRehearsal:
    """What a policy of statistics publishes about made-up people, for any key; values are those of `wanted`."""

    def __init__(self, planned: StatisticsPlan, population: Population) -> None:
        self._plan, self._files = planned, Files()
        self._engine = people_in_memory(planned.policy.data, planned.policy.wanted, population)

    def publish(self, key: bytes) -> dict[str, bytes]:
        """The files by name."""
        return self._files.of(publish_once(self._plan, self._engine, key))


MOST_PEOPLE = 1 << 20
_ALL = 1 << 20


def subject(policy: Statistics, request: AuditRequest) -> StatisticsSubject:
    """The policy with as many made-up people as it says there are; crowds have no part in its guarantee."""
    request.leave_epsilon("a policy of statistics", "there is no delta to trade")
    require_people(policy.people, MOST_PEOPLE, "statistics")
    return StatisticsSubject(policy, request.name, request.understated)


@dataclass(frozen=True)
class StatisticsSubject(Rehearsed):
    """What a policy publishes about made-up people, when one person's data are replaced."""

    policy: Statistics
    name: str = "policy"
    understated: float = 1.0

    def pairs(self) -> list[Neighbours]:
        """Two different persons among people like the one, like the other, and half and half."""
        offered = [self._candidates(name) for name in self.policy.wanted]
        return among(*apart(offered, self._distance), self.policy.people)

    def looking(self, population: Replaced) -> Callable[[bytes], Views]:
        """The numbers between the two persons."""
        rehearsal, between = TotalsRehearsal(self.plan, population.people), self._between(population)
        return lambda key: between.at(rehearsal.publish(key))

    def _candidates(self, name: str) -> list[str | None]:
        """Raw values of a column: its bounds, its first and last classes, and those that some condition names."""
        measure = self.policy.measures.get(name)
        column = next((column for column in self.policy.classes if column.name == name), None)
        found: list[str | None] = [] if measure is None else [str(measure.start), str(measure.stop)]
        if column is not None:
            known = examples(column.recoding, _ALL)
            named = {label for made in self.policy.statistics for label in made.among.get(name, ())}
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
        plan: TotalsPlan = self.plan.parameters
        return sum(
            plan.noise_epsilon(place) * abs(here - there)
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
            fits = all(label[name] in labels for name, labels in made.among.items())
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
                way, n = self.plan.parameters.way_of(place), self.policy.people
                counted = n if way.mechanism == EVERYBODY else way.samples
                total = here + sum(adds[row][1] * size for adds, size in others)
                moved = self.plan.in_unit(place, (there - here) / counted)
                loss = self.plan.parameters.noise_epsilon(place) * abs(there - here)
                numbers.append(Number(row, float(self.plan.value(place, Fraction(total, n))), moved, loss))
        return Between(tuple(numbers))
