"""`crowdblend ledger`: what puts a ledger right after a restore, and what moves it."""

from __future__ import annotations

from pathlib import Path

import click

from crowdblend.cli.ledger_team import by_option, ledger_option, why_option
from crowdblend.cli.output import answer, answers, append_text
from crowdblend.errors import RefusedByLedger
from crowdblend.ledger import Ledger
from crowdblend.ledger.chain import load_heads
from crowdblend.ledger.moving import move_ledger
from crowdblend.trusted.machine.lazy import lazy_imports

with lazy_imports():
    from crowdblend.publishing import adopting


@click.command("adopt", epilog="Example: crowdblend ledger adopt residents published/*")
@click.argument("population")
@click.argument("folders", metavar="DIR...", nargs=-1, required=True, type=click.Path(file_okay=False))
@click.option("--new", is_flag=True, help="Enter a release also where an unfinished one may be the same.")
@by_option
@ledger_option
@answers
def adopt(population: str, folders: tuple[str, ...], *, new: bool, by: str | None, where: str | None) -> None:
    """Enter releases about POPULATION again from their folders, which a restored backup of the ledger has forgotten.

    Each is verified first. It counts in totals and limits from then on, cannot be taken back, and is entered also where
    it exceeds a limit. A folder whose release has an entry is passed over. Folders of proposals stand beside those of
    the releases that name them, so that each counts once.
    """
    ledger = Ledger.open(where)
    found = adopting.releases_in([Path(folder) for folder in folders])
    entries, known, lines = [], [], []
    for one in found:
        try:
            entry = ledger.adopt(population, one, new=new, by=by)
        except RefusedByLedger as refused:
            if refused.code != "ledger.recorded":
                raise
            known.append(one.folder)
            lines.append(refused.message)
            continue
        entries.append(entry.to_dict())
        lines.append(f"Entry {entry.id} about {entry.spending.population}: {one.folder}, published on {one.date}.")
    said = [adopting.NOT_KNOWN] if entries else []
    answer({"adopted": entries, "recorded": known, "not_known": said}, *lines, *said)


@click.command("heads")
@click.option("--export", metavar="FILE", default="-", show_default=True, help="The log to add the head to, or stdout.")
@click.option("--accept", is_flag=True, help="Accept that records are lost whose heads were kept beside the ledger.")
@by_option
@why_option
@ledger_option
@answers
def heads(*, export: str, accept: bool, by: str | None, why: str | None, where: str | None) -> None:
    """Add the head of the ledger, after a full check, to a log of heads that is kept elsewhere.

    A head that the log ends with is not added again. `ledger check --head FILE` compares every head of such a log.

    crowdblend keeps heads of its own beside a ledger, and refuses one that lacks the record of a kept head, such as a
    backup in its place. With --accept, which takes --why, the loss is recorded and the ledger is used again; the
    releases that it forgot are then entered with `ledger adopt`.
    """
    if accept != (why is not None):
        raise click.UsageError("--accept and --why go together.")
    if accept and why is not None:
        loss = Ledger.open(where).accept_loss(why=why, by=by)
        numbers = ", ".join(str(number) for number, _ in loss.lost)
        answer(loss.to_dict(), f"Accepted by {loss.author} as lost: the records of the kept heads {numbers}.")
        return
    made = Ledger.open(where, make=False).head()
    if export == "-":
        answer(made.to_dict(), made.to_line().rstrip())
        return
    log = Path(export)
    known = load_heads(log)[-1:] if log.exists() and log.stat().st_size else []
    if [(one.records, one.hash) for one in known] != [(made.records, made.hash)]:
        append_text(log, made.to_line())
    answer({**made.to_dict(), "log": export}, f"{export} ends with the head of {made.records} records.")


@click.command("move", epilog="Example: crowdblend ledger move ledger.sqlite postgresql://db.example.org/office")
@click.argument("source", metavar="FROM")
@click.argument("target", metavar="TO")
@answers
def move(source: str, target: str) -> None:
    """Copy the ledger FROM to TO, a new file or a database without a ledger.

    Each is a file or a PostgreSQL database. Nobody writes to FROM meanwhile, and FROM is left as it is. The copy is
    checked as a whole, and its head compared with that of FROM. Use the copy alone from then on.
    """
    moved = move_ledger(source, target)
    answer(moved.to_dict(), *moved.lines())


COMMANDS = (adopt, heads, move)
