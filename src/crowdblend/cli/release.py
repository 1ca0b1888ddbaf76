"""`crowdblend release`."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import click

from crowdblend.cli.engines import engine_option
from crowdblend.cli.output import answer, answers, asks_for_json, force_option, no_figures_option, wrong_use
from crowdblend.cli.plan import plan_document, plan_lines
from crowdblend.cli.progress import progress_line
from crowdblend.errors import CrowdblendError, InvalidInput, Refused
from crowdblend.kinds import AnyPlan, plan
from crowdblend.kinds.shared.facts import planned_releases
from crowdblend.notation import TOML, spell
from crowdblend.policies.load import load_policy
from crowdblend.sources.engines.choice import engine_named
from crowdblend.sources.engines.temporary_files import temporary_room
from crowdblend.trusted.calculus import Certificate
from crowdblend.trusted.guarantees.guessing import lead
from crowdblend.trusted.guarantees.privacy import Differential, ZeroKnowledge
from crowdblend.trusted.guarantees.wording import at_most
from crowdblend.trusted.machine.lazy import lazy_imports
from crowdblend.trusted.machine.stopping import Standing, when_stopped

with lazy_imports():
    from crowdblend import ledger as books
    from crowdblend.cli import sign as sign_command
    from crowdblend.ledger import Budget, Ledger, ProfileTotal, Spending
    from crowdblend.ledger import store as ledger_store
    from crowdblend.policies.policy import Policy
    from crowdblend.publishing import release as publishing
    from crowdblend.publishing import signing as certificates
    from crowdblend.publishing import target
    from crowdblend.publishing.finished_release import Release
    from crowdblend.publishing.pending import PendingRelease


@click.command("release", epilog="Example: crowdblend release policy.toml --out published --yes")
@click.argument("policy", type=click.Path(dir_okay=False))
@click.option("--out", metavar="DIR", help="The folder to publish into; by default the policy's name.")
@engine_option
@click.option("--ledger", "ledger_url", metavar="URL", help="The ledger to record the release in.")
@click.option("--dry-run", is_flag=True, help="Show what would be read, planned and guaranteed; touch no row.")
@click.option("--yes", is_flag=True, help="Do not ask: publish or resume. A ledger must be there: none is made.")
@click.option(
    "--new", is_flag=True, help="Begin another release, where an unfinished one of this job would be resumed."
)
@no_figures_option
@click.option("--sign", "sign_key", metavar="KEY", help="Sign the certificate with this private SSH key.")
@click.option("--by", metavar="NAME", help="Who releases it; by default the user of this process.")
@force_option
@answers
def command(
    policy: str,
    *,
    out: str | None,
    engine: str,
    ledger_url: str | None,
    dry_run: bool,
    yes: bool,
    new: bool,
    no_figures: bool,
    sign_key: str | None,
    by: str | None,
    force: bool,
) -> None:
    """Sample, recode and publish what a policy says, with a certificate.

    The folder appears whole or not at all. The ledger records it before anything is published. The same job twice is
    one release: what an earlier start recorded and did not publish is resumed, with the output that it would have had.
    """
    with when_stopped(lambda: Standing("The release was not recorded.")):
        loaded = load_policy(policy)
        planned = plan(loaded)
    folder = Path(out) if out else Path(Path(policy).stem)
    if dry_run:
        with engine_named(engine) as reads:
            planned.check_source(reads)
            assumed = reads.assumptions
        room = temporary_room()
        would = {"would write": f"{folder}, with certificate and report", "may spill": room.words()}
        document = {"temporary_folder": str(room.folder), "temporary_bytes": room.most_bytes}
        document |= {"dry_run": True, "folder": str(folder), **plan_document(planned)}
        answer(document, *plan_lines(planned, assumed), *(f"{what:<14} {how}" for what, how in would.items()))
        return
    target.check_place(folder)
    sign = None if sign_key is None else signing(sign_key)
    if not yes and not _asks():
        remedy = "Pass --yes to publish without confirmation."
        raise wrong_use("Not a terminal: nobody can confirm.", remedy, "--yes", "not-confirmed")

    with engine_named(engine) as reads:
        planned.check_source(reads)
        ledger = open_ledger(ledger_url, yes=yes)
        how: dict[str, Any] = {
            "policy_file": Path(policy),
            "engine": reads,
            "sign": sign,
            "figures": not no_figures,
            "new": new,
            "by": by,
        }
        done = publish(loaded, planned, folder, ledger, yes=yes, force=force, **how)
    with when_stopped(lambda: Standing(f"Release {done.entry} is recorded and published.", True, done.entry)):
        budget = _budget_after(ledger, done.entry)
        composed = _profile_after(ledger, budget)
        total = budget.differential if budget else None
        spent = {"epsilon": total.epsilon, "delta": total.delta, "relation": total.relation.value} if total else None
        sums = {"total": spent, "profile": composed and composed.to_dict()}
        document = {
            "folder": str(done.folder),
            "entry": done.entry,
            "head": _head_after(ledger),
            **sums,
            **plan_document(planned),
        }
        cut = [f"  counted    {said}" for said in loaded.data.unit.describe_cut()]
        answer(document, *release_lines(done, budget, composed, _place_in_series(ledger, done.entry), cut))


def publish(
    policy: Policy, plan: AnyPlan, folder: Path, ledger: Ledger, *, yes: bool, force: bool, **how: Any
) -> Release:
    """Publish what was planned, after a question unless the answer was given."""

    def confirm(pending: PendingRelease) -> None:
        if progress is not None:
            progress.pause()
        confirm_release(plan, pending, folder, ledger, yes=yes)

    how |= {"ledger": ledger, "force": force, "confirm": confirm, "release_plan": plan}
    with progress_line(quiet=asks_for_json()) as progress:
        return publishing.release(policy, folder, progress=progress, **how)


def _place_in_series(ledger: Ledger, entry: int | None) -> str | None:
    """Return which release of a declared series this is; None where none was declared, or the ledger is silent."""
    with suppress(CrowdblendError):
        spending = ledger.entry(entry).spending if entry is not None else None
        if spending is not None and spending.series > 1:
            made = ledger.accounts().place_in_series(spending)
            place = f"{(made - 1) % spending.series + 1} of {spending.series}"
            return f"release {place}, which share epsilon and delta of the policy"
    return None


def release_lines(
    release: Release,
    budget: Budget | None,
    total: ProfileTotal | None = None,
    series: str | None = None,
    cut: Sequence[str] = (),
) -> list[str]:
    """Return where the release is, what it guarantees, and what that adds up to with earlier ones."""
    lines = [
        f"published {release.folder}",
        *(f"  {name}  {sentence}" for name, sentence in _guarantees(release.certificate)),
    ]
    lines += [*cut, *([] if series is None else [f"  series     {series}"])]
    if budget and budget.differential:
        lines.append(f"  total      about these people: {_spending_line(budget.differential)}")
    if total is not None and total.tighter is not None:
        lines.append(f"  by profile {_spending_line(total.tighter)}")
    if budget and budget.stated:
        lines.append("  of it      some was spent by other tools: stated, not derived (crowdblend ledger budget)")
    relative = budget.zero_knowledge if budget and len(budget.releases) > 1 else None
    if relative and isinstance(release.certificate.guarantees[0], ZeroKnowledge):
        lines.append(f"  and        {relative.words()}")
    internal = f"crowdblend ledger show {release.entry} --internal says what is not published; keep it to yourself"
    lines += [f"  report     {release.folder}/report.html", f"  for you    {internal}"]
    return [*lines, f"  check it with: crowdblend verify {release.folder}"]


def _budget_after(ledger: Ledger, entry: int | None) -> Budget | None:
    """The new total; None, with a warning, where the ledger does not answer: the release is published all the same."""
    try:
        return ledger.budget(ledger.entry(entry).spending.population) if entry is not None else None
    except CrowdblendError as problem:
        click.echo(f"crowdblend: Published and recorded, but the new total could not be read: {problem}", err=True)
        return None


def _head_after(ledger: Ledger) -> dict[str, Any] | None:
    """Return the head of the ledger, to be kept elsewhere; None where the ledger does not answer."""
    with suppress(CrowdblendError):
        return ledger.latest_head().to_dict()
    return None


def _profile_after(ledger: Ledger, budget: Budget | None) -> ProfileTotal | None:
    """Return the new total by profile; None where one release is all there is, or the ledger does not answer."""
    with suppress(CrowdblendError):
        return ledger.total(budget.population) if budget is not None and len(budget.releases) > 1 else None
    return None


def _asks() -> bool:
    """Return whether someone is there to answer."""
    return sys.stdin.isatty()


def signing(path: str) -> Callable[[Path], object]:
    """Return what signs the certificate; the key is loaded, and its passphrase asked for, before anything is spent."""
    return certificates.certificate_signer(path, sign_command.ask_passphrase)


def open_ledger(url: str | None, *, yes: bool) -> Ledger:
    """Return the ledger; the user's own is made when it is missing, after a question, and never with --yes."""
    location = ledger_store.locate(url)
    if not location.named and location.is_missing:
        if yes:  # where nobody looks, another home folder would begin another budget
            message = f"There is no ledger at {location.words()}, and --yes makes none."
            remedy = "Name yours with CROWDBLEND_LEDGER or --ledger, or make one: crowdblend ledger init."
            raise InvalidInput(message, remedy=remedy, where="--ledger", code="ledger.missing")
        if not click.confirm(f"No ledger at {location.words()}. Make a new one?", err=True):
            message = "Nothing was published: a release is recorded in a ledger."
            raise Refused(message, remedy="Name one with --ledger.", where="--ledger", code="command.not-confirmed")
        click.echo(f"crowdblend: No ledger at {location.words()}; creating a new one.", err=True)
    return books.Ledger.open(url)


