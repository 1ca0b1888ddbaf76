"""`crowdblend audit`."""

from __future__ import annotations

import math
import os
import sys
import time
from collections.abc import Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any

import click

from crowdblend.api.checks import audit as audit_policy
from crowdblend.auditing.exact import Counterexample
from crowdblend.auditing.statistical import Outlook, Verdict, audit_foreseen, hard_sizes, repeat
from crowdblend.cli.output import Parameter, emit, handle_errors, json_option, print_table
from crowdblend.cli.progress import progress_bar
from crowdblend.errors import InvalidInput
from crowdblend.lazy import lazy

if TYPE_CHECKING:
    from crowdblend import rehearsal
    from crowdblend.auditing import broken_mechanisms
else:
    rehearsal, broken_mechanisms = lazy("crowdblend.rehearsal"), lazy("crowdblend.auditing.broken_mechanisms")

# An audit of a claim that is really broken must say so this often.
POWER = 0.95
# Runs of an audit of our own mechanisms.
RUNS = 100_000


@click.command("audit", epilog="Example: crowdblend audit policy.toml --runs 20000")
@click.argument("policy", type=click.Path(dir_okay=False), required=False)
@click.option("--publication", metavar="NAME", help="Which publication of the policy, where it has several.")
@click.option("--mechanism", metavar="MODULE:OBJECT", help="Audit a mechanism of yours instead.")
@click.option("--broken", is_flag=True, help="Show that mechanisms with one mistake each are caught.")
@click.option("--own", is_flag=True, help="Audit our own mechanisms, where their guarantees are tight.")
@click.option("--injected", is_flag=True, help="Audit our own mechanisms with one bug injected into each.")
@click.option(
    "--epsilon", type=Parameter(), help="Audit the same release at this epsilon, with the delta it has there."
)
@click.option("--time", "seconds", type=float, metavar="SECONDS", help="How long to look at most; by default 60.")
@click.option("--runs", type=int, help="How often the release is run at most, instead of --time.")
@click.option("--error", type=float, default=1e-3, show_default=True, help="How likely a false alarm may be.")
@click.option(
    "--people",
    type=int,
    help="How many made-up people there are; by default 1000, or as many as the policy says.",
)
@click.option(
    "--batch", is_flag=True, help="Run many releases as one, as --own does: far more of them in the same time."
)
@click.option("--workers", type=int, help="Processes; by default one per core.")
@click.option("--understate", type=float, default=1.0, help="Claim epsilon divided by this, to test the audit.")
@click.option(
    "--repeat",
    "times",
    type=int,
    default=1,
    help="With --own and --injected: how many audits of each, to count their findings.",
)
@click.option("--family", "families", multiple=True, metavar="NAME", help="With --own and --injected: only these.")
@json_option
@handle_errors
def command(
    policy: str | None,
    *,
    publication: str | None,
    mechanism: str | None,
    broken: bool,
    own: bool,
    injected: bool,
    epsilon: float | None,
    seconds: float | None,
    runs: int | None,
    error: float,
    people: int | None,
    batch: bool,
    workers: int | None,
    understate: float,
    times: int,
    families: tuple[str, ...],
    as_json: bool,
) -> None:
    """Try to break what a policy or a mechanism guarantees; exit code 1 if it is broken.

    A policy is run many times on made-up people, never on your data. Nothing is published, and nothing is recorded.
    The first line says what it can find in the time given, and what not. An audit without a finding is no proof: the
    proof is in the certificate.
    """
    if sum((policy is not None, mechanism is not None, broken, own, injected)) != 1:
        raise InvalidInput(
            "audit takes exactly one of POLICY, --mechanism, --broken, --own and --injected.",
            remedy="Name what to audit.",
            code="command.usage",
            where="POLICY",
        )
    ours = own or injected
    least = {
        "understate": (understate, 1), "repeat": (times, 1), "workers": (workers, 1), "people": (people, 2),
        "time": (seconds, 1),
    }  # fmt: skip
    for name, (value, bound) in least.items():
        if value is not None and not bound <= value < math.inf:
            raise InvalidInput(
                f"--{name} takes a number of at least {bound}, got {value:g}.",
                remedy="Raise it, or leave it out.",
                where=f"--{name}",
                code="command.range",
            )
    _refuse_unused(
        {
            "--epsilon": (epsilon is None, policy is not None),
            "--understate": (understate == 1, policy is not None or own),
            "--people": (people is None, policy is not None or ours),
            "--batch": (not batch, policy is not None),
            "--repeat": (times == 1, ours),
            "--family": (not families, ours),
            "--time": (seconds is None, (policy is not None or mechanism is not None) and runs is None),
        }
    )
    force = workers or os.cpu_count() or 1
    if broken:
        _broken(as_json=as_json)
    elif ours:
        known = rehearsal.INJECTED_BUGS if injected else rehearsal.FAMILIES
        _own(known, families, runs or RUNS, error, people, force, understate, times, as_json=as_json)
    else:
        budget: dict[str, Any] = {"runs": runs, "seconds": seconds, "error": error, "workers": force}
        with progress_bar(quiet=as_json) as bar:
            announced: list[Outlook] = []
            budget |= {"progress": bar, "announce": announced.append if as_json else _announce}
            if mechanism is not None:
                found = _audit_mechanism(mechanism, budget)
            else:
                assert policy is not None
                found = audit_policy(
                    policy,
                    publication=publication,
                    people=people,
                    epsilon=epsilon,
                    understate=understate,
                    batch=batch,
                    **budget,
                )
        _show(found, announced, as_json=as_json)


