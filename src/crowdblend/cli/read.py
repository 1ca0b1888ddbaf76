"""`crowdblend read`."""

from __future__ import annotations

import sys

import click
import pyarrow as pa
from pyarrow import csv

from crowdblend.cli.output import answers, asks_for_json, emit, printable
from crowdblend.reading.data_frames import as_text
from crowdblend.reading.exports import spreadsheet
from crowdblend.reading.release import release_folder
from crowdblend.reading.verification import consistency
from crowdblend.trusted.calculus.encoding import encode


@click.command("read", epilog="Example: crowdblend read published --margin district,sex")
@click.argument("folder", metavar="DIR")
@click.option("--confidence", type=float, default=0.95, show_default=True, help="How surely intervals cover.")
@click.option(
    "--margin", "margins", metavar="COLUMNS", multiple=True, help="Columns to add up by, with commas; '' for the total."
)
@click.option("--table", metavar="NAME", help="Which table, where the release has several.")
@click.option("--ranges", metavar="COLUMN=EDGES", help="People between edges of a column, such as income=0,1000,5000.")
@click.option("--excel", is_flag=True, help="For spreadsheets: the mark of UTF-8, an apostrophe before formulas.")
@answers
def command(
    folder: str, *, confidence: float, margins: tuple[str, ...], table: str | None, ranges: str | None, excel: bool
) -> None:
    """Print how many people of the population there are, with intervals, as CSV.

    DIR is a release folder; its certificate, hashes and data are checked first, as by crowdblend verify. What can and
    cannot be said goes to stderr.
    """
    release = consistency.open_verified(release_folder(folder))
    named = [name.strip() for margin in margins for name in margin.split(",") if name.strip()]
    columns = named if margins else None
    if ranges is None:
        found = release.estimates(confidence, columns, table)
        notes = release.notes(columns, table, confidence=confidence)
    else:
        column, _, edges = ranges.partition("=")
        found, notes = release.ranges(column, edges.split(","), confidence), []
    found = as_text(found)
    if asks_for_json():
        guarantees = [encode(guarantee) for guarantee in release.guarantees]
        said = {"kind": release.kind, "confidence": confidence, "about": release.about, "notes": notes}
        emit({**said, "domain": release.domain, "guarantees": guarantees, "estimates": found.to_pylist()})
        return
    for line in notes:
        click.echo(printable(line), err=True)
    rounded = _round_table(found)
    if sys.stdout.isatty():
        rounded = _printable_table(rounded)
    if excel:
        spreadsheet.write_rows(rounded.to_reader(), sys.stdout.buffer)
    else:
        csv.write_csv(rounded, sys.stdout.buffer, csv.WriteOptions(quoting_style="needed"))


def _printable_table(table: pa.Table) -> pa.Table:
    """Return the table without signs that a terminal would act on."""
    for place, field in enumerate(table.schema):
        column = table.column(place)
        if pa.types.is_dictionary(field.type) or pa.types.is_string(field.type) or pa.types.is_large_string(field.type):
            texts = [None if one is None else printable(one) for one in column.to_pylist()]
            column = pa.array(texts, pa.string())
        table = table.set_column(place, printable(field.name), column)
    return table


def _round_table(table: pa.Table) -> pa.Table:
    """Return the table with whole people, which intervals of people have as ends, and with statistics to six digits."""
    names, kinds = table.schema.names, dict(zip(table.schema.names, table.schema.types, strict=True))
    people = "low" in names and pa.types.is_integer(kinds["low"])
    for place, field in enumerate(table.schema):
        if not pa.types.is_floating(field.type):
            continue
        values = table.column(place).to_pylist()
        if field.name == "estimate" and people:
            whole = pa.array([None if value is None else round(value) for value in values], pa.int64())
            table = table.set_column(place, field.name, whole)
        elif "statistic" in names:
            digits = pa.array([None if value is None else float(f"{value:.6g}") for value in values], field.type)
            table = table.set_column(place, field.name, digits)
    return table
