"""`crowdblend ledger`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

from crowdblend.calculus.encoding import encode
from crowdblend.cli.engines import engine_options
from crowdblend.cli.ledger_team import COMMANDS, ledger_option
from crowdblend.cli.output import (
    Parameter,
    emit,
    force_option,
    handle_errors,
    json_option,
    no_figures_option,
    write_text,
)
from crowdblend.cli.progress import progress_line
from crowdblend.engines.choice import engine_named
from crowdblend.errors import InvalidInput
from crowdblend.guarantees.parameters import check
from crowdblend.guarantees.wording import at_most
from crowdblend.lazy import lazy
from crowdblend.ledger import Budget, Entry, Ledger, ProfileTotal
from crowdblend.ledger.chain import HEAD_NAMESPACE, load_head
from crowdblend.ledger.declarations import Limit
from crowdblend.ledger.entry import normal_name
from crowdblend.ledger.filters import Usage

if TYPE_CHECKING:
    from crowdblend import policies
    from crowdblend.cli import release, sign
    from crowdblend.publishing import release as publishing
    from crowdblend.signatures import files as signature_files
else:
    policies = lazy("crowdblend.policies")
    publishing = lazy("crowdblend.publishing.release")
    release = lazy("crowdblend.cli.release")
    sign = lazy("crowdblend.cli.sign")
    signature_files = lazy("crowdblend.signatures.files")

HEADINGS = ["id", "created", "status", "kind", "sample", "epsilon", "delta", "population"]


@click.group("ledger", epilog="Example: crowdblend ledger list")
def command() -> None:
    """What was released before, and what it comes to together.

    A release is recorded here before it appears, and refused when it may not stand beside an earlier one. One that is
    unfinished counts as spent.
    """


for _each in COMMANDS:
    command.add_command(_each)


@command.command("init")
@click.argument("place", metavar="URL|PATH", required=False)
@json_option
@handle_errors
def init_ledger(place: str | None, *, as_json: bool) -> None:
    """Make a new and empty ledger; without URL or PATH the one of CROWDBLEND_LEDGER, else your own."""
    words = Ledger.create(place).location.words()
    if as_json:
        emit({"ledger": words})
    else:
        click.echo(f"Made the ledger {words}.")


@command.command("list")
@ledger_option
@json_option
@handle_errors
def list_entries(*, where: str | None, as_json: bool) -> None:
    """List all releases."""
    entries = Ledger.open(where, make=False).entries()
    if as_json:
        emit({"entries": [entry.to_dict() for entry in entries]})
    elif entries:
        rows = [HEADINGS, *map(_row, entries)]
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        for row in rows:  # a release stays on its line, however narrow the terminal
            click.echo("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())
    else:
        click.echo("The ledger has no releases yet.")


@command.command("show")
@click.argument("entry_id", metavar="ID", type=int)
@click.option("--internal", is_flag=True, help="Show what only you may know of it, such as how much was suppressed.")
@ledger_option
@json_option
@handle_errors
def show_entry(entry_id: int, *, internal: bool, where: str | None, as_json: bool) -> None:
    """Show one release in full."""
    entry = Ledger.open(where, make=False).entry(entry_id)
    if as_json:
        emit({**entry.to_dict(), "internal": dict(entry.internal)} if internal else entry.to_dict())
        return
    if internal:
        for name, value in entry.internal.items():
            click.echo(f"{name:<27} {json.dumps(value)}")
        for line in entry.steward_sentences():
            click.echo(line)
        return
    notes = {
        "sample": " (drawn for this release)" if entry.spending.fresh else " (already drawn)",
        "status": " (counts as spent)" if entry.status == "unfinished" else "",
    }
    for name, value in entry.to_dict().items():
        if name not in ("guarantees", "fresh"):
            click.echo(f"{name:<20}{'–' if value is None else value}{notes.get(name, '')}")
    for guarantee in entry.spending.guarantees:
        click.echo(f"{'guarantee':<20}{guarantee.words()}")


@command.command("resume")
@click.argument("entry_id", metavar="ID", type=int)
@click.argument("policy", required=False, type=click.Path(dir_okay=False))
@click.option("--sign", "sign_key", metavar="KEY", help="Sign the certificate with this private SSH key, as begun.")
@engine_options
@ledger_option
@no_figures_option
@json_option
@force_option
@handle_errors
def resume_entry(
    entry_id: int,
    policy: str | None,
    *,
    sign_key: str | None,
    engine: str,
    master: str | None,
    conf: tuple[str, ...],
    where: str | None,
    no_figures: bool,
    as_json: bool,
    force: bool,
) -> None:
    """Publish a release that was begun and stopped, with the output that it would have had.

    POLICY is the one that it was begun with; it is only needed where that file has moved. A release that Spark began is
    resumed with --engine spark.
    """
    ledger = Ledger.open(where)
    loaded = None if policy is None else policies.load_policy(policy)
    signing = None if sign_key is None else release.signing(sign_key)
    with (
        engine_named(engine, master, conf) as reads,
        release.notes_on_stderr(),
        progress_line(quiet=as_json) as progress,
    ):
        figures = not no_figures
        done = publishing.resume(
            ledger, entry_id, loaded, force=force, progress=progress, engine=reads, sign=signing, figures=figures
        )
    if as_json:
        emit({"folder": str(done.folder), "entry": done.entry})
    else:
        release.print_release(done, None)


@command.command("budget")
@click.argument("population", required=False)
@click.option(
    "--delta", type=Parameter(), metavar="D", help="Say what the releases come to by their profiles at this delta."
)
@click.option("--group", type=click.IntRange(1), metavar="C", help="Also say what it comes to for C people together.")
@ledger_option
@json_option
@handle_errors
def show_budget(
    population: str | None, *, delta: float | None, group: int | None, where: str | None, as_json: bool
) -> None:
    """Add up all releases about the same people, plainly and by their profiles; say how much of a limit is used.

    Without --delta the total by profile is at the delta that adding up comes to. It is true where no release reacted to
    an earlier one, and decides nothing: what counts against a limit holds also where one did.
    """
    if delta is not None:
        check("delta", delta)
    ledger = Ledger.open(where, make=False)
    accounts = ledger.accounts()
    budgets = [one for one in ledger.budgets() if population is None or one.population == normal_name(population)]
    if population is not None and not budgets:
        raise InvalidInput(
            f"Nothing was released about the population {population!r}. Leave it out to see all.",
            where="POPULATION",
            code="ledger.no-population",
        )
    documents = []
    for budget in budgets:
        total, limit = accounts.total(budget.population, delta), accounts.declared.limit(budget.population)
        used = None if limit is None else accounts.usage(limit)
        if not as_json:
            _print_budget(budget, group, total, used, limit)
            continue
        document = {**budget.to_dict(), "profile": total.to_dict(), "limit": limit and limit.to_dict()}
        document["used"] = used and used.to_dict()
        documents.append(document if group is None else {**document, "group": encode(budget.for_group(group))})
    if as_json:
        emit({"budgets": documents})
    elif not budgets:
        click.echo("The ledger has no releases yet.")


@command.command("check")
@click.option("--seen", metavar="HASH", help="A hash that an earlier check printed: finds a cut-off end too.")
@click.option("--head", metavar="FILE", help="A head that an earlier check saved: finds a cut-off end or an old copy.")
@click.option("--signer", metavar="KEY|FILE", help="With --head: whose signature the head must have.")
@click.option("--save-head", metavar="FILE", help="Write the head of the chain, to be kept elsewhere or published.")
@click.option("--sign", "key", metavar="KEY", help="With --save-head: sign it with this private SSH key.")
@ledger_option
@json_option
@force_option
@handle_errors
def check_chain(
    *,
    seen: str | None,
    head: str | None,
    signer: str | None,
    save_head: str | None,
    key: str | None,
    where: str | None,
    as_json: bool,
    force: bool,
) -> None:
    """Find out whether anything in the ledger was edited, cut off, or put back to an earlier state."""
    if (signer and not head) or (key and not save_head):
        raise click.UsageError("--signer needs --head, and --sign needs --save-head.")
    ledger = Ledger.open(where, make=False)
    if head is not None:
        if signer is not None:
            signature_files.check_file(Path(head), signer, HEAD_NAMESPACE)
        ledger.check(load_head(Path(head)))
    if seen is not None:
        ledger.check(seen)
    made = ledger.head()
    if save_head is not None:
        write_text(save_head, made.to_json(), force=force)
        if key is not None:
            signature_files.sign_file(Path(save_head), key, HEAD_NAMESPACE, passphrase=sign.ask_passphrase, force=force)
    if as_json:
        emit({"intact": True, "hash": made.hash, "records": made.records})
    else:
        click.echo(f"Intact: every one of {made.records} records is as it was written.")
        click.echo(f"Keep this hash and pass it as --seen next time: {made.hash}")


def _row(entry: Entry) -> list[str]:
    spending = entry.spending
    loss = spending.differential or spending.replaced
    return [
        str(entry.id),
        entry.created[:10],
        entry.status,
        spending.kind,
        "fresh" if spending.fresh else "shared",
        at_most(loss.epsilon) if loss else "–",
        at_most(loss.delta) if loss else "–",
        spending.population,
    ]


def _numbers(ids: tuple[int, ...]) -> str:
    """The numbers of releases; long runs by their ends."""
    runs: list[list[int]] = []
    for number in ids:
        if runs and runs[-1][-1] == number - 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    return ", ".join(f"{run[0]}–{run[-1]}" if len(run) > 4 else ", ".join(map(str, run)) for run in runs)


def _print_budget(
    budget: Budget, group: int | None, total: ProfileTotal, used: Usage | None, limit: Limit | None
) -> None:
    click.echo(f"{budget.population}: releases {_numbers(budget.releases)}")
    if budget.differential is None:
        click.echo("  together  nothing: these releases have no differential privacy that adds up")
    for made in (budget.zero_knowledge, budget.differential):
        if made is not None:
            click.echo(f"  together  {made.words()}")
    if total.differential is not None:
        click.echo(f"  by profile {total.differential.words()}")
    elif total.delta > 0 and budget.differential is not None:
        click.echo(
            f"  by profile nothing at delta {at_most(total.delta)}: more than that is lost. Pass a larger --delta."
        )
    if limit is not None:
        click.echo(f"  limit     {limit.words()}, set by {limit.by}")
        said = f"{used.words()} ({used.reason()})" if used else "nothing that it could be compared with"
        click.echo(f"  used      {said}")
    if budget.overlapping:
        click.echo(f"  overlaps  {', '.join(budget.overlapping)}, whose releases are in the sum")
    if group is not None:
        together = budget.for_group(group)
        said = together.words() if together else "nothing: these releases have no zero-knowledge privacy that adds up"
        click.echo(f"  group     {said}")
    for assumption in (*budget.assumptions, *total.assumptions):
        click.echo(f"  assuming  {assumption.value}")