def _refuse_unused(options: dict[str, tuple[bool, bool]]) -> None:
    """An option that plays no part here would leave a wrong impression of what was tried."""
    for name, (left_out, used) in options.items():
        if not (left_out or used):
            raise InvalidInput(
                f"{name} plays no part in this audit.", remedy="Leave it out.", where=name, code="command.usage"
            )


def _announce(outlook: Outlook) -> None:
    """Say what can be found before the audit starts."""
    click.echo(outlook.describe())


def _show(found: Verdict | Counterexample | None, announced: list[Outlook], *, as_json: bool) -> None:
    """Show the verdict or counterexample, and exit with the code that goes with it."""
    finding = found is not None and (isinstance(found, Counterexample) or found.finding)
    if as_json:
        foreseen = {"outlook": announced[0].to_dict()} if announced else {}
        emit({"finding": finding, **(found.to_dict() if found else {}), **foreseen})
    else:
        click.echo(found.describe() if found else "no counterexample in this world")
    sys.exit(1 if finding else 0)


def _audit_mechanism(name: str, budget: dict[str, Any]) -> Verdict | Counterexample | None:
    """Audit a claim or a subject of the user's own."""
    module, _, attribute = name.partition(":")
    sys.path.append(os.getcwd())  # last, so that nothing there takes the place of a package
    try:
        made: Any = getattr(import_module(module), attribute)
    except (ImportError, AttributeError, ValueError):
        raise _unknown(f"{name} cannot be imported.", "Write module:object.", "--mechanism") from None
    if hasattr(made, "finding"):
        found: Verdict | Counterexample | None = made.finding()
        return found
    if not all(hasattr(made, part) for part in ("guarantee", "pairs", "observe")):
        says = f"{name} is no claim and no subject of crowdblend.auditing."
        raise _unknown(says, "See docs/audit.md.", "--mechanism")
    return audit_foreseen(made, **budget)


def _unknown(message: str, remedy: str, where: str) -> InvalidInput:
    return InvalidInput(message, remedy=remedy, where=where, code="command.unknown-name")


def _broken(*, as_json: bool) -> None:
    rows = []
    for each in broken_mechanisms.BROKEN_MECHANISMS.values():
        found, honest = each.broken.finding(), each.honest.finding()
        how = "running it" if isinstance(found, Verdict) else "its definition"
        rows.append({"mechanism": each.name, "mistake": each.mistake, "caught": found is not None, "by": how,
                     "honest": honest is None})  # fmt: skip
    passed = all(row["caught"] and row["honest"] for row in rows)
    if as_json:
        emit({"passed": passed, "mechanisms": rows})
    else:
        for row in rows:
            says = f"caught by {row['by']}" if row["caught"] else "NOT CAUGHT"
            fair = "" if row["honest"] else "; AND THE HONEST MECHANISM IS REJECTED"
            click.echo(f"{row['mechanism']:22}{row['mistake']}: {says}{fair}")
        click.echo(f"{sum(bool(row['caught']) for row in rows)} of {len(rows)} broken mechanisms caught")
    sys.exit(0 if passed else 1)


def _own(
    known: Mapping[str, rehearsal.Family | rehearsal.InjectedBug],
    families: tuple[str, ...],
    runs: int,
    error: float,
    people: int | None,
    workers: int,
    understate: float,
    times: int,
    *,
    as_json: bool,
) -> None:
    for name in families:
        if name not in known:
            raise _unknown(f"There is no family {name!r}.", f"Use one of {'; '.join(known)}.", "--family")
    rows: list[dict[str, Any]] = []
    for family in [known[name] for name in families or known]:
        subject = family.subject(hard_sizes, understated=understate, people=people)
        started = time.perf_counter()
        with progress_bar(quiet=as_json) as bar:
            advance = (lambda done, _: bar(family.name, done, times)) if bar else None  # noqa: B023
            found = repeat(subject, times, runs=runs, error=error, workers=min(workers, times), progress=advance)
        words = {"mistake": family.words} if isinstance(family, rehearsal.InjectedBug) else {}
        rows.append({
            "family": family.name, **words, "epsilon": subject.guarantee.epsilon, "delta": subject.guarantee.delta,
            "audits": found.times, "findings": found.findings, "runs": found.runs,
            "seconds": round(time.perf_counter() - started, 1),
        })  # fmt: skip
    wrong = "mistake" in rows[0] or understate > 1
    enough = [row["findings"] >= POWER * times if wrong else row["findings"] <= error * times for row in rows]
    if as_json:
        emit({"passed": all(enough), "understated": understate, "error": error, "most_runs": runs, "families": rows})
    else:
        print_table("", list(rows[0]), [list(row.values()) for row in rows])
    sys.exit(0 if all(enough) else 1)
