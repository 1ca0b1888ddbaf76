"""`crowdblend rehearse`."""

from __future__ import annotations

from functools import partial
from typing import Any

import click

from crowdblend.api.rehearsals import rehearse
from crowdblend.cli.output import answers, asks_for_json, emit, print_table, show
from crowdblend.cli.progress import progress_line
from crowdblend.lab.rehearsal.rehearse import USUAL_TIMES, side_by_side
from crowdblend.policies.load import load_policy
from crowdblend.policies.policy import Policy


@click.command("rehearse", epilog="Example: crowdblend rehearse policy.toml --people 50000 --compare other.toml")
@click.argument("policy", metavar="POLICY")
@click.option("--compare", multiple=True, metavar="POLICY", help="Another policy beside it; may be repeated.")
@click.option("--publication", metavar="NAME", help="Which publication, where there are several; all unless given.")
@click.option("--people", type=int, help="How many people to make up; 100,000 unless the policy says it.")
@click.option(
    "--spread",
    type=float,
    default=1.0,
    show_default=True,
    help="How unevenly people are in classes: 0 evenly, 1 as 1, 1/2, 1/3 and so on.",
)
@click.option(
    "--sparsity", type=float, default=0.0, show_default=True, help="The share of all cells that stay empty at least."
)
@click.option("--like", metavar="FILE", help="A public CSV or Parquet file to draw people from instead.")
@click.option("--times", type=int, help="How many releases to rehearse; 20, or fewer of those that take long.")
@answers
def command(*, policy: str, publication: str | None, compare: tuple[str, ...], **made_up: Any) -> None:
    """Release made-up people of the declared domain, and say what to expect.

    Your data are not read, nothing is spent, and nothing is recorded.
    """
    expected = []
    asked = [each for one in (policy, *compare) for each in _publications(one, publication)]
    for one, name in asked:
        with progress_line(quiet=asks_for_json()) as line:
            advance = line and partial(line, total=made_up["times"] or USUAL_TIMES)
            expected.append(rehearse(one, publication=name, **made_up, progress=advance))
    if asks_for_json():
        first = expected[0].to_dict()
        emit({**first, "compared": [other.to_dict() for other in expected[1:]]} if len(asked) > 1 else first)
        return
    click.echo(expected[0].note)
    rows = [
        [name, *("" if value is None else show(value) for value in found)] for name, found in side_by_side(expected)
    ]
    print_table(["", *(one.policy for one in expected)], rows)


def _publications(path: str, name: str | None) -> list[tuple[str | Policy, str | None]]:
    """Return the policy and the publications to rehearse: the named one, or all."""
    loaded = load_policy(path)
    if name is not None or not loaded.is_programme:
        return [(path, name)]
    return [(loaded, one.name) for one in loaded.publish]
