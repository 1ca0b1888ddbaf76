"""Files of `ssh-keygen`: signatures (FILE.sig beside FILE), private keys, and public keys whose signatures count."""

from __future__ import annotations

import base64
import binascii
import os
import struct
from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from cryptography.hazmat.primitives.serialization import load_pem_private_key, load_ssh_private_key

from crowdblend.errors import DoesNotVerify, InvalidInput, Refused, Unavailable
from crowdblend.trusted.machine.regular_files import read_regular
from crowdblend.trusted.signatures.sshsig import PrivateKey, Signature, check, kind_of, parse, sign

SUFFIX = ".sig"
Sign = Callable[[bytes, str], str]
"""Signs a message for a namespace."""
_MOST_BYTES = 1 << 16


def signature_file(path: Path) -> Path:
    """Return the path of a file's signature."""
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
            f"{target} exists. Pass `--force` to replace the signature.", where="force", code="output-exists"
        )
    message = _content(path)
    made = open_key(key, passphrase)(message, namespace)
    partial = target.with_name(f".{target.name}.{os.getpid()}")
    partial.write_text(made, encoding="ascii", newline="\n")
    partial.replace(target)
    return target


def open_key(path: str | os.PathLike[str], passphrase: Passphrase | None = None) -> Sign:
    """Return what signs with a private key; the key is opened now, so that nothing is asked for later."""
    key = load_key(path, passphrase)
    return lambda message, namespace: sign(message, key, namespace)


def read_signature(path: Path) -> Signature:
    """Return the signature beside a file; refuse one that is missing or none."""
    target = signature_file(path)
    try:
        text = read_regular(target, _MOST_BYTES).decode("ascii", "replace")
    except OSError as problem:
        missing = isinstance(problem, FileNotFoundError)
        why = "is missing: this was not signed" if missing else f"cannot be read: {problem.strerror}"
        message = f"{target.name} {why}. Ask the publisher for the signature."
        raise DoesNotVerify(message, where=target.name, code="signature.missing") from None
    return parse(text)


def check_file(path: Path, signer: str | os.PathLike[str], namespace: str) -> Signer:
    """Return the signer who signed a file; raise DoesNotVerify when none of those that count did."""
    signers = read_signers(signer)
    return check_signer(_content(path), read_signature(path), namespace, signers)


def _content(path: Path) -> bytes:
    try:
        return read_regular(path)
    except (OSError, ValueError) as problem:
        reason = getattr(problem, "strerror", None) or "no file has this name"
        raise InvalidInput(f"{path} cannot be read: {reason}.", where=path.name, code="input.not-readable") from None


Passphrase = Callable[[], str]
"""Asks for a passphrase; it is called only when a key is encrypted."""
_CURVES = (256, 384, 521)


def load_key(path: str | os.PathLike[str], passphrase: Passphrase | None = None) -> PrivateKey:
    """Return the private key in a file that `ssh-keygen` wrote."""
    try:
        content = read_regular(Path(path).expanduser(), _MOST_BYTES)
    except (OSError, RuntimeError, ValueError):
        problem = f"The key {os.fspath(path)} cannot be read."
        remedy = "Name the private key, such as ~/.ssh/id_ed25519."
        raise InvalidInput(problem, remedy=remedy, where="`--sign`", code="key.not-readable") from None
    try:
        return _check_key(_load(content, None))
    except TypeError:  # it is encrypted, and if in OpenSSH's own way, a passphrase may be asked for in vain
        if b"OPENSSH PRIVATE KEY" in content and find_spec("bcrypt") is None:
            problem = "This key is encrypted in OpenSSH's own way, which needs the package bcrypt."
            remedy = "Install bcrypt, or sign certificate.json yourself: ssh-keygen -Y sign -n crowdblend-certificate."
            raise Unavailable(problem, remedy=remedy, where="`--sign`", code="key.bcrypt") from None
    if passphrase is None:
        problem = f"The key {os.fspath(path)} is encrypted."
        raise InvalidInput(problem, remedy="Pass its passphrase.", where="`--sign`", code="key.passphrase")
    try:
        return _check_key(_load(content, passphrase().encode()))
    except (ValueError, TypeError):
        raise Refused(
            "The passphrase does not open the key. Try again.", where="`--sign`", code="key.passphrase"
        ) from None


def _load(content: bytes, passphrase: bytes | None) -> object:
    load = load_ssh_private_key if b"OPENSSH PRIVATE KEY" in content else load_pem_private_key
    try:
        return load(content, passphrase)
    except UnsupportedAlgorithm:
        raise InvalidInput(
            "This kind of key cannot be read. Use an Ed25519 key.", where="`--sign`", code="key.kind"
        ) from None
    except ValueError as problem:
        if passphrase is None:
            # Of an encrypted key without a passphrase cryptography says so, in one of two ways.
            if "encrypted" in str(problem).lower():
                raise TypeError from None
            raise InvalidInput(
                "This is no private SSH key. Name the file without .pub.", where="`--sign`", code="key.format"
            ) from None
        raise


def _check_key(key: object) -> PrivateKey:
    if (
        isinstance(key, ed25519.Ed25519PrivateKey)
        or (isinstance(key, rsa.RSAPrivateKey) and key.key_size >= 2048)
        or (isinstance(key, ec.EllipticCurvePrivateKey) and key.curve.key_size in _CURVES)
    ):
        return key
    problem = "Signatures are made with Ed25519, ECDSA or RSA keys of at least 2048 bits. Use another key."
    raise InvalidInput(problem, where="`--sign`", code="key.kind")


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
            raise InvalidInput(message, remedy=_REMEDY, where="`--signer`", code="key.not-readable") from None
    signers = []
    for number, line in enumerate(text.strip().split("\n"), 1):
        try:
            kind, key, *name = line.split(maxsplit=2)
            if kind not in _KINDS:
                raise ValueError
            content = base64.b64decode(key, validate=True)
            if kind_of(content) != kind:  # ssh-keygen refuses such a line, too
                raise ValueError
            signers.append(Signer(name[0].strip() if name else None, content))
        except (ValueError, struct.error, binascii.Error):
            message = f"Line {number} is no public key."
            raise InvalidInput(message, remedy=_REMEDY, where="`--signer`", code="key.format") from None
    return tuple(signers)


def check_signer(message: bytes, signature: Signature, namespace: str, signers: tuple[Signer, ...]) -> Signer:
    """Return the signer of a message; raises DoesNotVerify when it is none of these, or the message was edited."""
    check(message, signature, namespace)
    for signer in signers:
        if signer.key == signature.key:
            return signer
    problem = f"It was signed with the key {signature.fingerprint}, which is none of those given. Ask the publisher."
    raise DoesNotVerify(problem, where="`--signer`", code="signature.signer")
