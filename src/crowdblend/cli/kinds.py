"""Plans that solve for something else than k, rate, epsilon and delta: the noise on points, and outlier tables."""

from __future__ import annotations

from typing import Any

import click

from crowdblend.cli.output import emit, print_table
from crowdblend.errors import InvalidInput
from crowdblend.guarantees.wording import at_most
from crowdblend.planning import Plan
from crowdblend.planning.outliers import OutlierPlan, plan_outliers
from crowdblend.planning.points import weakest_noise
from crowdblend.planning.request import PlanRequest

# What a plan of an outlier-private table takes beside its own options.
_TAKEN = ("epsilon", "delta")


def plan_noise(given: dict[str, Any]) -> Plan | None:
    """The weakest noise on points, where all but that is given."""
    missing = [name for name in ("k", "epsilon", "delta") if given[name] is None]
    if given["rate"] is None and given["low"] is None:
        missing.append("rate")
    if given["kind"] != "points" or given["noise_epsilon"] is not None or missing or given["parts"] != 1:
        return None
    named = {name: value for name, value in given.items() if name != "parts"}
    request = PlanRequest(**{**named, "delta": None, "noise_epsilon": 1.0})
    return weakest_noise(request, given["delta"])


def tell_outliers(
    limit: int | None,
    transition: int | None,
    factor: float | None,
    given: dict[str, Any],
    *,
    unused: bool,
    as_json: bool,
) -> None:
    """Plan an outlier-private table and say what it promises."""
    if limit is None or given["epsilon"] is None:
        raise InvalidInput(
            "An outlier-private table is planned from limit and epsilon.",
            remedy="Pass both.",
            code="command.usage",
            where="--limit",
        )
    others = [name for name, value in given.items() if name not in _TAKEN and value not in (None, 0, False)]
    plain = {"kind": "table", "below_k": "suppress", "parts": 1, "releases": 1}
    others = [name for name in others if given[name] != plain.get(name)]
    if others or unused:
        raise InvalidInput(
            "An outlier-private table is planned from limit, transition, factor, epsilon and delta alone.",
            remedy=f"Leave {', '.join(others) or 'options for sweeps and certificates'} out.",
            code="command.usage",
            where="--kind",
        )
    planned = plan_outliers(
        epsilon=given["epsilon"],
        limit=limit,
        factor=2.0 if factor is None else factor,
        transition=transition,
        delta=given["delta"],
    )
    if as_json:
        emit(planned.to_dict())
    else:
        _tell(planned)


def _tell(planned: OutlierPlan) -> None:
    answer = planned.transition if planned.solved == "transition" else at_most(planned.delta)
    click.echo(f"{planned.solved} = {answer}   (rule outlier.histogram)")
    click.echo(
        f"Bins of {planned.limit - planned.transition} people and more get noise of loss {at_most(planned.epsilon)}, "
        f"smaller ones more. Except for a probability of {at_most(planned.delta)}:"
    )
    rows = [[size, at_most(planned.factor * planned.loss(size))] for size in planned.sizes()]
    print_table("", ["people in the bin", "their epsilon"], rows)
