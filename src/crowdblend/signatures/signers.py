"""Whose signatures count: a public key, or an allowed_signers file as `ssh-keygen -Y verify` reads it."""

from __future__ import annotations

import base64
import binascii
import fnmatch
import os
import re
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from crowdblend.errors import DoesNotVerify, InvalidInput
from crowdblend.signatures.sshsig import Signature, check

_KINDS = ("ssh-ed25519", "ssh-rsa", "ecdsa-sha2-nistp256", "ecdsa-sha2-nistp384", "ecdsa-sha2-nistp521")
_WORD = re.compile(r'(?:[^\s"]|"(?:\\.|[^"\\])*")+')


@dataclass(frozen=True)
class Signer:
    """A key whose signatures count; `name` as the file calls whoever holds it."""

    name: str | None
    key: bytes
    namespaces: tuple[str, ...] = ()
    after: str = ""
    before: str = ""

    def may_sign(self, namespace: str, moment: str) -> bool:
        """Whether a signature for this purpose counts at this moment, given as YYYYMMDDHHMMSS in UTC."""
        meant = not self.namespaces or any(fnmatch.fnmatchcase(namespace, pattern) for pattern in self.namespaces)
        return meant and (not self.after or moment >= self.after) and (not self.before or moment < self.before)


def read_signers(stated: str | os.PathLike[str]) -> tuple[Signer, ...]:
    """The signers in a .pub file, an allowed_signers file, or a public key given as text."""
    text = os.fspath(stated)
    if text.split(maxsplit=1)[:1] not in [[kind] for kind in _KINDS]:
        try:
            text = Path(text).expanduser().read_text(encoding="utf-8")
        except (OSError, ValueError, RuntimeError):
            raise InvalidInput(
                f"{text[:200]} cannot be read.",
                remedy="Name a public key (.pub) or an allowed_signers file.",
                where="--signer",
                code="key.not-readable",
            ) from None
    lines = [line for line in map(str.strip, text.splitlines()) if line and not line.startswith("#")]
    found = tuple(signer for line in lines for signer in _signer(line))
    if not found:
        raise InvalidInput(
            "this names no signer.",
            remedy="Name a public key (.pub) or an allowed_signers file.",
            where="--signer",
            code="key.format",
        )
    return found


def check_signer(message: bytes, signature: Signature, namespace: str, signers: tuple[Signer, ...]) -> Signer:
    """The signer who made a signature; raises DoesNotVerify when it is none of these, or the message was edited."""
    check(message, signature, namespace)
    moment = datetime.now(UTC).strftime("%Y%m%d%H%M%S")
    for signer in signers:
        if signer.key == signature.key and signer.may_sign(namespace, moment):
            return signer
    raise DoesNotVerify(
        f"it was signed with the key {signature.fingerprint}, which is none of those that count. Ask the publisher.",
        where="--signer",
        code="signature.signer",
    )


def _signer(line: str) -> list[Signer]:
    """The signer of one line: `kind key comment`, or `principals options kind key`; others and authorities are none."""
    words = _WORD.findall(line)
    at = next((number for number, word in enumerate(words[:3]) if word in _KINDS), None)
    if at is None or at + 1 >= len(words):
        return []
    options = _options(words[1]) if at == 2 else {}
    if "cert-authority" in options:
        return []
    try:
        key = base64.b64decode(words[at + 1], validate=True)
    except binascii.Error:
        return []
    name = words[0] if at else (" ".join(words[2:]) or None)
    namespaces = tuple(filter(None, options.get("namespaces", "").split(",")))
    return [Signer(name, key, namespaces, _moment(options, "valid-after"), _moment(options, "valid-before"))]


def _options(text: str) -> dict[str, str]:
    found = re.findall(r'([a-z-]+)(?:=(?:"((?:\\.|[^"\\])*)"|([^,]*)))?(?:,|$)', text)
    return {name: quoted or plain for name, quoted, plain in found}


def _moment(options: dict[str, str], name: str) -> str:
    digits = options.get(name, "").rstrip("Z")
    return digits.ljust(14, "0") if digits else ""
