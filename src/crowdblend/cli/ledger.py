"""`crowdblend ledger`."""

from __future__ import annotations

import json
import os

import click

from crowdblend.calculus.encoding import encode
from crowdblend.cli.engines import engine_options
from crowdblend.cli.output import Parameter, emit, force_option, json_option, speaks
from crowdblend.errors import InvalidInput, Refused
from crowdblend.guarantees import Differential, Relation
from crowdblend.guarantees.parameters import check
from crowdblend.guarantees.wording import at_most
from crowdblend.ledger import Budget, Entry, Ledger, ProfileTotal
from crowdblend.ledger.steward import steward_sentences

ledger_option = click.option(
    "--ledger", "where", metavar="URL|PATH", help="The ledger to use; else CROWDBLEND_LEDGER, else your own."
)
HEADINGS = ["id", "created", "status", "kind", "sample", "epsilon", "delta", "population"]


@click.group("ledger", epilog="Example: crowdblend ledger list")
def command() -> None:
    """What was released before, and what it comes to together.

    A release is recorded here before it appears, and refused when it may not stand beside an earlier one. One that is
    unfinished counts as spent.
    """


@command.command("init")
@click.argument("place", metavar="URL|PATH", required=False)
@json_option
@speaks
def init_ledger(place: str | None, *, as_json: bool) -> None:
    """Make a new and empty ledger; without URL or PATH the one of CROWDBLEND_LEDGER, else your own."""
    words = Ledger.create(place).location.words()
    if as_json:
        emit({"ledger": words})
    else:
        click.echo(f"made the ledger {words}.")


@command.command("list")
@ledger_option
@json_option
@speaks
def list_entries(*, where: str | None, as_json: bool) -> None:
    """List every release."""
    entries = Ledger.open(where, make=False).entries()
    if as_json:
        emit({"entries": [entry.to_dict() for entry in entries]})
    elif entries:
        _tell_rows([HEADINGS, *(_row(entry) for entry in entries)])
    else:
        click.echo("the ledger has no releases yet.")


@command.command("show")
@click.argument("entry_id", metavar="ID", type=int)
@click.option("--internal", is_flag=True, help="Show what only you may know of it, such as how much was suppressed.")
@click.option("--page", metavar="FILE", help="Write that as a web page, for a network.")
@ledger_option
@json_option
@speaks
def show_entry(entry_id: int, *, internal: bool, page: str | None, where: str | None, as_json: bool) -> None:
    """Show one release in full."""
    entry = Ledger.open(where, make=False).entry(entry_id)
    if page is not None:
        _write_page(entry, page)
    if as_json:
        emit({**entry.to_dict(), "internal": dict(entry.internal)} if internal else entry.to_dict())
        return
    if internal:
        for name, value in entry.internal.items():
            click.echo(f"{name:<27} {json.dumps(value)}")
        for line in steward_sentences(entry.internal):
            click.echo(line)
        return
    for name, value in entry.to_dict().items():
        if name not in ("guarantees", "fresh"):
            click.echo(f"{name:<20}{'–' if value is None else value}{_note(name, entry)}")
    for guarantee in entry.spending.guarantees:
        click.echo(f"{'guarantee':<20}{guarantee.words()}")


@command.command("resume")
@click.argument("entry_id", metavar="ID", type=int)
@click.argument("policy", required=False, type=click.Path(dir_okay=False))
@engine_options
@ledger_option
@json_option
@force_option
@speaks
def resume_entry(
    entry_id: int,
    policy: str | None,
    *,
    engine: str,
    master: str | None,
    conf: tuple[str, ...],
    where: str | None,
    as_json: bool,
    force: bool,
) -> None:
    """Publish a release that was begun and stopped, with the output that it would have had.

    POLICY is the one that it was begun with; it is only needed where that file has moved. A release that Spark began is
    resumed with --engine spark.
    """
    from crowdblend.cli.progress import progress_line  # noqa: PLC0415  only needed here
    from crowdblend.cli.release import notes_on_stderr, tell_released  # noqa: PLC0415
    from crowdblend.engines.choice import engine_named  # noqa: PLC0415
    from crowdblend.policies import load_policy  # noqa: PLC0415
    from crowdblend.publishing.release import resume  # noqa: PLC0415

    ledger = Ledger.open(where)
    loaded = None if policy is None else load_policy(policy)
    with (
        engine_named(engine, master, conf) as reads,
        notes_on_stderr(),
        progress_line(quiet=as_json) as progress,
    ):
        done = resume(ledger, entry_id, loaded, force=force, progress=progress, engine=reads)
    if as_json:
        emit({"folder": str(done.folder), "entry": done.entry})
    else:
        tell_released(done, None)


