"""A plan repeated along one of its parameters, for tables and plots."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from crowdblend.errors import CrowdblendError, InvalidInput
from crowdblend.frozen import dataclass
from crowdblend.guarantees.parameters import PARAMETERS, check
from crowdblend.planning.plan import answer, answer_together
from crowdblend.planning.request import SOLVABLE, PlanRequest

SWEPT = (*SOLVABLE, "releases")

# What a parameter is called in tables and charts.
TITLES = {
    "k": "crowd size k",
    "rate": "sampling rate",
    "epsilon": "epsilon",
    "delta": "delta",
    "releases": "releases",
}


@dataclass(frozen=True)
class Sweep:
    """The answer under every rule, for each value of one given parameter; None where a rule has none."""

    solved: str
    over: str
    rules: tuple[str, ...]
    rows: tuple[dict[str, float | None], ...]


def sweep(request: PlanRequest, over: str, values: Sequence[float]) -> Sweep:
    """Solve the request again for each value of the parameter `over`."""
    if over not in SWEPT or over == request.unknown or getattr(request, over) is None:
        choices = ", ".join(name for name in SWEPT if getattr(request, name) is not None)
        raise InvalidInput(
            f"{over} has no value that could be varied.", remedy=f"Sweep {choices}.", where="over", code="plan.sweep"
        )
    rows = [_row(request, over, _check_value(over, value)) for value in values]
    rules = tuple(dict.fromkeys(name for row in rows for name in row if name != over))
    filled = tuple({over: row[over], **{name: row.get(name) for name in rules}} for row in rows)
    return Sweep(request.unknown, over, rules, filled)


def _check_value(over: str, value: float) -> float:
    number = int(value) if PARAMETERS[over].whole and float(value).is_integer() else value
    check(over, number)
    return number


def _row(request: PlanRequest, over: str, value: float) -> dict[str, float | None]:
    change: dict[str, Any] = {over: value}
    try:
        solve = answer_together if over == "releases" else answer
        return {over: value, **solve(replace(request, **change)).bounds}
    except InvalidInput:
        raise
    except CrowdblendError:
        return {over: value}
