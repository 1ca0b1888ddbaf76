"""`crowdblend propose`."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from crowdblend.cli.output import answer, answers, force_option, wrong_use
from crowdblend.cli.release import open_ledger, publish
from crowdblend.kinds import plan
from crowdblend.policies.starter import population_name
from crowdblend.trusted.machine.lazy import lazy_imports

with lazy_imports():
    from crowdblend.api import proposing
    from crowdblend.publishing import target


@click.command("propose", epilog="Example: crowdblend propose census.parquet --person id --labels area --bounds age")
@click.argument("data")
@click.option("--labels", metavar="COLUMN", multiple=True, help="Propose labels that many people share.")
@click.option("--bounds", metavar="COLUMN", multiple=True, help="Propose breaks of the ranges that many people share.")
@click.option("--person", metavar="COLUMN", help="The column that tells people apart.")
@click.option("--rows-are-people", is_flag=True, help="Instead of --person: every row is another person.")
@click.option("--population", metavar="NAME", help="Your name for the people; that of the file unless given.")
@click.option("--delimiter", metavar="CHAR", help="What separates the columns of a CSV file.")
@click.option("--encoding", metavar="NAME", help="The encoding of a CSV file, such as cp1252.")
@click.option("--table", metavar="NAME", help="The table, where DATA is a database.")
@click.option("--epsilon", type=float, default=0.1, show_default=True, help="What it may cost.")
@click.option("--delta", type=float, default=1e-7, show_default=True, help="The probability beyond epsilon.")
@click.option("--out", metavar="DIR", help="The folder of the proposal; by default the data's name and -proposal.")
@click.option("--ledger", "ledger_url", metavar="URL", help="The ledger to record it in.")
@click.option("--yes", is_flag=True, help="Do not ask before the data are read.")
@force_option
@answers
def command(
    data: str,
    *,
    labels: tuple[str, ...],
    bounds: tuple[str, ...],
    epsilon: float,
    delta: float,
    population: str | None,
    out: str | None,
    ledger_url: str | None,
    yes: bool,
    force: bool,
    **source: str | bool | None,
) -> None:
    """Propose domains of columns from DATA, which hold everybody, at a small cost in privacy.

    Labels that few people have do not appear. What it costs is recorded in the ledger, and is a part of every policy
    that takes a domain from it: crowdblend init DATA --codebook DIR writes one. Domains from a code book, a list or an
    earlier policy cost nothing.
    """
    said = {name: value for name, value in source.items() if value}
    if len(said.keys() & {"person", "rows_are_people"}) != 1:
        message = "Either --person or --rows-are-people says who the people are."
        raise wrong_use(message, "Pass exactly one of them.", "--person", "person")
    policy = proposing.proposal_policy(
        labels=labels,
        bounds=bounds,
        epsilon=epsilon,
        delta=delta,
        source=data,
        population=population or population_name(data, {"table": str(said["table"])} if "table" in said else None),
        **said,
    )
    folder = Path(out or f"{Path(data).name.partition('.')[0]}-proposal")
    target.check_place(folder)
    if not yes and not sys.stdin.isatty():
        raise wrong_use(
            "Not a terminal: nobody can confirm.", "Pass --yes to confirm the cost.", "--yes", "not-confirmed"
        )
    planned = plan(policy)
    ledger = open_ledger(ledger_url, yes=yes)

    publish(policy, planned, folder, ledger, yes=yes, force=force, figures=False)
    found = proposing.read_proposal(folder)
    document = {"folder": str(folder), "columns": found.to_dict(), "nothing": list(found.nothing)}
    spent = {"epsilon": found.loss.epsilon, "delta": found.loss.delta}
    answer({**document, **spent}, *found.describe(), f"use it with: crowdblend init {data} --codebook {folder}")
