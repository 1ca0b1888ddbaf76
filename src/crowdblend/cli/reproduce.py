"""`crowdblend reproduce`."""

from __future__ import annotations

from pathlib import Path

import click

from crowdblend.cli.output import emit, force_option, handle_errors, json_option, print_table
from crowdblend.errors import InvalidInput
from crowdblend.figures.charts import save
from crowdblend.papers import REPRODUCTIONS, Reproduction, reproduce

ALL = "all"


@click.command("reproduce", epilog=f"Names: {', '.join(REPRODUCTIONS)}; {ALL} for every one of them.")
@click.argument("name")
@click.option("--plot", metavar="FILE", help="Draw it (.svg).")
@json_option
@force_option
@handle_errors
def command(name: str, *, plot: str | None, as_json: bool, force: bool) -> None:
    """The papers' own tables and figures, next to the exact numbers."""
    if name == ALL:
        _reproduce_all(plot, as_json=as_json)
        return
    reproduction = reproduce(name)
    if plot:
        _draw(reproduction, plot, force)
    if as_json:
        emit(_document(reproduction))
    elif not plot:
        _print(reproduction)


def _reproduce_all(plot: str | None, *, as_json: bool) -> None:
    if plot:
        raise InvalidInput("--plot draws one figure. Name it instead of all.", where="--plot", code="command.usage")
    if as_json:
        emit({"reproductions": [_document(reproduce(name)) for name in REPRODUCTIONS]})
        return
    for name in REPRODUCTIONS:
        _print(reproduce(name))
        click.echo()


def _document(reproduction: Reproduction) -> dict[str, object]:
    rows = [dict(zip(reproduction.columns, row, strict=True)) for row in reproduction.rows]
    named = {"name": reproduction.name, "title": reproduction.title, "source": reproduction.source}
    return {**named, "rows": rows, "note": reproduction.note}


def _print(reproduction: Reproduction) -> None:
    print_table(reproduction.title, list(reproduction.columns), [list(row) for row in reproduction.rows])
    click.echo(f"{reproduction.source}. {reproduction.note}".strip())


def _draw(reproduction: Reproduction, target: str, force: bool) -> None:
    if reproduction.chart is None:
        raise InvalidInput(
            f"{reproduction.name} is a table without a figure. Leave --plot out.", where="--plot", code="command.usage"
        )
    save(reproduction.chart, Path(target), force=force)
