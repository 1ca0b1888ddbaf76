"""`crowdblend ledger`."""

from __future__ import annotations

import json
from itertools import groupby
from pathlib import Path
from typing import Any

import click

from crowdblend.cli import ledger_approvals, ledger_recovery, ledger_team
from crowdblend.cli.engines import engine_option
from crowdblend.cli.ledger_team import ledger_option
from crowdblend.cli.output import (
    Parameter,
    align,
    answer,
    answers,
    asks_for_json,
    force_option,
    no_figures_option,
    write_text,
)
from crowdblend.cli.progress import progress_line
from crowdblend.errors import InvalidInput
from crowdblend.ledger import Budget, Entry, Ledger, ProfileTotal
from crowdblend.ledger.chain import HEAD_NAMESPACE, load_heads
from crowdblend.ledger.declarations import Limit
from crowdblend.ledger.entry import normal_name
from crowdblend.ledger.export import export
from crowdblend.ledger.filters import Usage
from crowdblend.sources.engines.choice import engine_named
from crowdblend.trusted.calculus.encoding import encode
from crowdblend.trusted.guarantees.parameters import check
from crowdblend.trusted.guarantees.privacy import ZeroKnowledge
from crowdblend.trusted.guarantees.wording import at_most
from crowdblend.trusted.machine.lazy import lazy_imports
from crowdblend.trusted.machine.stopping import Standing, when_stopped

with lazy_imports():
    from crowdblend.cli import release, sign
    from crowdblend.policies import load
    from crowdblend.publishing import resuming
    from crowdblend.trusted.signatures import files as signature_files

HEADINGS = ["id", "created", "status", "kind", "sample", "epsilon", "delta", "population"]


@click.group("ledger", epilog="Example: crowdblend ledger list")
def command() -> None:
    """Show what was released before, and what it adds up to.

    A release is recorded here before it appears, and refused when it may not stand beside an earlier one. One that is
    unfinished counts as spent.
    """


for _each in (*ledger_team.COMMANDS, *ledger_approvals.COMMANDS, *ledger_recovery.COMMANDS):
    command.add_command(_each)


@command.command("init")
@click.argument("place", metavar="URL|PATH", required=False)
@answers
def init_ledger(place: str | None) -> None:
    """Make a new and empty ledger; without URL or PATH the one of CROWDBLEND_LEDGER, else your own."""
    words = Ledger.create(place).location.words()
    answer({"ledger": words}, f"Made the ledger {words}.")


@command.command("list")
@ledger_option
@answers
def list_entries(*, where: str | None) -> None:
    """List all releases."""
    entries = Ledger.open(where, make=False).entries()
    lines = align([HEADINGS, *map(_row, entries)]) if entries else ["The ledger has no releases yet."]
    answer({"entries": [entry.to_dict() for entry in entries]}, *lines)


@command.command("show")
@click.argument("entry_id", metavar="ID", type=int)
@click.option("--internal", is_flag=True, help="Show what only you may know of it, such as how much was suppressed.")
@ledger_option
@answers
def show_entry(entry_id: int, *, internal: bool, where: str | None) -> None:
    """Show one release in full."""
    entry = Ledger.open(where, make=False).entry(entry_id)
    document = entry.to_dict()
    guarantees = [f"{'guarantee':<20}{made.words()}" for made in entry.spending.guarantees]
    if entry.statement is not None:
        about = {"id": entry.id, "created": entry.created, "population": entry.spending.population}
        lines = [
            f"{name:<20}{value}" for name, value in {**about, **vars(entry.statement)}.items() if value is not None
        ]
        answer(document, *lines, f"{'status':<20}{entry.statement.words()}; counts as spent", *guarantees)
        return
    if internal:
        lines = [f"{name:<27} {json.dumps(value)}" for name, value in entry.internal.items()]
        answer({**document, "internal": dict(entry.internal)}, *lines, *entry.steward_sentences())
        return
    notes = {
        "sample": " (drawn for this release)" if entry.spending.fresh else " (already drawn)",
        "status": " (counts as spent)" if entry.status == "unfinished" else "",
        "key": " until the release is published" if entry.key_state == "kept" else "",
    }
    lines = [
        f"{name:<20}{value}{notes.get(name, '')}"
        for name, value in document.items()
        if value is not None and name not in ("guarantees", "fresh")
    ]
    answer(document, *lines, *guarantees)


