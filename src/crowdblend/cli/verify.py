"""`crowdblend verify`."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from crowdblend.calculus import Certificate, verify, verify_file
from crowdblend.calculus.encoding import encode
from crowdblend.cli.output import emit, json_option, speaks


@click.command("verify", epilog="Example: crowdblend verify certificate.json")
@click.argument("target")
@json_option
@speaks
def command(target: str, *, as_json: bool) -> None:
    """Recompute every number of a certificate from its leaves, and refuse what does not follow.

    TARGET is a certificate, a release folder, or '-' for stdin.
    """
    certificate = verify(sys.stdin.read()) if target == "-" else verify_file(Path(target))
    if as_json:
        emit({"verified": True, "promises": [encode(guarantee) for guarantee in certificate.guarantees]})
    else:
        _tell(certificate)


def _tell(certificate: Certificate) -> None:
    files = certificate.facts.get("files")
    data = ", and every data file is the one that was certified" if files else ""
    click.echo(f"verified: every number follows from the leaves{data}.")
    for guarantee in certificate.guarantees:
        click.echo(f"  promise   {guarantee.words()}")
    for assumption in certificate.assumptions():
        click.echo(f"  assuming  {assumption}")
