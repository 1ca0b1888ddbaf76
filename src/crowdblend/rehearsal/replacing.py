"""One person's data replaced: by what a release hides least from the first, among others who make it hard."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product

from crowdblend.errors import InvalidInput
from crowdblend.rehearsal.made_up_people import Crowd, Population, Values
from crowdblend.rehearsal.rehearsed import Neighbours


@dataclass(frozen=True)
class Replaced:
    """People with the person in question first; `persons` are whoever that is here, and instead."""

    people: Population
    persons: tuple[Values, Values]


def require_people(people: int, most: int, what: str) -> None:
    """Refuse a policy about too many people to make up, or too few to tell one from the others."""
    if not 2 <= people <= most:
        raise InvalidInput(
            f"people in [data] must be between 2 and {most:,} to audit {what}, got {people:,}. "
            "Audit the same policy with fewer people, and as much fewer in sample."
        )


def apart(
    offered: Sequence[Sequence[str | None]], distance: Callable[[Values, Values], float]
) -> tuple[Values, Values]:
    """Two persons who are as far apart as any that are found column by column, from the first values and the last."""
    one, other = [some[0] for some in offered], [some[-1] for some in offered]
    for _ in range(2):
        for place, values in enumerate(offered):
            # What there is comes first, and stays unless something is better.
            tried = [(one, other)] + [
                ([*one[:place], first, *one[place + 1 :]], [*other[:place], second, *other[place + 1 :]])
                for first, second in product(values, values)
            ]
            one, other = max(tried, key=lambda pair: distance(tuple(pair[0]), tuple(pair[1])))
    return tuple(one), tuple(other)


def among(one: Values, other: Values, people: int) -> list[Neighbours]:
    """The two among so many people in all: others like the one, like the other, and half and half."""
    n = people - 1
    crowds = {
        "others like the person": (Crowd(one, n),),
        "others like who comes instead": (Crowd(other, n),),
        "others half and half": (Crowd(one, n // 2), Crowd(other, n - n // 2)),
    }
    return between_crowds(one, other, crowds)


def between_crowds(one: Values, other: Values, crowds: Mapping[str, Population]) -> list[Neighbours]:
    """The two among others, by what is said of those."""
    return [
        Neighbours(
            name,
            Replaced((Crowd(one, 1), *others), (one, other)),
            Replaced((Crowd(other, 1), *others), (one, other)),
        )
        for name, others in crowds.items()
    ]
