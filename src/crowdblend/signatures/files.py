"""Signature files: FILE.sig beside FILE, as `ssh-keygen -Y sign` names them."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

from crowdblend.errors import CrowdblendError, DoesNotVerify, InvalidInput, Refused
from crowdblend.signatures.keys import NEEDS_BCRYPT, Passphrase, load_key
from crowdblend.signatures.signers import Signer, check_signer, read_signers
from crowdblend.signatures.sshsig import Signature, parse, sign

SUFFIX = ".sig"
_MOST_BYTES = 1 << 16


def signature_file(path: Path) -> Path:
    """Where the signature of a file is."""
    return path.with_name(path.name + SUFFIX)


def sign_file(
    path: Path,
    key: str | os.PathLike[str],
    namespace: str,
    *,
    passphrase: Passphrase | None = None,
    force: bool = False,
) -> Path:
    """Sign a file with a private key and write FILE.sig; refuses to replace a signature without `force`.

    An encrypted key that this process cannot decrypt is left to ssh-keygen, which asks for the passphrase itself.
    """
    target = signature_file(path)
    if os.path.lexists(target) and not force:
        raise InvalidInput(
            f"{target} exists. Pass --force to replace the signature.", where="--force", code="output-exists"
        )
    message = _content(path)
    try:
        made = sign(message, load_key(key, passphrase), namespace)
    except CrowdblendError as problem:
        if problem.code != NEEDS_BCRYPT or shutil.which("ssh-keygen") is None:
            raise
        made = _by_ssh_keygen(message, key, namespace)
    partial = target.with_name(f".{target.name}.{os.getpid()}")
    partial.write_text(made, encoding="ascii")
    partial.replace(target)
    return target


def read_signature(path: Path) -> Signature:
    """The signature beside a file; refuses one that is missing or none."""
    target = signature_file(path)
    try:
        with target.open("rb") as file:
            text = file.read(_MOST_BYTES).decode("ascii", "replace")
    except OSError:
        raise DoesNotVerify(
            f"{target.name} is missing: this was not signed. Ask the publisher for the signature.",
            where=target.name,
            code="signature.missing",
        ) from None
    return parse(text)


def check_file(path: Path, signer: str | os.PathLike[str], namespace: str) -> Signer:
    """The signer who signed a file; raises DoesNotVerify when none of those that count did."""
    signers = read_signers(signer)
    return check_signer(_content(path), read_signature(path), namespace, signers)


def _content(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except (OSError, ValueError) as problem:
        reason = getattr(problem, "strerror", None) or "no file has this name"
        raise InvalidInput(f"{path} cannot be read: {reason}.", where=path.name, code="input.not-readable") from None


def _by_ssh_keygen(message: bytes, key: str | os.PathLike[str], namespace: str) -> str:
    command = ["ssh-keygen", "-Y", "sign", "-q", "-f", os.fspath(Path(key).expanduser()), "-n", namespace]
    done = subprocess.run(command, input=message, capture_output=True, check=False)
    if done.returncode != 0:
        raise Refused(
            "ssh-keygen did not sign with this key. Check the passphrase.", where="--sign", code="key.passphrase"
        )
    return done.stdout.decode("ascii")
