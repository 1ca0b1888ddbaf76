"""`crowdblend verify`."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from crowdblend.calculus import Certificate, verify, verify_file
from crowdblend.calculus.encoding import encode
from crowdblend.calculus.reading import MOST_BYTES
from crowdblend.cli.output import emit, json_option, speaks


@click.command("verify", epilog="Example: crowdblend verify published")
@click.argument("target")
@json_option
@speaks
def command(target: str, *, as_json: bool) -> None:
    """Recompute every number of a certificate from its leaves, and refuse what does not follow.

    TARGET is a release folder, a certificate alone, or '-' for stdin. Only with a folder are the data checked too.
    """
    with_data = target != "-" and Path(target).is_dir()
    certificate = verify(sys.stdin.read(MOST_BYTES + 1)) if target == "-" else verify_file(Path(target))
    if as_json:
        guarantees = [encode(guarantee) for guarantee in certificate.guarantees]
        emit({"verified": True, "data_checked": with_data, "guarantees": guarantees})
    else:
        _tell(certificate, with_data=with_data)


def _tell(certificate: Certificate, *, with_data: bool) -> None:
    said = "The derivation is sound."
    if certificate.facts.get("files"):
        unchecked = "The derivation is sound. The data were not checked; run crowdblend verify FOLDER."
        said = "The derivation is sound, and every data file is the one that was certified." if with_data else unchecked
    click.echo(said)
    for guarantee in certificate.guarantees:
        click.echo(f"  guarantee  {guarantee.words()}")
    for assumed in certificate.assumptions():
        click.echo(f"  assuming   {assumed.sentence()}")
