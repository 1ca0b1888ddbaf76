"""`crowdblend init`."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import click

from crowdblend.api.starting import starter_policy
from crowdblend.cli.output import emit, force_option, json_option, refuse_shared_stdout, write_text
from crowdblend.methods.planning.designs import costs
from crowdblend.notation import TOML, spell
from crowdblend.policies.proposals import PRESETS, preset_of
from crowdblend.policies.registry import KINDS, publication_class
from crowdblend.policies.sampling import DESIGNS
from crowdblend.policies.schema import policy_schema
from crowdblend.trusted.machine.lazy import lazy_imports

with lazy_imports():
    from crowdblend.methods.planning import plan as planning


_PRESETS = f"What offices often publish: {'; '.join(f'{name}, {one.words}' for name, one in PRESETS.items())}."


@click.command("init", epilog="Example: crowdblend init census.parquet --design poisson --out policy.toml")
@click.argument("data")
@click.option(
    "--out", metavar="FILE", default="policy.toml", show_default=True, help="Where to write it; '-' for stdout."
)
@click.option("--person", metavar="COLUMN", help="The column that tells people apart.")
@click.option("--delimiter", metavar="CHAR", help="What separates the columns of a CSV file.")
@click.option("--encoding", metavar="NAME", help="The encoding of a CSV file, such as cp1252.")
@click.option("--table", metavar="NAME", help="The table, where DATA is a database.")
@click.option("--query", metavar="SQL", help="A query instead of a table.")
@click.option(
    "--codebook",
    metavar="FILE",
    help="A code book, a list of one column's values, an earlier policy, or the folder of a proposal.",
)
@click.option("--preset", type=click.Choice(list(PRESETS)), help=_PRESETS)
@click.option(
    "--kind", type=click.Choice(KINDS), help="What the policy will publish; what goes with the columns unless given."
)
@click.option(
    "--design", type=click.Choice(list(DESIGNS)), help="What DATA is: a register (everybody), or which sample."
)
@click.option("--schema", metavar="FILE", help="Also write the JSON schema of policies, for editors.")
@json_option
@force_option
def command(
    data: str,
    *,
    out: str,
    kind: str | None,
    preset: str | None,
    design: str | None,
    schema: str | None,
    as_json: bool,
    force: bool,
    **source: str | None,
) -> None:
    """Write a policy to fill in, made from the names and types of the columns of DATA alone.

    It publishes what goes with them: tables, and of a sample rows and medians too. Only you know what DATA is, a
    register or a sample: --design says it, and at a terminal it is asked for.
    """
    if as_json and "-" in (out, schema):
        refuse_shared_stdout()
    folder = Path(".") if out == "-" else Path(out).parent
    started = preset_of(preset)
    offered = publication_class(kind or started.kind or "table").designs
    design = design or started.design
    if design is None and len(offered) > 1 and not as_json and at_a_terminal():
        design = _ask(data, offered)
    text = starter_policy(data, folder=folder, kind=kind, preset=preset, design=design, **source)
    write_text(out, text, force=force)
    if schema:
        write_text(schema, json.dumps(policy_schema(), indent=2) + "\n", force=force)
    if as_json and out != "-":
        emit({"policy": out, "schema": schema})
    elif out != "-":
        click.echo(f"wrote {out}: fill in the domains marked FILL_IN, then crowdblend release {out} --dry-run")


def at_a_terminal() -> bool:
    """Return whether someone sees a question and can answer it."""
    return sys.stdin.isatty() and sys.stderr.isatty()


def _ask(data: str, options: tuple[str, ...]) -> str:
    """Ask what the data are, saying what each answer costs."""
    click.echo(f"What is {data}?", err=True)
    for name in options:
        click.echo(f"  {name:<10} {DESIGNS[name].words}: {spell(DESIGNS[name].meaning, TOML)}", err=True)
    if "everybody" in options and "poisson" in options:
        at_half = planning.plan(rate=0.5, epsilon=1.0, delta=1e-6)
        click.echo(f"At rate 0.5, epsilon 1 and delta 1e-6: {spell(costs(0.5, at_half.k, 1.0), TOML)}", err=True)
    chosen: str = click.prompt("Design", type=click.Choice(options), err=True)
    return chosen
