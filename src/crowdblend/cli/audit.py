"""`crowdblend audit`."""

from __future__ import annotations

import math
import os
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click

from crowdblend.api.checks import audit as audit_policy
from crowdblend.auditing.claim import Claim
from crowdblend.auditing.exact import Counterexample
from crowdblend.auditing.statistical import Outlook, Verdict, audit_foreseen, hard_sizes, repeat
from crowdblend.cli.output import Parameter, emit, handle_errors, json_option, print_table
from crowdblend.cli.progress import progress_bar
from crowdblend.errors import InvalidInput

# An audit of a claim that is really broken must say so this often.
POWER = 0.95
# Runs of an audit of our own mechanisms, and of one that may be interrupted.
RUNS = 100_000


@click.command("audit", epilog="Example: crowdblend audit policy.toml --runs 20000")
@click.argument("policy", type=click.Path(dir_okay=False), required=False)
@click.option("--mechanism", metavar="MODULE:OBJECT", help="Audit a mechanism of yours instead.")
@click.option("--twins", is_flag=True, help="Show that mechanisms with one mistake each are caught.")
@click.option("--own", is_flag=True, help="Audit our own mechanisms, where their guarantees are tight.")
@click.option("--planted", is_flag=True, help="Audit our own mechanisms with one mistake planted in each.")
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
@click.option(
    "--state", metavar="FILE", help="Keep what was seen in this file, and go on from it after an interruption."
)
@click.option("--understate", type=float, default=1.0, help="Claim epsilon divided by this, to test the audit.")
@click.option(
    "--repeat",
    "times",
    type=int,
    default=1,
    help="With --own and --planted: how many audits of each, to count their findings.",
)
@click.option("--family", "families", multiple=True, metavar="NAME", help="With --own and --planted: only these.")
@json_option
@handle_errors
def command(
    policy: str | None,
    *,
    mechanism: str | None,
    twins: bool,
    own: bool,
    planted: bool,
    epsilon: float | None,
    seconds: float | None,
    runs: int | None,
    error: float,
    people: int | None,
    batch: bool,
    workers: int | None,
    state: str | None,
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
    if sum((policy is not None, mechanism is not None, twins, own, planted)) != 1:
        raise InvalidInput(
            "audit takes exactly one of POLICY, --mechanism, --twins, --own and --planted.",
            remedy="Name what to audit.",
            code="command.usage",
            where="POLICY",
        )
    ours = own or planted
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
            "--state": (state is None, policy is not None or mechanism is not None),
            "--repeat": (times == 1, ours),
            "--family": (not families, ours),
            "--time": (seconds is None, (policy is not None or mechanism is not None) and runs is None and not state),
        }
    )
    force = workers or os.cpu_count() or 1
    where = Path(state) if state else None
    if twins:
        _twins(as_json=as_json)
    elif ours:
        _own(families, runs or RUNS, error, people, force, understate, times, planted=planted, as_json=as_json)
    else:
        budget: dict[str, Any] = {"runs": RUNS if state and runs is None else runs, "seconds": seconds}
        budget |= {"error": error, "workers": force, "state": where}
        if mechanism is not None:
            _mechanism(mechanism, budget, as_json=as_json)
        else:
            assert policy is not None
            with _watched(as_json=as_json) as watched:
                verdict = audit_policy(
                    policy, people=people, epsilon=epsilon, understate=understate, batch=batch, **budget,
                    **watched.callbacks,
                )  # fmt: skip
            _tell(verdict, watched.outlook, as_json=as_json)


def _refuse_unused(options: dict[str, tuple[bool, bool]]) -> None:
    """An option that plays no part here would leave a wrong impression of what was tried."""
    for name, (left_out, used) in options.items():
        if not (left_out or used):
            raise InvalidInput(
                f"{name} plays no part in this audit.", remedy="Leave it out.", where=name, code="command.usage"
            )


class _Watched:
    """Says what can be found before the audit starts, and keeps it for the JSON."""

    def __init__(self, progress: Any, *, as_json: bool) -> None:
        self.outlook: Outlook | None = None
        self._as_json = as_json
        self.callbacks: dict[str, Any] = {"progress": progress, "announce": self._announce}

    def _announce(self, outlook: Outlook) -> None:
        self.outlook = outlook
        if not self._as_json:
            click.echo(outlook.describe())


@contextmanager
def _watched(*, as_json: bool) -> Iterator[_Watched]:
    with progress_bar(quiet=as_json) as told:
        yield _Watched(told, as_json=as_json)


