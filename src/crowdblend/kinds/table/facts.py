"""Facts of tables: of one sample, of its strata, of parts of it, of fresh samples, and of registers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal

import msgspec

from crowdblend.calculus import Derivation
from crowdblend.designs import Everybody, Poisson
from crowdblend.guarantees.parameters import MOST_PARTS
from crowdblend.kinds.crowd_facts import CrowdFacts, by_stratum
from crowdblend.kinds.facts import CellTable, Fact, Parameters, Share, contradiction
from crowdblend.mechanisms.everywhere import NoiseEverywhere, NoisyTotal
from crowdblend.mechanisms.noisy import NoisyHistogram
from crowdblend.mechanisms.suppressed import SuppressedHistogram

DATA, TOTALS = "data", "totals"


class NamedTable(Fact, frozen=True, kw_only=True):
    """One of several tables: a sum of the finest one, or counted by itself.

    One with a mechanism of its own was counted in its share of the sample, or, without a share, in a fresh sample.
    """

    columns: tuple[str, ...]
    mechanism: SuppressedHistogram | None = None
    share: Share | None = None


class TableFacts(CrowdFacts, frozen=True, kw_only=True, tag="table"):
    """What a release of tables says of itself; `count` says what the rows of a register count, where they are many."""

    mechanism: SuppressedHistogram | NoisyHistogram | NoiseEverywhere | None = None
    strata: dict[str, SuppressedHistogram | NoisyHistogram] = msgspec.field(default_factory=dict)
    named: Annotated[dict[str, NamedTable], msgspec.Meta(max_length=MOST_PARTS)] = msgspec.field(default_factory=dict)
    totals: tuple[NoisyTotal, ...] = ()
    count: Literal["rows", "people"] = "rows"

    @property
    def rows_are_counted(self) -> bool:
        return True

    @property
    def rows_per_person(self) -> int | None:
        """How many rows of a person are counted at most; None where everybody has one."""
        return self.mechanism.rows_per_person if isinstance(self.mechanism, NoiseEverywhere) else None

    @property
    def counted(self) -> str | None:
        rows = self.rows_per_person
        if rows is None:
            return None
        if self.count == "people":
            return (
                f"Counts are people: everybody is counted once in every class of theirs, in at most {rows} random "
                "ones. Who has several classes is counted in each, so sums over classes are not numbers of people; the "
                "number of people is in the table totals. Classes that were left out are in none of the numbers."
            )
        return (
            f"Counts are rows about everybody in the table: of each person at most {rows} random ones. The number of "
            "people is in the table totals. Rows that were left out are in none of the numbers, and in no interval."
        )

    @property
    def meanings(self) -> Mapping[str, tuple[str, str]]:
        if self.rows_per_person is None:
            return {}
        count = "The published number of rows that were kept, or of what the column total names."
        if self.count == "people":
            count = "The published number of people who have the class, or of what the column total names."
        return {
            "count": ("integer", count),
            "estimate": ("number", "The estimate of that number without the noise."),
            "low": ("integer", "The lower end of the 95 % interval for the number without the noise."),
            "high": ("integer", "The upper end of the 95 % interval for the number without the noise."),
        }

    @property
    def mechanisms(self) -> tuple[SuppressedHistogram | NoisyHistogram | NoiseEverywhere | NoisyTotal, ...]:
        if self._own:
            return tuple(self._own.values())
        if isinstance(self.design, Everybody) != isinstance(self.mechanism, NoiseEverywhere):
            raise contradiction("its mechanism is not one for its design")
        return *by_stratum(self.mechanism, self.strata, self.design), *self.totals

    @property
    def _own(self) -> Mapping[str, SuppressedHistogram]:
        """The mechanism of every table that was counted by itself; none where they are sums of one."""
        own = {name: table.mechanism for name, table in self.named.items() if table.mechanism is not None}
        if not own and any(table.share is not None for table in self.named.values()):
            raise contradiction("a table has a share of the sample and no mechanism of its own")
        if own and (len(own) < len(self.named) or self.mechanism is not None or self.strata or self.recoding):
            raise contradiction("some of its tables are counted by themselves and some are not")
        return own

    @property
    def shares(self) -> tuple[float, ...]:
        """The share of the sample that every table was counted in; none where they share it, or have their own."""
        found = tuple(table.share for table in self.named.values() if table.share is not None)
        if found and len(found) < len(self._own):
            raise contradiction("some of its tables have a share of the sample and some do not")
        return found

    @property
    def has_fresh_samples(self) -> bool:
        """Whether every table was counted in a sample of its own."""
        return bool(self._own) and not self.shares

    def derivations(self) -> tuple[Derivation, ...]:
        """Those of the one table; tables of parts, and tables of fresh samples, have one guarantee together."""
        self._check_totals()
        if isinstance(self.design, Everybody):
            return self._of_everybody(self.design)
        if not self._own:
            return super().derivations()
        if not isinstance(self.design, Poisson) or (self.has_fresh_samples and self.design.drawn_before):
            raise contradiction("tables are counted by themselves in samples at one rate, fresh ones drawn here")
        if self.shares:
            return self.kept(self.design.parts_derivations(self.mechanisms, self.shares, self.epsilon))
        return self.kept(self.design.fresh_derivations(self.mechanisms, self.epsilon))

    def _of_everybody(self, design: Everybody) -> tuple[Derivation, ...]:
        if self.releases > 1 or self.recoding is not None:
            raise contradiction("a register has neither a series nor a choice of the recoding")
        derived = design.derivations(self.mechanisms, self.epsilon)
        if derived[0].conclusion.epsilon > self.epsilon:
            raise contradiction("its mechanisms guarantee less than it states")
        return derived

    def _check_totals(self) -> None:
        """Refuse totals other than those of a register whose people have several rows: each adds so many to each."""
        rows = self.rows_per_person
        wanted = [] if rows is None else [("rows", rows), ("people", 1)]
        if [(total.name, total.rows_per_person) for total in self.totals] != wanted:
            raise contradiction("its totals are not those of its rows")

    @property
    def tables(self) -> Mapping[str, CellTable]:
        named = self.named or {DATA: NamedTable(columns=tuple(self.columns))}
        sizes = {name: domain.number_of_labels for name, domain in self.columns.items()}
        found = {}
        for name, table in named.items():
            if not set(table.columns) <= set(self.columns):
                raise contradiction("a table has a column that is not declared")
            columns = {column: self.columns[column] for column in table.columns}
            if table.mechanism is None:
                mechanisms = self.mechanisms[: len(self.mechanisms) - len(self.totals)]
                laws = self.laws(mechanisms[0], sizes)
                found[name] = CellTable(columns, laws, tuple(one.law for one in mechanisms), self._flagged)
                continue
            assert isinstance(self.design, Poisson), "tables are counted by themselves in samples at one rate"
            own = {column: sizes[column] for column in columns}
            laws = self.laws(table.mechanism, own, Poisson(self.design.rate * (table.share or 1.0)))
            found[name] = CellTable(columns, laws, (table.mechanism.law,))
        return found

    @property
    def _flagged(self) -> bool:
        """Sums of cells are not called exact."""
        return isinstance(self.mechanism, NoisyHistogram) and self.mechanism.flag and not self.named

    @property
    def crowds(self) -> Mapping[str, int]:
        if self._own:
            return {name: mechanism.k for name, mechanism in self._own.items()}
        found = self.mechanism
        return {DATA: found.k} if isinstance(found, SuppressedHistogram | NoisyHistogram) else {}

    @property
    def parameters(self) -> Parameters:
        found = super().parameters
        sizes = [one.k for one in self.mechanisms if isinstance(one, SuppressedHistogram | NoisyHistogram)]
        found |= {"k": max(sizes)} if sizes else {}
        losses = [one.noise_epsilon for one in self.mechanisms if isinstance(one, NoisyHistogram | NoiseEverywhere)]
        found |= {"noise_epsilon": max(losses)} if losses else {}
        return found | ({"rows_per_person": self.rows_per_person} if self.rows_per_person else {})