@command.command("resume")
@click.argument("entry_id", metavar="ID", type=int)
@click.argument("policy", required=False, type=click.Path(dir_okay=False))
@click.option("--out", metavar="DIR", help="The folder to publish into; by default the one that was recorded.")
@click.option("--sign", "sign_key", metavar="KEY", help="Sign the certificate with this private SSH key, as begun.")
@engine_option
@ledger_option
@no_figures_option
@force_option
@answers
def resume_entry(
    entry_id: int,
    policy: str | None,
    *,
    out: str | None,
    sign_key: str | None,
    engine: str,
    where: str | None,
    no_figures: bool,
    force: bool,
) -> None:
    """Publish a release that was begun and stopped, with the output that it would have had.

    POLICY is the one that it was begun with, which the message of the stopped release names; it may be left out where
    the process was killed, and the file has not moved. A release that Spark began is resumed with --engine spark. To
    run the same `crowdblend release` again resumes it too.
    """
    ledger = Ledger.open(where)
    loaded = None if policy is None else load.load_policy(policy)
    signing = None if sign_key is None else release.signing(sign_key)
    stopped = when_stopped(lambda: _standing_of(entry_id))
    with stopped, engine_named(engine) as reads, progress_line(quiet=asks_for_json()) as progress:
        how: dict[str, Any] = {"progress": progress, "engine": reads, "sign": signing, "figures": not no_figures}
        folder = None if out is None else Path(out)
        done = resuming.resume(ledger, entry_id, loaded, out=folder, force=force, **how)
    answer({"folder": str(done.folder), "entry": done.entry}, *release.release_lines(done, None))


@command.command("budget")
@click.argument("population", required=False)
@click.option(
    "--delta", type=Parameter(), metavar="D", help="Say what the releases come to by their profiles at this delta."
)
@click.option("--group", type=click.IntRange(1), metavar="C", help="Also say what it comes to for C people together.")
@ledger_option
@answers
def show_budget(population: str | None, *, delta: float | None, group: int | None, where: str | None) -> None:
    """Add up all releases about the same people, plainly and by their profiles; say how much of a limit is used.

    Without --delta the total by profile is at the delta that adding up comes to. It is true where nobody
    chose the parameters of a release by looking at an earlier one, and decides nothing: what counts against a limit
    holds also then.
    """
    if delta is not None:
        check("delta", delta)
    ledger = Ledger.open(where, make=False)
    accounts = ledger.accounts()
    budgets = [one for one in ledger.budgets() if population is None or one.population == normal_name(population)]
    if population is not None and not budgets:
        message = f"Nothing was released about the population {population!r}. Leave it out to see all."
        raise InvalidInput(message, where="POPULATION", code="ledger.no-population")
    documents, lines = [], []
    for budget in budgets:
        total, limit = accounts.total(budget.population, delta), accounts.declared.limit(budget.population)
        used = None if limit is None else accounts.usage(limit)
        lines += _budget_lines(budget, group, total, used, limit)
        document = {**budget.to_dict(), "profile": total.to_dict(), "limit": limit and limit.to_dict()}
        document["used"] = used and used.to_dict()
        document |= {} if group is None else {"group": [encode(made) for made in budget.for_group(group, total)]}
        documents.append(document)
    answer({"budgets": documents}, *(lines or ["The ledger has no releases yet."]))


@command.command("export", epilog="Example: crowdblend ledger export --since 2026-11-01")
@click.option("--since", metavar="N|DATE", help="Only records after number N, or from a day on.")
@ledger_option
@answers
def export_records(*, since: str | None, where: str | None) -> None:
    """Print the records as JSON lines, for a log that others keep.

    They say who did what, and what that spends: no keys, no fingerprints, nothing internal. Each has its number and the
    hash of the chain, so that a copy elsewhere finds a ledger that was cut off or put back.
    """
    documents = list(export(Ledger.open(where, make=False), since))
    answer({"records": documents}, *map(json.dumps, documents))