def _tell(found: Verdict | Counterexample | None, outlook: Outlook | None = None, *, as_json: bool) -> None:
    """The verdict or counterexample, and the exit code that goes with it."""
    finding = found is not None and (isinstance(found, Counterexample) or found.finding)
    if as_json:
        foreseen = {} if outlook is None else {"outlook": outlook.to_dict()}
        emit({"finding": finding, **(found.to_dict() if found else {}), **foreseen})
    else:
        click.echo(found.describe() if found else "no counterexample in this world")
    sys.exit(1 if finding else 0)


def _mechanism(name: str, budget: dict[str, Any], *, as_json: bool) -> None:
    made = _loaded(name)
    if hasattr(made, "finding"):
        claim: Claim = made
        _tell(claim.finding(), as_json=as_json)
    if not all(hasattr(made, part) for part in ("guarantee", "pairs", "observe")):
        raise InvalidInput(
            f"{name} is no claim and no subject of crowdblend.auditing.",
            remedy="See docs/audit.md.",
            where="--mechanism",
            code="command.unknown-name",
        )
    with _watched(as_json=as_json) as watched:
        verdict = audit_foreseen(made, **budget, **watched.callbacks)
    _tell(verdict, watched.outlook, as_json=as_json)


def _loaded(name: str) -> Any:
    from importlib import import_module  # noqa: PLC0415

    module, _, attribute = name.partition(":")
    sys.path.insert(0, os.getcwd())
    try:
        return getattr(import_module(module), attribute)
    except (ImportError, AttributeError, ValueError):
        raise InvalidInput(
            f"{name} cannot be imported.",
            remedy="Write module:object.",
            where="--mechanism",
            code="command.unknown-name",
        ) from None


def _twins(*, as_json: bool) -> None:
    from crowdblend.auditing.broken_mechanisms import BROKEN_MECHANISMS  # noqa: PLC0415

    rows = []
    for twin in BROKEN_MECHANISMS.values():
        broken, honest = twin.broken.finding(), twin.honest.finding()
        how = "running it" if isinstance(broken, Verdict) else "its definition"
        rows.append({"twin": twin.name, "mistake": twin.mistake, "caught": broken is not None, "by": how,
                     "honest": honest is None})  # fmt: skip
    passed = all(row["caught"] and row["honest"] for row in rows)
    if as_json:
        emit({"passed": passed, "twins": rows})
    else:
        for row in rows:
            says = f"caught by {row['by']}" if row["caught"] else "NOT CAUGHT"
            fair = "" if row["honest"] else "; AND ITS HONEST TWIN IS REJECTED"
            click.echo(f"{row['twin']:22}{row['mistake']}: {says}{fair}")
        click.echo(f"{sum(bool(row['caught']) for row in rows)} of {len(rows)} broken twins caught")
    sys.exit(0 if passed else 1)


def _own(
    families: tuple[str, ...],
    runs: int,
    error: float,
    people: int | None,
    workers: int,
    understate: float,
    times: int,
    *,
    planted: bool,
    as_json: bool,
) -> None:
    from crowdblend.rehearsal import FAMILIES, PLANTED  # noqa: PLC0415  loads the engine

    known: Mapping[str, Any] = PLANTED if planted else FAMILIES
    for name in families:
        if name not in known:
            raise InvalidInput(
                f"There is no family {name!r}.",
                remedy=f"Use one of {'; '.join(known)}.",
                where="--family",
                code="command.unknown-name",
            )
    rows: list[dict[str, Any]] = []
    for family in [known[name] for name in families or known]:
        subject = family.subject(hard_sizes, understated=understate, people=people)
        started = time.perf_counter()
        with progress_bar(quiet=as_json) as told:
            said = (lambda done, _: told(family.name, done, times)) if told else None  # noqa: B023
            found = repeat(subject, times, runs=runs, error=error, workers=min(workers, times), progress=said)
        words = {"mistake": family.words} if planted else {}
        rows.append({
            "family": family.name, **words, "epsilon": subject.guarantee.epsilon, "delta": subject.guarantee.delta,
            "audits": found.times, "findings": found.findings, "runs": found.runs,
            "seconds": round(time.perf_counter() - started, 1),
        })  # fmt: skip
    broken = planted or understate > 1
    enough = [row["findings"] >= POWER * times if broken else row["findings"] <= error * times for row in rows]
    if as_json:
        emit({"passed": all(enough), "understated": understate, "error": error, "most_runs": runs, "families": rows})
    else:
        print_table("", list(rows[0]), [list(row.values()) for row in rows])
    sys.exit(0 if all(enough) else 1)
