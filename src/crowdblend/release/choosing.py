"""Choosing the recoding: the section [recoding], the lattice that the columns span, and how the budget is shared.

The choice never sees the sample that is published. It looks at the whole population, or at a part of the sample of
which nobody is published; docs/proofs.md#choosing-the-recoding shows why the same sample will not do.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from flint import arb
from numpy.typing import NDArray

from crowdblend.calculus.rules import recoding
from crowdblend.errors import Infeasible, InvalidInput
from crowdblend.guarantees import CrowdBlending, Differential, DifferentialUnderSampling, Relation
from crowdblend.guarantees.parameters import check
from crowdblend.numerics.balls import precision, round_down, round_up
from crowdblend.recoding import Hierarchies, Intervals, Recoding
from crowdblend.release.columns import Column
from crowdblend.release.keys import RECODING, read_keys
from crowdblend.selection import Ladder, Lattice, Score, ScoreName, score

_USUAL_SHARE = 0.2


@dataclass(frozen=True)
class Choosing:
    """How the recoding is chosen: with which part of epsilon, looking at whom, by which score."""

    epsilon: float
    using: Literal["population", "split"]
    share: float | None = None
    score: ScoreName = "loss"

    def __post_init__(self) -> None:
        check("epsilon", self.epsilon)
        if not self.epsilon:
            raise InvalidInput("epsilon in [recoding] must be above 0, got 0. Give the choice a budget, such as 0.1.")
        if self.using == "population" and self.share is not None:
            raise InvalidInput('share in [recoding] must come with using = "split", got "population". Drop share.')
        if self.using == "split":
            share = _USUAL_SHARE if self.share is None else self.share
            check("share", share)
            object.__setattr__(self, "share", share)

    def released_rate(self, rate: float) -> float:
        """The rate at which those outside the choosing part are released, rounded up."""
        if self.share is None:
            return rate
        with precision(128):
            return round_up(arb(rate) * (1 - arb(self.share)) / (1 - arb(rate) * arb(self.share)))

    def score_for(self, k: int, rate: float) -> Score:
        """The score of a release with these parameters; the data have no part in it."""
        if self.share is None:
            return score(self.score, k=k, rate=rate)
        return score(self.score, k=k, rate=rate * (1 - self.share), seen=rate * self.share)

    def left(self, epsilon: float, rate: float | None) -> float:
        """The largest ε₂ for the release that keeps choice and release together within epsilon."""
        with precision(256):
            if self.share is None:
                rest = arb(epsilon) - arb(self.epsilon)
            else:
                assert rate is not None, "a split has a rate"
                chosen = arb(rate) * arb(self.share)
                grown = (arb(epsilon).exp() - chosen * arb(self.epsilon).exp()) / (1 - chosen)
                rest = grown.log() if grown > 0 else arb(-1)
            if not rest > 0:
                raise Infeasible(
                    f"epsilon in [release] must be more than the choice alone costs, got {epsilon:g} with "
                    f"{self.epsilon:g} for the choice. Lower epsilon in [recoding], or raise the one in [release]."
                )
            found = round_down(rest)
        while found > 0 and self.total(found, rate) > epsilon:
            found = math.nextafter(found, 0)
        return found

    def total(self, released: float, rate: float | None) -> float:
        """What the rules make of the choice and a release with ε₂ together."""
        choice = Differential(self.epsilon, 0.0, Relation.ADD_REMOVE)
        if self.share is None:
            premise = DifferentialUnderSampling(0.5, released, 0.0)
            made: Any = recoding.recoding_from_population.conclude(choice, premise)
        else:
            made = recoding.recoding_from_split.conclude(
                choice, CrowdBlending(2, 0.0), rate=rate, share=self.share, epsilon=released
            )
        return float(made.epsilon)


def read_choosing(table: Any) -> Choosing:
    """The section [recoding]."""
    return Choosing(**read_keys("[recoding]", RECODING, table))


def lattice_of(columns: Sequence[Column], labels: Sequence[tuple[str, ...]] | None = None) -> Lattice:
    """Every combination of what the columns offer; `labels` are those that occur, for domains that are not listed."""
    occurring = labels or [("any",)] * len(columns)
    return Lattice(tuple(_ladder(column, len(seen)) for column, seen in zip(columns, occurring, strict=True)))


def _ladder(column: Column, occurring: int) -> Ladder:
    finest = column.recodings[0]
    size = finest.size or max(occurring, 1)
    if not column.chooses:
        return Ladder(column.name, (np.arange(size),), weight=column.weight)
    maps = tuple(_map(column.name, finest, coarser) for coarser in column.recodings)
    return Ladder(column.name, maps, _leaves(finest), column.weight)


def _map(name: str, finest: Recoding, coarser: Recoding) -> NDArray[np.int64]:
    """The coarser class of every finest class."""
    if isinstance(finest, Hierarchies) and isinstance(coarser, Hierarchies):
        inner = _hierarchy_map(name, finest, coarser)
    else:
        assert isinstance(finest, Intervals)
        assert isinstance(coarser, Intervals)
        inner = _interval_map(name, finest, coarser)
    extra = sum(label is not None for label in (finest.other, finest.missing))
    return np.array([*inner, *range(coarser.size - extra, coarser.size)], np.int64)


def _hierarchy_map(name: str, finest: Hierarchies, coarser: Hierarchies) -> list[int]:
    found: dict[int, int] = {}
    for value, code in finest.lookup.items():
        if found.setdefault(code, coarser.lookup[value]) != coarser.lookup[value]:
            raise InvalidInput(
                f"the levels of column {name!r} must nest, and level {coarser.level} tears a group of level "
                f"{finest.level} apart. Correct the hierarchy, or leave that level out."
            )
    return [found[code] for code in range(len(finest.own_labels))]


def _interval_map(name: str, finest: Intervals, coarser: Intervals) -> list[int]:
    times = len(finest.own_labels) - finest.bottom - finest.top, len(coarser.own_labels) - coarser.bottom - coarser.top
    if times[0] % times[1]:
        raise InvalidInput(
            f"the widths of column {name!r} must nest, and {coarser.width} is no multiple of {finest.width}. "
            "Take widths that divide each other."
        )
    inside = [place // (times[0] // times[1]) + finest.bottom for place in range(times[0])]
    return [0] * finest.bottom + inside + [len(coarser.own_labels) - 1] * finest.top


def _leaves(finest: Recoding) -> NDArray[np.int64]:
    """How many values of the declared domain each finest class stands for."""
    leaves = np.ones(finest.size or 1, np.int64)
    if isinstance(finest, Hierarchies):
        counted = np.bincount(list(finest.lookup.values()), minlength=len(finest.own_labels))
        leaves[: len(counted)] = counted
    return leaves


def chosen_facts(choosing: Choosing, columns: Sequence[Column], node: Sequence[int] | None) -> dict[str, Any]:
    """How the recoding was chosen, and what: the chosen levels are output, and paid for."""
    lattice = lattice_of(columns)
    facts: dict[str, Any] = {"epsilon": choosing.epsilon, "using": choosing.using, "score": choosing.score}
    if choosing.share is not None:
        facts["share"] = choosing.share
    facts["recodings"] = lattice.size
    if node is not None:
        facts["chosen"] = {
            column.name: _level_facts(ladder, column, level)
            for column, ladder, level in zip(columns, lattice.ladders, node, strict=True)
            if column.chooses
        }
    return facts


def _level_facts(ladder: Ladder, column: Column, level: int) -> dict[str, Any]:
    """One column's chosen level, and the loss of an average value of its declared domain."""
    leaves = _leaves(column.recodings[0])
    loss = float((ladder.loss(level)[ladder.maps[level]] * leaves).sum() / leaves.sum())
    recoding = column.recodings[level]
    facts: dict[str, Any] = {"step": level, "steps": ladder.levels}
    if isinstance(recoding, Hierarchies):
        facts["level"] = recoding.level
    if isinstance(recoding, Intervals):
        facts["width"] = float(recoding.width)
    return {**facts, "classes": recoding.size, "loss": round(loss, 6)}
