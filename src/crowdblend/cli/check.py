"""`crowdblend check`."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import click

from crowdblend.api.private_check import check
from crowdblend.cli.output import asks_for_json, emit, force_option, json_option, printable, wrong_use
from crowdblend.cli.progress import progress_line
from crowdblend.notation import TOML


@click.command("check", epilog="Example: crowdblend check policy.toml")
@click.argument("policy", type=click.Path(dir_okay=False))
@click.option("--out", metavar="FILE", help="Write it to a file that only you can read; '-' for stdout.")
@force_option
@json_option
def command(policy: str, *, out: str | None, force: bool, as_json: bool) -> None:
    """Hold every row against what a policy declares: for you alone.

    Values that do not fit and how often, blanks, people with several rows, forms of dates, ids that number rows. This
    command alone shows values and counts. It draws nobody, spends nothing, and records and keeps nothing. Where stdout
    is no terminal it names columns alone, since logs are kept, unless --out or --json says where to write.

    Exit code 1 where a release would be refused.
    """
    with progress_line(quiet=asks_for_json()) as progress:
        found = check(None, policy, progress=progress)
    text = json.dumps(found.to_dict(TOML), ensure_ascii=False, indent=2) if as_json else found.describe(TOML)
    if out not in (None, "-"):
        _write_private(Path(str(out)), text + "\n", force=force)
        click.echo(f"wrote {out}, which only you can read", err=as_json)
    elif as_json:
        emit(found.to_dict(TOML))
    elif out == "-" or sys.stdout.isatty():
        click.echo("\n".join(map(printable, text.splitlines())))
    else:
        click.echo(f"{printable(found.verdict())} Values and counts are shown at a terminal, or with --out FILE.")
    if not found.fits:
        sys.exit(1)


def _write_private(path: Path, text: str, *, force: bool) -> None:
    """Write a file of mode 0600, never one that others could have opened before."""
    if force:
        path.unlink(missing_ok=True)
    try:
        made = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        raise wrong_use(f"{path} exists.", "Pass --force to replace it.", "--out", "exists") from None
    with os.fdopen(made, "w", encoding="utf-8", newline="\n") as file:
        file.write(text)