def _guarantees(certificate: Certificate) -> list[tuple[str, str]]:
    """Return the guarantee for one person as a sentence about guessing, and precisely; else the strongest one."""
    precise = (certificate.differential() or certificate.guarantees[0]).words()
    sentence = lead(certificate.guarantees, planned_releases(certificate))
    return [("guarantee", sentence), ("precisely", precise)] if sentence else [("guarantee", precise)]


def _spending_line(total: Differential) -> str:
    """A sum with what it compares: it grows when a release joins that only guarantees that data may be replaced."""
    return f"epsilon {at_most(total.epsilon)}, delta {at_most(total.delta)} ({total.relation.words})"


def _by_profile(ledger: Ledger, spending: Spending, before: Differential | None) -> list[str]:
    """Return the totals by profile before and after, at one δ; nothing before the first release."""
    if before is None:
        return []
    after = ledger.total(spending.population, more=spending)
    so_far = ledger.total(spending.population, after.delta)
    if after.is_sum:
        return []
    shown = {"so far": so_far.differential, "with this release": after.differential}
    lines = [f"by profile, {when}: {_spending_line(total)}" for when, total in shown.items() if total is not None]
    return lines and [
        *lines,
        "totals by profile are true where nobody chose the parameters of a release by looking at an earlier one",
    ]


