"""`crowdblend audit`."""

from __future__ import annotations

import math
import os
import sys
from importlib import import_module
from typing import Any

import click

from crowdblend.api.checks import audit as audit_policy
from crowdblend.cli.output import Parameter, answer, answers, asks_for_json, wrong_use
from crowdblend.cli.progress import progress_line
from crowdblend.lab.auditing.exact.definitions import Counterexample
from crowdblend.lab.auditing.statistical.outlook import Outlook, audit_foreseen
from crowdblend.lab.auditing.statistical.run import Verdict


@click.command("audit", epilog="Example: crowdblend audit policy.toml --runs 20000")
@click.argument("policy", type=click.Path(dir_okay=False), required=False)
@click.option("--publication", metavar="NAME", help="Which publication of the policy, where it has several.")
@click.option("--mechanism", metavar="MODULE:OBJECT", help="Audit a mechanism of yours instead.")
@click.option(
    "--epsilon", type=Parameter(), help="Audit the same release at this epsilon, with the delta it has there."
)
@click.option("--time", "seconds", type=float, metavar="SECONDS", help="How long to look at most; by default 60.")
@click.option("--runs", type=int, help="How often the release is run at most, instead of --time.")
@click.option("--error", type=float, default=1e-3, show_default=True, help="How likely a false alarm may be.")
@click.option(
    "--people", type=int, help="How many made-up people there are; by default 1000, or as many as the policy says."
)
@click.option("--batch", is_flag=True, help="Run many releases as one: far more of them in the same time.")
@click.option("--workers", type=int, help="Processes; by default one per core.")
@click.option("--understate", type=float, default=1.0, help="Claim epsilon divided by this, to test the audit.")
@answers
def command(
    policy: str | None,
    *,
    publication: str | None,
    mechanism: str | None,
    epsilon: float | None,
    seconds: float | None,
    runs: int | None,
    error: float,
    people: int | None,
    batch: bool,
    workers: int | None,
    understate: float,
) -> None:
    """Try to break what a policy or a mechanism guarantees; exit code 1 if it is broken.

    A policy is run many times on made-up people, never on your data. Nothing is published, and nothing is recorded.
    The first line says what it can find in the time given, and what not. An audit without a finding is no proof: the
    proof is in the certificate.
    """
    if (policy is None) == (mechanism is None):
        raise wrong_use("audit takes exactly one of POLICY and --mechanism.", "Name what to audit.", "POLICY")
    least = {"understate": (understate, 1), "workers": (workers, 1), "people": (people, 2), "time": (seconds, 1)}
    for name, (value, bound) in least.items():
        if value is not None and not bound <= value < math.inf:
            message = f"--{name} takes a number of at least {bound}, got {value:g}."
            raise wrong_use(message, "Raise it, or leave it out.", f"--{name}", "range")
    of_policies = {"epsilon": epsilon, "understate": understate > 1, "people": people, "batch": batch}
    unused = [name for name, given in of_policies.items() if given and policy is None]
    if seconds is not None and runs is not None:
        unused.append("time")
    for name in unused:  # an option that plays no part would leave a wrong impression of what was tried
        raise wrong_use(f"--{name} plays no part in this audit.", "Leave it out.", f"--{name}")
    budget: dict[str, Any] = {
        "runs": runs,
        "seconds": seconds,
        "error": error,
        "workers": workers or os.cpu_count() or 1,
    }
    announced: list[Outlook] = []
    with progress_line(quiet=asks_for_json()) as bar:
        budget |= {"progress": bar, "announce": announced.append}
        if not asks_for_json():  # what can be found is said before the audit starts
            budget["announce"] = lambda outlook: click.echo(outlook.describe())
        if mechanism is not None:
            found = _audit_mechanism(mechanism, budget)
        else:
            assert policy is not None
            how: dict[str, Any] = {"epsilon": epsilon, "understate": understate, "batch": batch}
            found = audit_policy(policy, publication=publication, people=people, **how, **budget)
    finding = found is not None and (isinstance(found, Counterexample) or found.finding)
    foreseen = {"outlook": announced[0].to_dict()} if announced else {}
    said = found.describe() if found else "no counterexample in this world"
    answer({"finding": finding, **(found.to_dict() if found else {}), **foreseen}, said)
    sys.exit(1 if finding else 0)


def _audit_mechanism(name: str, budget: dict[str, Any]) -> Verdict | Counterexample | None:
    """Audit a claim or a subject of the user's own."""
    module, _, attribute = name.partition(":")
    sys.path.append(os.getcwd())  # last, so that nothing there takes the place of a package
    try:
        made: Any = getattr(import_module(module), attribute)
    except (ImportError, AttributeError, ValueError):
        raise wrong_use(f"{name} cannot be imported.", "Write module:object.", "--mechanism", "unknown-name") from None
    if hasattr(made, "finding"):
        found: Verdict | Counterexample | None = made.finding()
        return found
    if not all(hasattr(made, part) for part in ("guarantee", "pairs", "observe")):
        message = f"{name} is no claim and no subject of crowdblend.lab.auditing."
        raise wrong_use(message, "See docs/audit.md.", "--mechanism", "unknown-name")
    return audit_foreseen(made, **budget)
