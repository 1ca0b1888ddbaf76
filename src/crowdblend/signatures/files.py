"""Signature files: FILE.sig beside FILE, as `ssh-keygen -Y sign` names them."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from crowdblend.errors import CrowdblendError, DoesNotVerify, InvalidInput, Refused
from crowdblend.signatures import ssh_keygen
from crowdblend.signatures.keys import NEEDS_BCRYPT, Passphrase, load_key, needs_passphrase
from crowdblend.signatures.signers import Signer, check_signer, read_signers
from crowdblend.signatures.ssh_keygen import sign_by_program
from crowdblend.signatures.sshsig import Signature, parse, sign

SUFFIX = ".sig"
Sign = Callable[[bytes, str], str]
"""Signs a message for a namespace."""
_TRIAL = "crowdblend-trial"
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
    """Sign a file with a private key and write FILE.sig; refuses to replace a signature without `force`."""
    target = signature_file(path)
    if os.path.lexists(target) and not force:
        raise InvalidInput(
            f"{target} exists. Pass --force to replace the signature.", where="--force", code="output-exists"
        )
    message = _content(path)
    made = open_key(key, passphrase)(message, namespace)
    partial = target.with_name(f".{target.name}.{os.getpid()}")
    partial.write_text(made, encoding="ascii")
    partial.replace(target)
    return target


def open_key(path: str | os.PathLike[str], passphrase: Passphrase | None = None) -> Sign:
    """What signs with a private key; the key is opened now, so that nothing is asked for later.

    A key that only OpenSSH can decrypt is left to ssh-keygen: without a question where an ssh-agent holds it, else the
    passphrase is asked for and tried out.
    """
    try:
        key = load_key(path, passphrase)
    except CrowdblendError as problem:
        if problem.code != NEEDS_BCRYPT or not ssh_keygen.is_installed():
            raise
        return _opened_by_openssh(Path(path).expanduser(), passphrase)
    return lambda message, namespace: sign(message, key, namespace)


def _opened_by_openssh(path: Path, passphrase: Passphrase | None) -> Sign:
    stated: str | None = None
    try:
        sign_by_program(b"", path, _TRIAL)
    except Refused:
        if passphrase is None:
            raise needs_passphrase(path) from None
        stated = passphrase()
        sign_by_program(b"", path, _TRIAL, stated)
    return lambda message, namespace: sign_by_program(message, path, namespace, stated)


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