def confirm_release(plan: AnyPlan, pending: PendingRelease, folder: Path, ledger: Ledger, *, yes: bool) -> None:
    """Say what the ledger cannot know, and ask unless the answer was given."""
    for warning in pending.warnings:
        click.echo(f"crowdblend: {spell(warning, TOML)}", err=True)
    if yes:
        return
    if pending.resumes is not None:
        _ask(f"Resume release {pending.resumes.id} into {folder}?", "Pass --new to begin another release.")
        return
    for name, sentence in _guarantees(plan.certificate()):
        click.echo(f"{name}: {sentence}", err=True)
    before = ledger.budget(pending.spending.population).differential
    click.echo(f"guaranteed about these people so far: {_spending_line(before) if before else 'nothing'}", err=True)
    after = ledger.accounts().budget(pending.spending.population, pending.spending).differential
    if before and after:
        click.echo(f"with this release: {_spending_line(after)}", err=True)
    for line in _by_profile(ledger, pending.spending, before):
        click.echo(line, err=True)
    if usage := ledger.accounts().usage_after(pending.spending):
        used = f"with this release: {usage.words()} ({usage.reason()})"
        click.echo(f"of the limit, {usage.limit.words()}, {used}", err=True)
    _ask(f"Publish into {folder}?")


def _ask(question: str, remedy: str = "") -> None:
    """Go on where the answer is yes; refuse otherwise."""
    if not click.confirm(question, err=True):
        message = "Nothing was published, and nothing was spent."
        raise Refused(message, remedy=remedy, where="--yes", code="command.not-confirmed")
