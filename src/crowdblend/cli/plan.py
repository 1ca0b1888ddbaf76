"""`crowdblend plan`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from crowdblend.cli.kinds import OWN, plan_noise, refuse_numbers, tell_numbers, tell_outliers
from crowdblend.cli.output import (
    Parameter,
    emit,
    force_option,
    json_option,
    print_table,
    refuse_shared_stdout,
    show,
    speaks,
    write_text,
)
from crowdblend.errors import InvalidInput
from crowdblend.guarantees import Differential, Relation
from crowdblend.guarantees.guessing import guess_sentence
from crowdblend.guarantees.wording import at_least, at_most, close, exactly
from crowdblend.planning import Plan, Sweep, plan, sweep
from crowdblend.planning.designs import DESIGNS, RegisterTable, costs, plan_register
from crowdblend.planning.fresh_samples import fresh_instead
from crowdblend.planning.sweep import TITLES

NUMBER = Parameter()


@click.command("plan", epilog="Example: crowdblend plan --rate 0.1 --epsilon 1 --delta 1e-6")
@click.option("--rate", type=NUMBER, help="Share of people kept by the sampling, between 0 and 1.")
@click.option("--k", type=NUMBER, help="Crowd size, the person included.")
@click.option("--epsilon", type=NUMBER, help="Privacy loss: a person multiplies probabilities by at most e^epsilon …")
@click.option("--delta", type=NUMBER, help="… plus this much.")
@click.option(
    "--parts", type=NUMBER, default=1, show_default=True, help="How many tables, each from its own part of the sample."
)
@click.option(
    "--blend-epsilon", type=NUMBER, default=0.0, show_default=True, help="How far crowd members can be told apart."
)
@click.option("--low", type=NUMBER, help="Biased sampling: smallest probability of those who can be sampled.")
@click.option("--high", type=NUMBER, help="Biased sampling: largest ordinary probability.")
@click.option(
    "--exceptions", type=NUMBER, default=0, show_default=True, help="People sampled with any other probability."
)
@click.option("--max-rate", type=NUMBER, help="Largest probability of anybody protected.")
@click.option(
    "--below-k", type=click.Choice(["suppress", "noise"]), default="suppress", help="What happens to small counts."
)
@click.option("--flag", is_flag=True, help="With noise: cells tell whether they are exact.")
@click.option(
    "--kind",
    type=click.Choice(["table", "microdata", "points", "statistics", "graph"]),
    default="table",
    help="What will be published.",
)
@click.option("--people", type=NUMBER, help="Statistics and graphs: how many people there are.")
@click.option("--sample", type=int, help="Statistics and graphs: how many random people the guarantee is relative to.")
@click.option("--error", type=float, help="Statistics and graphs: the largest error that is acceptable, as a share.")
@click.option(
    "--statistic",
    help="Statistics: fraction, average, median or histogram. Graphs: connectivity, cycle-freeness, eulerian, "
    "average-degree.",
)
@click.option("--bins", type=NUMBER, help="With --statistic histogram: how many bins.")
@click.option("--confidence", type=float, help="Statistics: how surely the error is kept to; 0.95 unless given.")
@click.option("--degree-bound", type=NUMBER, help="Graphs: the most links that anybody can have.")
@click.option("--noise-epsilon", type=NUMBER, help="Loss of the noise below k, or on points.")
@click.option(
    "--releases",
    type=NUMBER,
    default=1,
    show_default=True,
    help="Epsilon and delta are for so many releases together, each from a fresh sample.",
)
@click.option("--limit", type=NUMBER, help="Plan an outlier-private table instead: K, the size that is no outlier.")
@click.option("--transition", type=NUMBER, help="With --limit: t, over how many people the noise fades.")
@click.option(
    "--factor", type=NUMBER, help="With --limit: c, how much weaker the guarantee is than the noise; 2 unless given."
)
@click.option(
    "--design",
    type=click.Choice(list(DESIGNS)),
    help="What your table is: a sample, everybody of whom a sample is drawn, or everybody, counted with noise.",
)
@click.option("--table", is_flag=True, help="Sweep one parameter and print the answers.")
@click.option("--plot", metavar="FILE", help="Sweep one parameter and draw the answers (.svg, .png or .html).")
@click.option("--over", metavar="NAME", help="The parameter to sweep.")
@click.option("--values", metavar="A,B,…", help="The values to sweep.")
@click.option("--certificate", metavar="FILE", help="Write the certificate of the planned guarantee ('-' for stdout).")
@json_option
@force_option
@speaks
def command(
    *,
    table: bool,
    plot: str | None,
    over: str | None,
    values: str | None,
    certificate: str | None,
    as_json: bool,
    force: bool,
    limit: int | None,
    transition: int | None,
    factor: float | None,
    design: str | None,
    **given: Any,
) -> None:
    """Leave exactly one of k, rate, epsilon and delta out: it is solved for, on the safe side.

    The answer is the smallest k, epsilon or delta, or the largest rate, for which the guarantee is proved, under every
    theorem that applies. For points noise_epsilon may be left out instead: it is the largest that keeps the guarantee.
    With --limit leave transition or delta out. For statistics and graphs leave one of sample, epsilon and error out.
    """
    own = {name: given.pop(name) for name in OWN}
    if given["kind"] in ("statistics", "graph"):
        unused = table or plot or over or values or certificate or limit or transition or factor or design
        tell_numbers(given["kind"], own, given, unused=bool(unused), as_json=as_json)
        return
    refuse_numbers(own)
    if limit is not None or transition is not None or factor is not None:
        unused = table or plot or over or values or certificate
        tell_outliers(limit, transition, factor, given, unused=bool(unused), as_json=as_json)
        return
    if design == "everybody":
        _tell_register(plan_register(given), as_json)
        return
    if certificate == "-" and as_json:
        refuse_shared_stdout()
    planned = plan_noise(given) or plan(**given)
    swept = sweep(planned.request, over, _numbers(values)) if table or plot or over or values else None
    if plot and swept:
        _draw(swept, plot, force)
    if certificate:
        write_text(certificate, planned.certificate().to_json(), force=force)
    if as_json:
        document = planned.to_dict()
        if (instead := fresh_instead(planned)) is not None:
            document["fresh_samples"] = instead.to_dict()
        if swept:
            document["sweep"] = {"over": swept.over, "rows": list(swept.rows)}
        emit(document)
    elif certificate != "-":
        _tell(planned)
        if swept:
            rows = [[row[swept.over], *(_safe(swept.solved, row[name]) for name in swept.rules)] for row in swept.rows]
            print_table("", [swept.over, *swept.rules], rows)


def _tell_register(planned: RegisterTable, as_json: bool) -> None:
    """The table of a register: every cell noisy, nothing sampled."""
    if as_json:
        emit(planned.to_dict())
        return
    click.echo(guess_sentence(Differential(planned.epsilon, 0.0, Relation.ADD_REMOVE)))
    click.echo(
        f"Every cell is published with discrete Laplace noise, off by {planned.error:.3g} people on average, whatever "
        "its size. No sample is drawn. Write everybody = true in [sampling] and epsilon in [release]."
    )


def _numbers(values: str | None) -> list[float]:
    try:
        return [float(value) for value in values.split(",")] if values else []
    except ValueError:
        raise InvalidInput(
            f"--values takes numbers separated by commas, got {values!r}.",
            remedy="Write for example 10,20,50.",
            where="--values",
            code="command.type",
        ) from None


def _tell(planned: Plan) -> None:
    """The answer in words, then every rule's."""
    answer = _safe(planned.solved, getattr(planned, planned.solved))
    click.echo(f"{TITLES[planned.solved]} = {answer}   (rule {planned.rule})")
    if not planned.request.biased:
        click.echo(guess_sentence(Differential(planned.epsilon, planned.delta, Relation.ADD_REMOVE)))
    click.echo(_sentence(planned))
    if planned.delta >= planned.sampled_with:
        click.echo(
            "This guarantees no more than sampling alone, which leaves people out with a probability of at least "
            f"{at_least(1 - planned.sampled_with)}. Raise k, or lower the rate or delta."
        )
    if planned.rate is not None and planned.epsilon > 0 and planned.request.kind == "table":
        share = max(planned.request.shares, default=1.0)
        # A register would divide epsilon among the releases.
        click.echo(costs(planned.rate * share, planned.k, planned.epsilon / planned.request.releases))
    if (instead := fresh_instead(planned)) is not None:
        click.echo(instead.words())
    rows = [[name, _safe(planned.solved, value)] for name, value in planned.bounds.items()]
    print_table("", ["theorem", TITLES[planned.solved]], rows)


