"""What the data decide and a release states beside its files: a chosen recoding, the misfit of synthetic rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from crowdblend.numerics.expected_people import UNITS
from crowdblend.policies.choosing import Choosing
from crowdblend.policies.columns import Column
from crowdblend.policies.offered import leaves_of
from crowdblend.recoding import DateRange, Hierarchies, Intervals, Recoding
from crowdblend.selection import ChosenRecoding, Ladder, RecodingChoice, noise_around


@dataclass(frozen=True)
class Misfit:
    """The largest difference between a share among synthetic rows and its noisy answer."""

    value: float


def choice_facts(
    choosing: Choosing, columns: Sequence[Column], choice: RecodingChoice, outcome: ChosenRecoding | None
) -> dict[str, Any]:
    """How the recoding is chosen, and once it is, which: all of it is output, and paid for."""
    lattice = choice.lattice
    facts: dict[str, Any] = {"epsilon": choice.epsilon, "using": choosing.using, "score": choosing.score}
    if choosing.share is not None:
        facts["share"] = choosing.share
    facts |= {"recodings": lattice.size, "choices": choice.search.steps}
    if choice.show_epsilon is not None:
        facts["show_epsilon"] = choice.show_epsilon
    if outcome is not None:
        facts["chosen"] = {
            column.name: _level_facts(ladder, column, level)
            for column, ladder, level in zip(columns, lattice.ladders, outcome.node, strict=True)
            if column.chooses
        }
        if outcome.scores is not None and choice.show_epsilon is not None:
            facts["around"] = _around(choice, columns, outcome, choice.show_epsilon)
    return facts


def _level_facts(ladder: Ladder, column: Column, level: int) -> dict[str, Any]:
    """One column's chosen level, and the loss of an average value of its declared domain."""
    leaves = leaves_of(column.recodings[0])
    loss = float((ladder.loss(level)[ladder.maps[level]] * leaves).sum() / leaves.sum())
    recoding = column.recodings[level]
    facts: dict[str, Any] = {"step": level, "steps": ladder.levels, **_name(recoding)}
    return {**facts, "classes": recoding.size, "loss": round(loss, 6)}


def _name(recoding: Recoding) -> dict[str, Any]:
    if isinstance(recoding, Hierarchies):
        return {"level": recoding.level}
    if isinstance(recoding, DateRange):
        return {"period": recoding.period}
    return {"width": float(recoding.width)} if isinstance(recoding, Intervals) else {}


def _around(
    choice: RecodingChoice, columns: Sequence[Column], outcome: ChosenRecoding, epsilon: float
) -> dict[str, Any]:
    """The noisy scores in people kept whole, with the mean error of the noise."""
    assert outcome.scores is not None
    unit = UNITS * choice.score.parts(choice.lattice.most)
    # The mean absolute value of discrete Laplace noise with loss x is 1/sinh(x), so 1/x to every digit shown.
    error = 1 / float(noise_around(choice.lattice, choice.score, epsilon)) / unit
    near = []
    for node, value in outcome.scores.items():
        for column, before, after in zip(columns, outcome.node, node, strict=True):
            if before != after:
                named = {"column": column.name, "step": after, **_name(column.recodings[after])}
                near.append({**named, "score": round(value / unit, 1)})
    return {"score": round(outcome.scores[outcome.node] / unit, 1), "mean_error": round(error, 1), "near": near}
