"""`crowdblend reproduce`."""

from __future__ import annotations

from pathlib import Path

import click

from crowdblend.cli.output import ALL, answer, answers, asks_for_json, emit, force_option, print_table, wrong_use
from crowdblend.lab.papers import ABOUT, REPRODUCTIONS, Reproduction, reproduce
from crowdblend.reading.figures.charts import save


@click.command("reproduce", epilog=f"Names: {', '.join(REPRODUCTIONS)}; {ALL} for every one of them.")
@click.argument("name", required=False)
@click.option("--plot", metavar="FILE", help="Draw it (.svg).")
@force_option
@answers
def command(name: str | None, *, plot: str | None, force: bool) -> None:
    """The papers' own tables and figures, next to the exact numbers. Without a name: list them."""
    if plot and name in (None, ALL):
        raise wrong_use("--plot draws one figure.", "Name it.", "--plot")
    if name is None:
        answer({"reproductions": ABOUT}, *(f"{one:<17} {about}" for one, about in ABOUT.items()))
        return
    found = [reproduce(one) for one in (REPRODUCTIONS if name == ALL else (name,))]
    if plot:
        if found[0].chart is None:
            raise wrong_use(f"{name} is a table without a figure.", "Leave --plot out.", "--plot")
        save(found[0].chart, Path(plot), force=force)
    if asks_for_json():
        emit({"reproductions": [*map(_document, found)]} if name == ALL else _document(found[0]))
    elif not plot:
        for one in found:
            click.echo(one.title)
            print_table(one.columns, one.rows)
            click.echo(f"{one.source}. {one.note}".strip() + ("\n" if name == ALL else ""))


def _document(reproduction: Reproduction) -> dict[str, object]:
    rows = [dict(zip(reproduction.columns, row, strict=True)) for row in reproduction.rows]
    named = {"name": reproduction.name, "title": reproduction.title, "source": reproduction.source}
    return {**named, "rows": rows, "note": reproduction.note}
