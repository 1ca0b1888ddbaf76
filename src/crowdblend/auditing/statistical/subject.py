"""What is audited: a black box with a promise, neighbouring populations, and a way to look at its outputs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from crowdblend.auditing.statistical.views import views_of
from crowdblend.guarantees import Differential

# By view, how often each outcome was seen.
Observed = Mapping[str, Mapping[str, int]]


class Pair(Protocol):
    """Two neighbouring populations, and why they are hard."""

    @property
    def name(self) -> str: ...
    @property
    def more(self) -> Any: ...
    @property
    def fewer(self) -> Any: ...


class Subject(Protocol):
    """A mechanism to be audited. It is sent to other processes, so it must be possible to pickle it.

    One that also has a text `made_of` says with it what else it depends on: an audit that was interrupted goes on only
    with what it was begun with.
    """

    @property
    def name(self) -> str:
        """What it is called in the verdict."""

    @property
    def promise(self) -> Differential:
        """What it claims."""

    def pairs(self) -> Sequence[Pair]:
        """Neighbouring populations under the relation of the promise."""

    def observe(self, population: Any, runs: int) -> Observed:
        """Run so many times with fresh randomness, and count what an onlooker sees, in one or more ways of looking."""


@dataclass(frozen=True)
class Neighbours:
    """A pair of populations."""

    name: str
    more: Any
    fewer: Any


@dataclass(frozen=True)
class BlackBox:
    """Any function from a population to an output, with fresh randomness of its own in every call."""

    name: str
    promise: Differential
    mechanism: Callable[[Any], Any]
    neighbours: tuple[Neighbours, ...]
    look: Callable[[Any], Mapping[str, str]] = views_of

    def pairs(self) -> Sequence[Neighbours]:
        """The pairs that were given."""
        return self.neighbours

    def observe(self, population: Any, runs: int) -> Observed:
        """Call the function, and look at what it returns."""
        seen: dict[str, Counter[str]] = {}
        for _ in range(runs):
            for view, outcome in self.look(self.mechanism(population)).items():
                seen.setdefault(view, Counter())[outcome] += 1
        return seen
