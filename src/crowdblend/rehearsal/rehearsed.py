"""A policy that is released again and again on made-up people: what every kind has in common as the audit sees it."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice
from typing import Any, ClassVar

from crowdblend.guarantees import Differential, Relation
from crowdblend.kinds import plan
from crowdblend.randomness import new_key
from crowdblend.rehearsal.batch import RELEASES
from crowdblend.rehearsal.looking import digest
from crowdblend.version import __version__

Views = dict[str, str]

_KEPT, _MOST_KEPT = "_kept", 64
_MADE_HERE = (_KEPT, "plan", "honest_plan", "guarantee")


@dataclass(frozen=True)
class Neighbours:
    """Two populations that differ in one person, and why they are hard."""

    name: str
    more: Any
    fewer: Any


class Rehearsed:
    """A black box with a guarantee; kinds say which populations are hard for it, and what is to be seen of a release.

    `understated` divides the ε of the guarantee: a test of the audit, not of the release. `stacked` runs many releases
    as one, see `batch`. `mistake` is planted into the plan that runs, to see whether the audit finds it; what is
    guaranteed is said by the plan without it.
    """

    policy: Any
    name: str
    understated: float
    stacked: bool
    mistake: Callable[[Any], Any] | None
    relation: ClassVar[Relation] = Relation.REPLACE

    @cached_property
    def honest_plan(self) -> Any:
        """The plan behind the policy."""
        return plan(self.policy)

    @cached_property
    def plan(self) -> Any:
        """The plan that runs: the policy's, with a mistake where one is planted."""
        return self.honest_plan if self.mistake is None else self.mistake(self.honest_plan)

    @cached_property
    def guarantee(self) -> Differential:
        """What the certificate says about one person."""
        stated: Differential = self.honest_plan.certificate().differential(self.relation)
        return replace(stated, epsilon=stated.epsilon / self.understated)

    @property
    def together(self) -> int:
        """How many releases are run as one: fewer take as long."""
        return RELEASES if self.stacked else 1

    @property
    def fingerprint(self) -> str:
        """A text that is another one for every other policy and version, and for single releases or batches."""
        return digest((__version__, self.policy, self.stacked))

    def observe(self, population: Any, runs: int) -> dict[str, Counter[str]]:
        """Release so many times, with a fresh key each time, and look at what is published."""
        times: Counter[int] = Counter()
        held: dict[int, Views] = {}
        for views in self.looks(population, runs):
            # What batches have seen before is the same object, and is counted as one.
            held[id(views)] = views
            times[id(views)] += 1
        seen: defaultdict[str, Counter[str]] = defaultdict(Counter)
        for number, count in times.items():
            for view, found in held[number].items():
                seen[view][found] += count
        return dict(seen)

    def looks(self, population: Any, runs: int) -> Iterator[Views]:
        """What is seen of each of so many releases, in several ways of looking.

        What a batch shows beyond these runs is kept for the next ones: each release is for one run.
        """
        if self.stacked:
            return islice(self.kept(population, lambda: self.batches(population)), runs)
        look = self.kept(population, lambda: self.looking(population))
        return (look(new_key()) for _ in range(runs))

    def batches(self, population: Any) -> Iterator[Views]:
        """What is seen of one release after the other, without end, where many are run as one."""
        raise NotImplementedError

    def looking(self, population: Any) -> Callable[[bytes], Views]:
        """What is seen of the release of a population, for any key."""
        raise NotImplementedError

    def kept(self, population: Hashable, make: Callable[[], Any]) -> Any:
        """Making up a population takes a moment, so the last ones are kept."""
        kept = self.__dict__.setdefault(_KEPT, {})
        if population not in kept:
            while len(kept) >= _MOST_KEPT:
                kept.pop(next(iter(kept)))
            kept[population] = make()
        return kept[population]

    def __getstate__(self) -> dict[str, object]:
        """Without what is kept: another process makes its own."""
        return {name: value for name, value in self.__dict__.items() if name not in _MADE_HERE}
