"""Whose signatures count: public keys, as `ssh-keygen` writes them into .pub files."""

from __future__ import annotations

import base64
import binascii
import os
from pathlib import Path

from crowdblend.errors import DoesNotVerify, InvalidInput
from crowdblend.frozen import dataclass
from crowdblend.regular_files import read_regular
from crowdblend.signatures.sshsig import Signature, check

_KINDS = ("ssh-ed25519", "ssh-rsa", "ecdsa-sha2-nistp256", "ecdsa-sha2-nistp384", "ecdsa-sha2-nistp521")
_REMEDY = "Name a public key (.pub), or a file with one in each line."


@dataclass(frozen=True)
class Signer:
    """A key whose signatures count; `name` is the comment beside it."""

    name: str | None
    key: bytes


def read_signers(source: str | os.PathLike[str]) -> tuple[Signer, ...]:
    """Return the public keys in a file, one in each line, or the one that is given as text."""
    text = os.fspath(source)
    if text.partition(" ")[0] not in _KINDS:
        try:
            text = read_regular(Path(text).expanduser()).decode("utf-8")
        except (OSError, ValueError, RuntimeError):
            message = f"{text[:200]} cannot be read."
            raise InvalidInput(message, remedy=_REMEDY, where="--signer", code="key.not-readable") from None
    return tuple(_signer(number, line.strip()) for number, line in enumerate(text.strip().split("\n"), 1))


def _signer(number: int, line: str) -> Signer:
    try:
        kind, key, *name = line.split(maxsplit=2)
        if kind not in _KINDS:
            raise ValueError
        return Signer(name[0] if name else None, base64.b64decode(key, validate=True))
    except (ValueError, binascii.Error):
        message = f"Line {number} is no public key."
        raise InvalidInput(message, remedy=_REMEDY, where="--signer", code="key.format") from None


def check_signer(message: bytes, signature: Signature, namespace: str, signers: tuple[Signer, ...]) -> Signer:
    """Return the signer of a message; raises DoesNotVerify when it is none of these, or the message was edited."""
    check(message, signature, namespace)
    for signer in signers:
        if signer.key == signature.key:
            return signer
    problem = f"It was signed with the key {signature.fingerprint}, which is none of those given. Ask the publisher."
    raise DoesNotVerify(problem, where="--signer", code="signature.signer")
