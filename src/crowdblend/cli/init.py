"""`crowdblend init`."""

from __future__ import annotations

from pathlib import Path

import click

from crowdblend.cli.output import emit, force_option, json_option, refuse_shared_stdout, speaks, write_text
from crowdblend.policies import init_policy, policy_schema
from crowdblend.policies.registry import KINDS


@click.command("init", epilog="Example: crowdblend init census.parquet --out policy.toml")
@click.argument("data")
@click.option(
    "--out", metavar="FILE", default="policy.toml", show_default=True, help="Where to write it; '-' for stdout."
)
@click.option("--person", metavar="COLUMN", help="The column that tells people apart.")
@click.option("--delimiter", metavar="CHAR", help="What separates the columns of a CSV file.")
@click.option(
    "--kind", type=click.Choice(KINDS), default="table", show_default=True, help="What the policy will publish."
)
@click.option("--schema", metavar="FILE", help="Also write the JSON schema of policies, for editors.")
@json_option
@force_option
@speaks
def command(
    data: str,
    *,
    out: str,
    person: str | None,
    delimiter: str | None,
    kind: str,
    schema: str | None,
    as_json: bool,
    force: bool,
) -> None:
    """Write a commented policy to start from, made from the names and types of the columns of DATA alone."""
    import json  # noqa: PLC0415

    if as_json and "-" in (out, schema):
        refuse_shared_stdout()
    folder = Path(".") if out == "-" else Path(out).parent
    text = init_policy(Path(data), person=person, delimiter=delimiter, folder=folder, kind=kind)
    write_text(out, text, force=force)
    if schema:
        write_text(schema, json.dumps(policy_schema(), indent=2) + "\n", force=force)
    if as_json and out != "-":
        emit({"policy": out, "schema": schema})
    elif out != "-":
        click.echo(f"wrote {out}: fill in the domains marked FILL_IN, then crowdblend release {out} --dry-run")