def _sentence(planned: Plan) -> str:
    """What the planned release guarantees."""
    request, whom = planned.request, Relation.ADD_REMOVE.otherwise()
    sampling = f"a sample that keeps each person with probability {exactly(planned.rate)}"
    if request.biased:
        sampling = (
            f"a sample that keeps people with probabilities of 0 or between {exactly(request.low)} and "
            f"{exactly(request.high)}, {request.exceptions} people excepted"
        )
        whom = f"without a person sampled with a probability of at most {exactly(request.protected_rate)}"
    shown = f"only crowds of {planned.k} or more are published"
    if request.shares:
        shown = (
            f"{len(request.shares)} tables, each from another part of it, are published with crowds of {planned.k} or "
            "more only"
        )
    if request.kind == "points":
        shown = (
            f"the points of blocks of {planned.k} or more are published, moved by noise of loss "
            f"{at_most(request.crowd_epsilon)}"
        )
    elif planned.noise_epsilon is not None:
        shown = (
            f"counts from {planned.k} on are published exactly, smaller ones with noise of loss "
            f"{at_most(planned.noise_epsilon)}"
        )
    if request.blend_epsilon > 0:
        shown = (
            f"a mechanism publishes that hides people in crowds of {planned.k} up to a factor "
            f"e^{exactly(request.blend_epsilon)}"
        )
    bound = close(planned.epsilon, planned.delta, whom)
    if request.releases > 1:
        return (
            f"{request.releases} releases, each from {sampling.replace('a sample', 'a fresh sample', 1)}; {shown}: "
            f"whatever they publish together, its probability is {bound}."
        )
    return f"From {sampling}, {shown}: whatever is published, its probability is {bound}."


def _safe(name: str, value: Any) -> str:
    """An answer to six digits, rounded so that what is shown is proved: a rate down, epsilon and delta up."""
    if not isinstance(value, float):
        return show(value)
    return at_least(value) if name == "rate" else at_most(value)


def _draw(swept: Sweep, target: str, force: bool) -> None:
    from crowdblend.figures import save  # noqa: PLC0415  only plots load the renderer
    from crowdblend.studio.model.sweeps import sweep_chart  # noqa: PLC0415

    save(sweep_chart(swept), Path(target), force=force)
