"""What is audited: a black box with a guarantee, neighbouring populations, and a way to look at its outputs."""

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
    def name(self) -> str:
        """What the pair is called in a report."""

    @property
    def more(self) -> Any:
        """The population with the person."""

    @property
    def fewer(self) -> Any:
        """The population without the person, or with another one instead."""


class Subject(Protocol):
    """A mechanism to be audited. It is sent to other processes, so it must be possible to pickle it.

    A subject may also have a text `fingerprint` of everything else it depends on: an interrupted audit goes on only
    with the same fingerprint; and a number `together` of runs that take as long as one.
    """

    @property
    def name(self) -> str:
        """What it is called in the verdict."""

    @property
    def guarantee(self) -> Differential:
        """What it claims."""

    def pairs(self) -> Sequence[Pair]:
        """Neighbouring populations under the relation of the guarantee."""

    def observe(self, population: Any, runs: int) -> Observed:
        """Run `runs` times with fresh randomness, and count the outcomes of one or more views."""


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
    guarantee: Differential
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