@command.command("budget")
@click.argument("population", required=False)
@click.option(
    "--delta", type=Parameter(), metavar="D", help="Say what the releases come to by their profiles at this delta."
)
@click.option("--group", type=click.IntRange(1), metavar="C", help="Also say what it comes to for C people together.")
@ledger_option
@json_option
@speaks
def show_budget(
    population: str | None, *, delta: float | None, group: int | None, where: str | None, as_json: bool
) -> None:
    """Add up all releases about the same people, plainly and by their profiles.

    Without --delta the total by profile is at the delta that adding up comes to.
    """
    if delta is not None:
        check("delta", delta)
    ledger = Ledger.open(where, make=False)
    budgets = ledger.budgets()
    if population is not None:
        budgets = tuple(budget for budget in budgets if budget.population == population)
        if not budgets:
            raise InvalidInput(
                f"nothing was released about the population {population!r}. Leave it out to see all.",
                where="POPULATION",
                code="ledger.no-population",
            )
    if as_json:
        totals = {budget.population: ledger.total(budget.population, delta).to_dict() for budget in budgets}
        emit({"budgets": [{**_with_group(made, group), "profile": totals[made.population]} for made in budgets]})
    elif budgets:
        for budget in budgets:
            _tell(budget, group, ledger.total(budget.population, delta))
    else:
        click.echo("the ledger has no releases yet.")


@command.command("plan")
@click.argument("policy", type=click.Path(dir_okay=False))
@click.option("--epsilon", type=Parameter(), required=True, metavar="E", help="The limit of the total.")
@click.option("--delta", type=Parameter(), required=True, metavar="D", help="The limit of the total.")
@ledger_option
@json_option
@speaks
def plan_releases(policy: str, *, epsilon: float, delta: float, where: str | None, as_json: bool) -> None:
    """Say how many more releases like POLICY fit a limit, next to all earlier ones about the same people.

    Each draws a fresh sample, and they are composed by their profiles.
    """
    from crowdblend.kinds import plan  # noqa: PLC0415  only needed here
    from crowdblend.policies import load_policy  # noqa: PLC0415
    from crowdblend.publishing.prospect import planned_spending  # noqa: PLC0415

    ledger = Ledger.open(where, make=False)
    spending = planned_spending(plan(load_policy(policy)))
    limit = Differential(epsilon, delta, Relation.ADD_REMOVE)
    count = ledger.room(spending, limit)
    if count is None:
        raise Refused(
            "these releases have no differential privacy for one person more or less that adds up. Plan others.",
            where="POLICY",
            code="does-not-add-up",
        )
    so_far = ledger.total(spending.population, delta)
    if as_json:
        emit({"population": spending.population, "releases": count, "so_far": so_far.to_dict(), "limit": encode(limit)})
        return
    click.echo(f"{spending.population}: {so_far.releases} releases so far, {_total_words(so_far)}")
    click.echo(
        f"{count} more releases like this one fit epsilon {at_most(epsilon)}, delta {at_most(delta)}, each from a "
        "fresh sample."
    )


def _total_words(total: ProfileTotal) -> str:
    if total.epsilon is None:
        return f"with no epsilon at delta {at_most(total.delta)}"
    return f"epsilon {at_most(total.epsilon)} at delta {at_most(total.delta)} by profile"


@command.command("check")
@click.option("--seen", metavar="HASH", help="A hash that an earlier check printed: finds a cut-off end too.")
@ledger_option
@json_option
@speaks
def check_chain(*, seen: str | None, where: str | None, as_json: bool) -> None:
    """Find out whether anything in the ledger was edited."""
    sealed = Ledger.open(where, make=False).check(seen)
    if as_json:
        emit({"intact": True, "hash": sealed})
    else:
        click.echo("intact: every record is as it was written.")
        click.echo(f"keep this hash and pass it as --seen next time: {sealed}")


def _write_page(entry: Entry, target: str) -> None:
    """A network's own numbers with figures, in a file that only its owner can read."""
    from crowdblend.reports.network import network_page  # noqa: PLC0415  only needed here

    if entry.spending.kind != "graph" or not entry.internal:
        raise InvalidInput(
            f"release {entry.id} is not a finished release of a network. Leave --page out.",
            where="--page",
            code="ledger.no-page",
        )
    try:
        handle = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(network_page(entry.internal))
    except OSError as problem:
        raise InvalidInput(
            f"{target} cannot be written: {problem.strerror}. Name another file.",
            where="--page",
            code="output.not-writable",
        ) from None


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


def _tell_rows(rows: list[list[str]]) -> None:
    """Aligned columns; a release stays on its line, however narrow the terminal."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        click.echo("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())


def _note(name: str, entry: Entry) -> str:
    if name == "sample":
        return " (drawn for this release)" if entry.spending.fresh else " (already drawn)"
    return " (counts as spent)" if name == "status" and entry.status == "unfinished" else ""


def _with_group(budget: Budget, group: int | None) -> dict[str, object]:
    told = budget.to_dict()
    return told if group is None else {**told, "group": encode(budget.for_group(group))}


def _tell(budget: Budget, group: int | None, total: ProfileTotal) -> None:
    click.echo(f"{budget.population}: releases {', '.join(map(str, budget.releases))}")
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
    if group is not None:
        together = budget.for_group(group)
        said = together.words() if together else "nothing: these releases have no zero-knowledge privacy that adds up"
        click.echo(f"  group     {said}")
    for assumption in (*budget.assumptions, *total.assumptions):
        click.echo(f"  assuming  {assumption.value}")
