"""A plan repeated along one of its parameters, for tables and plots."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from crowdblend.errors import CrowdblendError, InvalidInput
from crowdblend.guarantees.parameters import PARAMETERS, check
from crowdblend.planning.plan import answer, answer_together
from crowdblend.planning.request import SOLVABLE, PlanRequest

# What is most often asked: how does the answer move with ε; and, when ε is the answer, with k.
_NATURAL = {"delta": "epsilon", "k": "epsilon", "rate": "epsilon", "epsilon": "k"}
SWEPT = (*SOLVABLE, "releases")
# Years that series are planned for, up to about twice the given number of releases.
_RELEASES = (1, 2, 3, 5, 10, 20, 30, 50, 100, 200, 300, 500, 1000, 2000, 5000, 10_000)
_FACTORS = (0.25, 0.35, 0.5, 0.7, 1.0, 1.4, 2.0, 2.8, 4.0)

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


def sweep(request: PlanRequest, over: str | None = None, values: Sequence[float] = ()) -> Sweep:
    """Solve the request again for each value of the parameter `over`."""
    over = over or ("releases" if request.releases > 1 else _NATURAL[request.unknown])
    if over not in SWEPT or over == request.unknown or getattr(request, over) is None:
        choices = ", ".join(name for name in SWEPT if getattr(request, name) is not None)
        raise InvalidInput(
            f"{over} has no value that could be varied.", remedy=f"Sweep {choices}.", where="over", code="plan.sweep"
        )
    rows = [_row(request, over, _checked(over, value)) for value in values or _around(request, over)]
    rules = tuple(dict.fromkeys(name for row in rows for name in row if name != over))
    filled = tuple({over: row[over], **{name: row.get(name) for name in rules}} for row in rows)
    return Sweep(request.unknown, over, rules, filled)


def _checked(over: str, value: float) -> float:
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


def _around(request: PlanRequest, over: str) -> list[float]:
    """Values a factor 4 to either side of the given one, inside the parameter's range."""
    if over == "releases":
        return [times for times in _RELEASES if times <= max(10, 2 * request.releases)]
    centre = float(getattr(request, over)) or 0.1
    found = [centre * factor for factor in _FACTORS]
    if over == "k":
        found = [max(2, round(value)) for value in found]
    if over == "rate":
        # On the scale of odds, so that a rate stays below 1.
        found = [value / (1 - centre + value) for value in found]
    if over == "delta":
        found = [centre * 10.0**power for power in range(-4, 5)]
    return sorted({value for value in found if PARAMETERS[over].allows(value)})