@command.command("check")
@click.option("--head", metavar="FILE", help="A head that an earlier check saved: finds a cut-off end or an old copy.")
@click.option("--signer", metavar="PUB", help="With --head: whose signature the head must have.")
@click.option("--save-head", metavar="FILE", help="Write the head of the chain, to be kept elsewhere or published.")
@click.option("--sign", "key", metavar="KEY", help="With --save-head: sign it with this private SSH key.")
@ledger_option
@force_option
@answers
def check_chain(*, head: str | None, where: str | None, force: bool, **options: str | None) -> None:
    """Find out whether anything in the ledger was edited, cut off, or put back to an earlier state."""
    signer, save_head, key = options["signer"], options["save_head"], options["key"]
    if (signer and not head) or (key and not save_head):
        raise click.UsageError("--signer needs --head, and --sign needs --save-head.")
    ledger = Ledger.open(where, make=False)
    if head is not None:
        if signer is not None:
            signature_files.check_file(Path(head), signer, HEAD_NAMESPACE)
        for kept in load_heads(Path(head)):
            ledger.check(kept)
    made = ledger.head()
    if save_head is not None:
        write_text(save_head, made.to_json(), force=force)
        if key is not None:
            signature_files.sign_file(Path(save_head), key, HEAD_NAMESPACE, passphrase=sign.ask_passphrase, force=force)
    answer(
        {"intact": True, "hash": made.hash, "records": made.records},
        f"Intact: every one of {made.records} records is as it was written.",
        "Keep its head elsewhere with --save-head: --head then finds a cut-off end too.",
    )


def _row(entry: Entry) -> list[str]:
    spending = entry.spending
    loss = spending.loss
    return [
        str(entry.id),
        entry.created[:10],
        entry.status,
        spending.kind if entry.statement is None else entry.statement.tool,
        "–" if spending.stated else "fresh" if spending.fresh else "shared",
        at_most(loss.epsilon) if loss else "–",
        at_most(loss.delta) if loss else "–",
        spending.population,
    ]


def _standing_of(entry_id: int) -> Standing:
    return Standing(f"Release {entry_id} is recorded: see crowdblend ledger show {entry_id}.", True, entry_id)


def _numbers(ids: tuple[int, ...]) -> str:
    """Return the numbers of releases; long runs by their ends."""
    # In a run of neighbours, numbers and their places differ by the same.
    groups = groupby(enumerate(ids), lambda each: each[1] - each[0])
    runs = [[number for _, number in group] for _, group in groups]
    return ", ".join(f"{run[0]}–{run[-1]}" if len(run) > 4 else ", ".join(map(str, run)) for run in runs)


def _budget_lines(
    budget: Budget, group: int | None, total: ProfileTotal, usage: Usage | None, limit: Limit | None
) -> list[str]:
    lines = [f"{budget.population}: releases {_numbers(budget.releases)}"]
    if budget.stated:
        lines.append(f"  stated    {_numbers(budget.stated)}, by people and not derived: other tools spent them")
    if budget.differential is None:
        lines.append("  together  nothing: these releases have no differential privacy that adds up")
    lines += [
        f"  together  {made.words()}" for made in (budget.zero_knowledge, budget.differential) if made is not None
    ]
    if total.tighter is not None:
        lines.append(f"  by profile {total.tighter.words()}")
    elif total.epsilon is None and budget.differential is not None:
        said = f"nothing at delta {at_most(total.delta)}: more than that is lost. Pass a larger --delta."
        lines.append(f"  by profile {said}")
    if limit is not None:
        said = f"{usage.words()} ({usage.reason()})" if usage else "nothing that it could be compared with"
        lines += [f"  limit     {limit.words()}, set by {limit.author}", f"  used      {said}"]
    if budget.overlapping:
        lines.append(f"  overlaps  {', '.join(budget.overlapping)}, whose releases are in the sum")
    if group is not None:
        made = budget.for_group(group, total)
        lines += [f"  group     {one.words()}" for one in made]
        if budget.zero_knowledge is not None and not any(isinstance(one, ZeroKnowledge) for one in made):
            lines.append(f"  group     no zero-knowledge privacy for {group} people together: its delta comes to 1")
        if not made:
            lines.append(f"  group     nothing is guaranteed about {group} people together")
    return lines + [f"  assuming  {assumption.value}" for assumption in (*budget.assumptions, *total.assumptions)]
