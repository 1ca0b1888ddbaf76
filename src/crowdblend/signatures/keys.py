"""Private SSH keys from files; an encrypted one asks for its passphrase."""

from __future__ import annotations

import os
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from cryptography.hazmat.primitives.serialization import load_pem_private_key, load_ssh_private_key

from crowdblend.errors import InvalidInput, Refused, Unavailable
from crowdblend.signatures.sshsig import PrivateKey

Passphrase = Callable[[], str]
"""Asks for a passphrase; it is called only when a key is encrypted."""
NEEDS_BCRYPT = "key.bcrypt"
"""The code of the refusal of a key that is encrypted in OpenSSH's own way, where the package bcrypt is missing."""
_CURVES = (256, 384, 521)


def load_key(path: str | os.PathLike[str], passphrase: Passphrase | None = None) -> PrivateKey:
    """The private key in a file that `ssh-keygen` wrote."""
    try:
        content = Path(path).expanduser().read_bytes()
    except (OSError, RuntimeError, ValueError):
        raise InvalidInput(
            f"the key {os.fspath(path)} cannot be read.",
            remedy="Name the private key, such as ~/.ssh/id_ed25519.",
            where="--sign",
            code="key.not-readable",
        ) from None
    try:
        return _checked(_load(content, None))
    except TypeError:  # it is encrypted
        refuse_without_bcrypt(content)
    if passphrase is None:
        raise needs_passphrase(path)
    try:
        return _checked(_load(content, passphrase().encode()))
    except (ValueError, TypeError):
        raise Refused(
            "the passphrase does not open the key. Try again.", where="--sign", code="key.passphrase"
        ) from None


def needs_passphrase(path: str | os.PathLike[str]) -> InvalidInput:
    """The refusal of an encrypted key where there is nobody to ask."""
    return InvalidInput(
        f"the key {os.fspath(path)} is encrypted.",
        remedy="Pass its passphrase, or add the key to your ssh-agent.",
        where="--sign",
        code="key.passphrase",
    )


def refuse_without_bcrypt(content: bytes) -> None:
    """Refuse a key that is encrypted in OpenSSH's own way before its passphrase is asked for in vain."""
    if b"OPENSSH PRIVATE KEY" in content and find_spec("bcrypt") is None:
        raise Unavailable(
            "this key is encrypted, and opening it needs the program ssh-keygen or the package bcrypt.",
            remedy="Install OpenSSH or bcrypt.",
            where="--sign",
            code=NEEDS_BCRYPT,
        )


def _load(content: bytes, passphrase: bytes | None) -> object:
    load = load_ssh_private_key if b"OPENSSH PRIVATE KEY" in content else load_pem_private_key
    try:
        return load(content, passphrase)
    except UnsupportedAlgorithm:
        raise InvalidInput(
            "this kind of key cannot be read. Use an Ed25519 key.", where="--sign", code="key.kind"
        ) from None
    except ValueError as problem:
        if passphrase is None:
            # Of an encrypted key without a passphrase cryptography says so, in one of two ways.
            if "encrypted" in str(problem).lower():
                raise TypeError from None
            raise InvalidInput(
                "this is no private SSH key. Name the file without .pub.", where="--sign", code="key.format"
            ) from None
        raise


def _checked(key: object) -> PrivateKey:
    if isinstance(key, ed25519.Ed25519PrivateKey):
        return key
    if isinstance(key, rsa.RSAPrivateKey) and key.key_size >= 2048:
        return key
    if isinstance(key, ec.EllipticCurvePrivateKey) and key.curve.key_size in _CURVES:
        return key
    raise InvalidInput(
        "signatures are made with Ed25519, ECDSA or RSA keys of at least 2048 bits. Use another key.",
        where="--sign",
        code="key.kind",
    )
