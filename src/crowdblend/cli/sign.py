"""`crowdblend sign`."""

from __future__ import annotations

from pathlib import Path

import click

from crowdblend.cli.output import answer, answers, force_option
from crowdblend.publishing.signing import NAMESPACE, sign_release


@click.command("sign", epilog="Example: crowdblend sign published --key ~/.ssh/id_ed25519")
@click.argument("folder", metavar="DIR")
@click.option("--key", required=True, metavar="KEY", help="Your private SSH key; if it is encrypted, you are asked.")
@force_option
@answers
def command(folder: str, *, key: str, force: bool) -> None:
    """Sign the certificate of a release with an SSH key, after verifying the folder.

    The certificate has the hash of every other file, so its signature covers the release. ssh-keygen checks it without
    us: ssh-keygen -Y verify -n crowdblend-certificate.
    """
    made = sign_release(Path(folder), key, passphrase=ask_passphrase, force=force)
    answer({"signature": str(made), "namespace": NAMESPACE}, f"signed: {made}")


def ask_passphrase() -> str:
    """Return the passphrase of a key, asked for on the terminal and not shown."""
    answer: str = click.prompt("Passphrase of the key", hide_input=True, err=True)
    return answer
