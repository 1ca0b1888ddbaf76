"""`crowdblend studio`."""

from __future__ import annotations

import os
import threading

import click

from crowdblend.cli.output import answers, asks_for_json, emit
from crowdblend.errors import Unavailable
from crowdblend.trusted.machine.lazy import lazy_imports

with lazy_imports():
    from crowdblend.studio import server


@click.command("studio", epilog="Example: crowdblend studio --root data")
@click.option("--root", metavar="DIR", default=".", help="The folder that files are chosen from; here unless given.")
@click.option(
    "--port", type=click.IntRange(0, 65535), default=8765, show_default=True, help="Another one if it is taken."
)
@click.option("--ledger", metavar="URL", help="The ledger to record releases in.")
@click.option("--read-only", is_flag=True, help="For looking only: nothing is drafted or published.")
@click.option("--open", "browser", is_flag=True, help="Open the address in the browser.")
@answers
def command(*, root: str, port: int, ledger: str | None, read_only: bool, browser: bool) -> None:
    """Make releases on web pages of your own machine, from the data to the published folder.

    The printed address works once, and on this machine only. Stop the studio with Ctrl-C.
    """
    try:
        serve = server.serve
    except ImportError:
        message = "The studio needs packages that are not installed."
        remedy = 'Install them in a checkout of crowdblend: pip install ".[studio]".'
        raise Unavailable(message, remedy=remedy, where="studio", code="studio.not-installed") from None

    as_json = asks_for_json()

    def ready(address: str) -> None:
        if as_json:
            emit({"address": address})
        else:
            click.echo(f"crowdblend studio is at {address}")
            click.echo("The address works once. Stop with Ctrl-C.", err=True)
        if browser:
            click.launch(address)

    try:
        serve(root, port=port, ledger=ledger, read_only=read_only, ready=ready)
    except KeyboardInterrupt:
        # A page may still wait for a database that does not answer; everything else is closed, and nobody waits for it.
        if threading.active_count() > 1:
            os._exit(130)
        raise
