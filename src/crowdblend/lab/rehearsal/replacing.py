"""One person's data replaced: by what a release hides least from the first, among others who make it hard."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product

from crowdblend.errors import InvalidInput
from crowdblend.lab.rehearsal.made_up_people import Crowd, Population, Values
from crowdblend.lab.rehearsal.subject import Neighbours


@dataclass(frozen=True)
class ReplacedPerson:
    """People with the person in question first; `persons` are that person's values and those that replace them."""

    people: Population
    persons: tuple[Values, Values]


def require_people(people: int, most: int, what: str) -> None:
    """Refuse a policy about too many people to make up, or too few to tell one from the others."""
    if not 2 <= people <= most:
        raise InvalidInput(
            f"`data.people` must be between 2 and {most:,} to audit {what}, got {people:,}. "
            "Audit the same policy with fewer people, and as much fewer in sample."
        )


def apart(labels: Sequence[Sequence[str | None]], distance: Callable[[Values, Values], float]) -> tuple[Values, Values]:
    """Return two persons as far apart as any that are found column by column, from the first values and the last."""
    one, other = (tuple(some[at] for some in labels) for at in (0, -1))
    for _ in range(2):
        for place, values in enumerate(labels):
            # What there is comes first, and stays unless something is better.
            tried = [(one, other)] + [
                (replace_value(one, place, first), replace_value(other, place, second))
                for first, second in product(values, values)
            ]
            one, other = max(tried, key=lambda pair: distance(*pair))
    return one, other


def replace_value(person: Values, place: int, value: str | None) -> Values:
    """Return a person with another value in one column."""
    return (*person[:place], value, *person[place + 1 :])


def among(one: Values, other: Values, people: int) -> list[Neighbours[ReplacedPerson]]:
    """Return the two among this many people in all: others like the one, like the other, and half and half."""
    n = people - 1
    crowds = {
        "others like the person": (Crowd(one, n),),
        "others like who comes instead": (Crowd(other, n),),
        "others half and half": (Crowd(one, n // 2), Crowd(other, n - n // 2)),
    }
    return between_crowds(one, other, crowds)


def between_crowds(one: Values, other: Values, crowds: Mapping[str, Population]) -> list[Neighbours[ReplacedPerson]]:
    """Return the two among others, by what is said of those."""
    return [
        Neighbours(name, *(ReplacedPerson((Crowd(person, 1), *others), (one, other)) for person in (one, other)))
        for name, others in crowds.items()
    ]
