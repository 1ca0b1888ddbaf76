"""`crowdblend reproduce`."""

from __future__ import annotations

from pathlib import Path

import click

from crowdblend.cli.output import emit, force_option, json_option, print_table, speaks
from crowdblend.errors import InvalidInput
from crowdblend.papers import REPRODUCTIONS, Reproduction, reproduce


@click.command("reproduce", epilog=f"Names: {', '.join(REPRODUCTIONS)}")
@click.argument("name")
@click.option("--plot", metavar="FILE", help="Draw it (.svg, .png or .html).")
@json_option
@force_option
@speaks
def command(name: str, *, plot: str | None, as_json: bool, force: bool) -> None:
    """The papers' own tables and figures, next to the exact numbers."""
    made = reproduce(name)
    if plot:
        _draw(made, plot, force)
    if as_json:
        rows = [dict(zip(made.columns, row, strict=True)) for row in made.rows]
        emit({"name": made.name, "title": made.title, "source": made.source, "rows": rows, "note": made.note})
    elif not plot:
        print_table(made.title, list(made.columns), [list(row) for row in made.rows])
        click.echo(f"{made.source}. {made.note}".strip())


def _draw(made: Reproduction, target: str, force: bool) -> None:
    from crowdblend.figures import save  # noqa: PLC0415  only plots load the renderer

    if made.spec is None:
        raise InvalidInput(f"{made.name} is a table without a figure; leave --plot out.")
    save(made.spec, Path(target), force=force)
