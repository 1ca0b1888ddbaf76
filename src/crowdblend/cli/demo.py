"""`crowdblend demo`."""

from __future__ import annotations

from importlib import resources
from pathlib import Path

import click

from crowdblend.cli.output import answer, answers, asks_for_json, force_option
from crowdblend.cli.progress import progress_line
from crowdblend.errors import InvalidInput
from crowdblend.kinds.shared.facts import read_facts
from crowdblend.lab.demo import write_friendships, write_population
from crowdblend.ledger import Ledger
from crowdblend.policies.load import load_policy
from crowdblend.publishing.release import release
from crowdblend.publishing.target import check_target
from crowdblend.reading.verification.consistency import verify_release

POLICIES = ("town-table", "town-noise", "town-microdata")


@click.command("demo", epilog="Example: crowdblend demo --out out/demo")
@click.option("--out", metavar="DIR", default="out/demo", show_default=True, help="Where everything is written.")
@force_option
@answers
def command(*, out: str, force: bool) -> None:
    """Make up a town of 200,000 people, publish it in three ways, and verify what was published."""
    folder = Path(out)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as problem:
        message = f"{out} cannot be written: {problem.strerror}. Name another folder."
        raise InvalidInput(message, where="--out", code="output.not-writable") from None
    for name in POLICIES:
        check_target(folder / name, force=force)
    say = (lambda _: None) if asks_for_json() else click.echo
    say("Making up a town of 200,000 people …")
    write_population(folder / "town.parquet")
    write_friendships(folder / "friendships.parquet")
    made = []
    for name in POLICIES:
        policy = folder / f"{name}.toml"
        policy.write_bytes((resources.files("crowdblend.lab.demo") / policy.name).read_bytes())
        with progress_line(quiet=asks_for_json()) as progress:
            books = folder / "ledger.sqlite"
            ledger = Ledger.open(books) if books.exists() else Ledger.create(books)
            done = release(load_policy(policy), folder / name, ledger=ledger, force=force, progress=progress)
        planned = read_facts(done.certificate.facts).parameters
        verify_release(folder / name)
        say(
            f"\n{name}: crowds of {planned['k']}, rate {planned['rate']}, epsilon {planned['epsilon']}, "
            f"delta {planned['delta']}; verified."
        )
        say(f"  {done.certificate.guarantees[1].words()}")
        report = folder / name / "report.html"
        say(f"  report: {report}")
        made.append({"folder": str(done.folder), "report": str(report), "k": planned["k"]})
    answer({"releases": made, "verified": True})
