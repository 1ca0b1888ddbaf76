"""`crowdblend synthesize`."""

from __future__ import annotations

import click

from crowdblend.cli.output import answer, answers, force_option, no_figures_option, printable
from crowdblend.kinds.shared.facts import read_facts
from crowdblend.publishing.synthesis.facts import SyntheticFacts
from crowdblend.publishing.synthesis.synthesize import synthesize
from crowdblend.trusted.calculus.encoding import encode


@click.command("synthesize", epilog="Example: crowdblend synthesize published --rows 100000 --out synthetic")
@click.argument("folders", metavar="DIR...", nargs=-1, required=True)
@click.option("--rows", type=int, required=True, metavar="N", help="How many rows to draw.")
@click.option("--out", required=True, metavar="DIR", help="The folder to write.")
@click.option("--csv", "as_csv", is_flag=True, help="Write the rows as CSV instead of Parquet.")
@no_figures_option
@force_option
@answers
def command(folders: tuple[str, ...], *, rows: int, out: str, as_csv: bool, no_figures: bool, force: bool) -> None:
    """Draw synthetic rows from a model of the tables in release folders.

    Each DIR is a release folder, which is verified first. The rows keep what the folders guarantee: no data about
    people are read, and nothing is recorded in a ledger.
    """
    done = synthesize(folders, rows=rows, out=out, as_csv=as_csv, force=force, figures=not no_figures)
    facts = read_facts(done.certificate.facts)
    assert isinstance(facts, SyntheticFacts)
    farthest = max(facts.met, key=lambda one: one.apart)
    document = {
        "folder": str(done.folder),
        "rows": facts.rows,
        "tables": len(facts.met),
        "farthest": farthest.apart,
        "unmet": [one.name for one in facts.unmet_tables],
        "unused": facts.unused_publications,
        "guarantees": [encode(guarantee) for guarantee in done.guarantees],
    }
    fitted = "1 table" if len(facts.met) == 1 else f"{len(facts.met)} tables"
    lines = [
        f"synthetic rows: {facts.rows:,} in {printable(str(done.folder))}",
        f"  fitted to {fitted}; from {printable(farthest.name)}, the farthest, they differ by "
        f"{100 * farthest.apart:.2f} % of the people",
    ]
    if facts.unmet_tables:
        named = ", ".join(one.name for one in facts.unmet_tables)
        lines.append(f"  use the published tables, and not the rows, for {printable(named)}")
    if facts.unused_publications:
        lines.append(
            f"  not used, since no cells are listed that add up: {printable(', '.join(facts.unused_publications))}"
        )
    answer(document, *lines)
