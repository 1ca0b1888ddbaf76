"""The account of one population: the total that was kept, and what was recorded since."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from crowdblend.calculus.loss_curves import together
from crowdblend.errors import CrowdblendError
from crowdblend.ledger import chain
from crowdblend.ledger.entry import spending_of
from crowdblend.ledger.history import replay
from crowdblend.ledger.running_total import CUT, RunningTotal, Spent, compose_all, uses_of

# What a law may lose by rounding and by cutting its ends, for each of its entries: far below any δ.
ROUNDING = 1e-16


@dataclass(frozen=True)
class Account:
    """Whatever is to be known of a population's losses. `kept` covers the records up to the one of this number.

    The hashes of all records were checked. With a kept total only the records after it are read.
    """

    population: str
    records: Sequence[chain.Record]
    number: int = 0
    kept: RunningTotal | None = None

    @property
    def releases(self) -> int:
        """How many releases are spent."""
        since = self._since
        return len(self.spent) if self.kept is None or since is None else len(self.kept.entries) + len(since)

    def running(self, *more: Spent) -> RunningTotal | None:
        """The total of all spent entries and of more; None without any, or where one has no loss that adds up."""
        since = self._since
        if self.kept is not None and since is not None:
            grown = self.kept.grown([*since, *more])
            if grown is not None:
                return grown
        return compose_all(self.population, [*self.spent, *more])

    @cached_property
    def spent(self) -> list[Spent]:
        """Every spent entry about these people, from all records."""
        return _spent(self.population, self.records)

    def confirms(self) -> bool:
        """Whether the kept total is as large as its entries come to, composed again on its grid."""
        if self.kept is None:
            return True
        covered = set(self.kept.entries)
        spent = _spent(self.population, self.records[: self.number])
        uses = uses_of([spending for _, spending in spent], self.kept.relation)
        if not uses or covered != {number for number, _ in spent}:
            return False
        spacing = self.kept.pair.up.spacing
        again = together(uses, spacing, CUT)
        slack = ROUNDING * (len(spent) + 1)
        pairs = ((self.kept.pair.up, again.up), (self.kept.pair.down, again.down))
        return again.up.spacing == spacing and all(kept.covers(made, slack) for kept, made in pairs)

    @cached_property
    def _since(self) -> list[Spent] | None:
        """The entries that were begun after the kept total; None when one that it covers was given back."""
        begun: dict[int, Spent] = {}
        for record in self.records[self.number :]:
            content = chain.content(record)
            try:
                number: Any = content.get("entry")
                step = content["step"]
                if step == "begun" and content["population"] == self.population:
                    begun[number] = (number, spending_of(content))
                given_back = step == "abandoned" and begun.pop(number, None) is None
                if given_back and self.kept is not None and number in self.kept.entries:
                    return None
            except (LookupError, TypeError, ValueError, AttributeError, CrowdblendError):
                raise chain.unreadable(record.number) from None
        return list(begun.values())


def _spent(population: str, records: Sequence[chain.Record]) -> list[Spent]:
    entries = replay(map(chain.content, records)).entries.values()
    return [(e.id, e.spending) for e in entries if e.counts and e.spending.population == population]
