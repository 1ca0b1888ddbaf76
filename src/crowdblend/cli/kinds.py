"""Plans that solve for something else than k, rate, epsilon and delta: noise on points, outlier tables, statistics."""

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
from crowdblend.planning.statistics.single import NAMES, StatisticPlan, plan_statistic

# The options of plans of statistics and graphs beside epsilon, and what each of them is for.
OWN = ("people", "sample", "error", "statistic", "bins", "confidence", "degree_bound")
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


def refuse_numbers(own: dict[str, Any]) -> None:
    """Refuse options of statistics and graphs in a plan of something else."""
    for name, value in own.items():
        if value is not None:
            option = f"--{name.replace('_', '-')}"
            raise InvalidInput(
                f"{option} belongs to plans of statistics and graphs.",
                remedy=f"Pass --kind statistics or --kind graph, or leave {option} out.",
                code="command.usage",
                where=option,
            )


def tell_numbers(kind: str, own: dict[str, Any], given: dict[str, Any], *, unused: bool, as_json: bool) -> None:
    """Plan one statistic of people or of a network, and say what it takes."""
    defaults = {"kind": kind, "below_k": "suppress", "parts": 1, "releases": 1, "epsilon": given["epsilon"]}
    others = [name for name, value in given.items() if value not in (None, 0, False) and value != defaults.get(name)]
    if others or unused:
        raise InvalidInput(
            f"A plan of {kind} takes people, sample, error, statistic and epsilon.",
            remedy=f"Leave {', '.join(others) or 'options for sweeps and certificates'} out.",
            code="command.usage",
            where="--kind",
        )
    if own["people"] is None:
        raise InvalidInput(
            f"A plan of {kind} starts from how many people there are.",
            remedy="Pass --people.",
            code="command.usage",
            where="--people",
        )
    if kind == "graph":
        _tell_graph(own, given["epsilon"], as_json)
    else:
        _tell_statistic(own, given["epsilon"], as_json)


def _tell_statistic(own: dict[str, Any], epsilon: float | None, as_json: bool) -> None:
    taken = {name: own[name] for name in ("statistic", "people", "sample", "error", "confidence", "bins")}
    taken = {name: value for name, value in taken.items() if value is not None}
    if taken.get("statistic", "fraction") not in NAMES or own["degree_bound"] is not None:
        raise InvalidInput(
            f"A plan of statistics is of {', '.join(NAMES)}.",
            remedy="Name one of them as --statistic, and leave --degree-bound out.",
            code="command.usage",
            where="--statistic",
        )
    planned = plan_statistic(**taken, epsilon=epsilon)
    if as_json:
        emit(planned.to_dict())
        return
    answer = f"{planned.sample:,}" if planned.solved == "sample" else at_most(getattr(planned, planned.solved))
    click.echo(f"{planned.solved} = {answer}")
    click.echo(_statistic_words(planned))


def _statistic_words(planned: StatisticPlan) -> str:
    of = {"average": "of its range", "median": "of the ranks"}.get(planned.statistic, "of all people")
    whom = (
        f"{planned.sample:,} random people of {planned.people:,}"
        if planned.sample < planned.people
        else "everybody else's data"
    )
    return (
        f"One {planned.statistic} is within {at_most(planned.error)} {of} of the true one with a probability of at "
        f"least {planned.confidence:g}. Whatever is concluded about you from it is at most "
        f"e^{at_most(planned.epsilon)} times as probable as from {whom}. "
        "Several statistics share epsilon; write a policy to plan them together."
    )


def _tell_graph(own: dict[str, Any], epsilon: float | None, as_json: bool) -> None:
    from crowdblend.planning.networks import Bounds, NetworkRequest, plan_network  # noqa: PLC0415

    if own["degree_bound"] is None:
        raise InvalidInput(
            "A plan of a graph needs the most links that anybody can have.",
            remedy="Pass --degree-bound.",
            code="command.usage",
            where="--degree-bound",
        )
    bounds = Bounds(own["people"], own["degree_bound"], float(own["degree_bound"]))
    name = own["statistic"] or "average-degree"
    planned = plan_network(NetworkRequest(name, bounds, epsilon=epsilon, samples=own["sample"], error=own["error"]))
    solved = next(
        what for what in ("epsilon", "sample", "error") if (epsilon if what == "epsilon" else own[what]) is None
    )
    found = {
        "statistic": name,
        "people": own["people"],
        "degree_bound": own["degree_bound"],
        "sample": planned.samples,
        "explored": planned.seen.explored,
        "epsilon": planned.epsilon,
        "error": planned.error,
        "confidence": 0.95,
        "solved": solved,
    }
    if as_json:
        emit(found)
        return
    shown = found[solved]
    click.echo(f"{solved} = {f'{shown:,}' if solved == 'sample' else at_most(float(shown))}")
    click.echo(
        f"The {name} of a network of {own['people']:,} people is within {at_most(planned.error)} with a probability of "
        f"at least 0.95. Whatever is concluded about you from it is at most e^{at_most(planned.epsilon)} times as "
        f"probable as from {planned.samples:,} random people and what is near them."
    )
