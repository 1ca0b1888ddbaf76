"""What all releases about the same people come to."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from crowdblend.calculus import Assumption
from crowdblend.calculus.encoding import encode
from crowdblend.calculus.groups import best_for_group
from crowdblend.calculus.rules.composition import (
    differential_releases_add_up,
    iid_sample_releases_add_up,
    network_releases_add_up,
    random_sample_releases_add_up,
)
from crowdblend.errors import NotApplicable
from crowdblend.guarantees import Differential, Guarantee, ZeroKnowledge
from crowdblend.ledger.entry import Entry


@dataclass(frozen=True)
class Budget:
    """The spent entries of one population, added up; None where no theorem adds them up.

    Differential privacy is for one person more or less where every release has that, and else for one person's
    data replaced. Zero-knowledge privacy adds up the rounds, or the number of random people, that it is relative to.
    """

    population: str
    releases: tuple[int, ...]
    differential: Differential | None
    zero_knowledge: ZeroKnowledge | None
    assumptions: tuple[Assumption, ...]

    def for_group(self, people: int) -> ZeroKnowledge | None:
        """What the zero-knowledge guarantees together come to for several people, by the best of three propositions."""
        if self.zero_knowledge is None:
            return None
        return best_for_group(self.zero_knowledge, people).conclude(self.zero_knowledge, people=people)  # type: ignore[return-value]

    def to_dict(self) -> dict[str, Any]:
        """The budget as JSON-ready data."""
        return {
            "population": self.population,
            "releases": list(self.releases),
            "differential": encode(self.differential),
            "zero_knowledge": encode(self.zero_knowledge),
            "assumptions": [assumption.value for assumption in self.assumptions],
        }


def add_up(population: str, entries: Iterable[Entry]) -> Budget:
    """The budget of the people that are called `population`."""
    spent = [entry for entry in entries if entry.counts and entry.spending.population == population]
    losses = [entry.spending.differential for entry in spent]
    replaced = [entry.spending.replaced for entry in spent]
    relative = [entry.spending.zero_knowledge for entry in spent]
    several = len(spent) > 1
    shared = any(not entry.spending.fresh for entry in spent)
    taken = {Assumption.FRESH_SAMPLES: several, Assumption.ASSUMED_RATE: shared}
    return Budget(
        population=population,
        releases=tuple(entry.id for entry in spent),
        differential=_sum(losses, differential_releases_add_up) or _sum(replaced, differential_releases_add_up),
        zero_knowledge=_sum(
            relative, iid_sample_releases_add_up, network_releases_add_up, random_sample_releases_add_up
        ),
        assumptions=tuple(assumption for assumption in Assumption if taken.get(assumption)),
    )


def _sum(premises: list[Any], *rules: Any) -> Any:
    """What the first rule that applies concludes; None when a release has no such guarantee or no rule applies."""
    known: list[Guarantee] = [premise for premise in premises if premise is not None]
    if not known or len(known) < len(premises):
        return None
    if len(known) == 1:
        return known[0]
    for rule in rules:
        with suppress(NotApplicable):
            return rule.conclude(*known)
    return None
