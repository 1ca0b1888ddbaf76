"""Whose signatures count: a public key, or an allowed_signers file as `ssh-keygen -Y verify` reads it.

A line that is not understood is refused: what it says might be that a key no longer counts.
"""

from __future__ import annotations

import base64
import binascii
import os
import re
import time
from datetime import UTC, datetime
from pathlib import Path

from crowdblend.errors import DoesNotVerify, InvalidInput
from crowdblend.frozen import dataclass
from crowdblend.regular_files import read_regular
from crowdblend.signatures.sshsig import Signature, check

_KINDS = ("ssh-ed25519", "ssh-rsa", "ecdsa-sha2-nistp256", "ecdsa-sha2-nistp384", "ecdsa-sha2-nistp521")
# `kind key comment`, or `principals options kind key`. Options in the place of the principals are not taken for these.
_LINE = re.compile(
    r'(?:("[^"]*"|[^\s"=]+)\s+(?:((?:[^\s"]|"(?:\\"|[^"\\]|\\(?!"))*")+)\s+)?)??'
    r"((?:sk-)?(?:ssh|ecdsa)-[\w.@-]+)\s+([A-Za-z0-9+/=]+)(?:\s+(.*))?",
    re.ASCII,
)
_OPTION = re.compile(r'([A-Za-z-]+)(?:="((?:\\"|[^"\\]|\\(?!"))*)")?(?:,(?=.)|$)')
_TIMES = {8: "%Y%m%d", 12: "%Y%m%d%H%M", 14: "%Y%m%d%H%M%S"}


@dataclass(frozen=True)
class Signer:
    """A key whose signatures count; `name` is what the file calls its holder, times in seconds since 1970."""

    name: str | None
    key: bytes
    namespaces: str = "*"
    after: float = 0.0
    before: float = float("inf")

    def may_sign(self, namespace: str, moment: float) -> bool:
        """Return whether a signature for this purpose counts at this moment."""
        return self.after <= moment <= self.before and _matches(namespace, self.namespaces.split(","))


def _matches(namespace: str, patterns: list[str]) -> bool:
    """Return whether some pattern of * and ? fits, and none of those that begin with an exclamation mark does."""
    fitting = [one for one in patterns if _expression(one.removeprefix("!")).fullmatch(namespace)]
    return bool(fitting) and not any(one.startswith("!") for one in fitting)


def _expression(pattern: str) -> re.Pattern[str]:
    return re.compile(re.escape(pattern).replace(r"\*", ".*").replace(r"\?", "."), re.DOTALL)


def read_signers(source: str | os.PathLike[str]) -> tuple[Signer, ...]:
    """Return the signers in a .pub file, an allowed_signers file, or a public key given as text."""
    text = os.fspath(source)
    if text.split(maxsplit=1)[:1] not in [[kind] for kind in _KINDS]:
        try:
            text = read_regular(Path(text).expanduser()).decode("utf-8")
        except (OSError, ValueError, RuntimeError):
            problem = f"{text[:200]} cannot be read."
            remedy = "Name a public key (.pub) or an allowed_signers file."
            raise InvalidInput(problem, remedy=remedy, where="--signer", code="key.not-readable") from None
    lines = [line.strip(" \t\r") for line in text.split("\n")]
    found = [_signer(number, line) for number, line in enumerate(lines, 1) if line and not line.startswith("#")]
    if not any(found):
        raise _refusal("This names no signer.", "Name a public key (.pub) or an allowed_signers file.")
    return tuple(filter(None, found))


def check_signer(message: bytes, signature: Signature, namespace: str, signers: tuple[Signer, ...]) -> Signer:
    """Return the signer of a message; raises DoesNotVerify when it is none of these, or the message was edited."""
    check(message, signature, namespace)
    for signer in signers:
        if signer.key == signature.key and signer.may_sign(namespace, time.time()):
            return signer
    problem = (
        f"It was signed with the key {signature.fingerprint}, which is none of those that count. Ask the publisher."
    )
    raise DoesNotVerify(problem, where="--signer", code="signature.signer")


def _signer(number: int, line: str) -> Signer | None:
    """Return the signer of a line; None for an authority, or a kind of key with which no signature here is made."""
    try:
        name, options, kind, key, comment = _LINE.fullmatch(line).groups()  # type: ignore[union-attr]
        said = _options(options or "")
        times = {end: _time(said[f"valid-{end}"]) for end in ("after", "before") if f"valid-{end}" in said}
        known, namespaces = base64.b64decode(key, validate=True), said.get("namespaces", "*")
        signer = Signer(name or comment or None, known, namespaces, **times)
        if signer.before <= signer.after:
            raise ValueError
    except (AttributeError, KeyError, ValueError, OverflowError, binascii.Error):
        raise _refusal(
            f"Line {number} is not understood as ssh-keygen would read it.",
            'Write: principals, options or none, kind and key. Options are namespaces="…", valid-after="…" and '
            'valid-before="…", and times YYYYMMDD[HHMM[SS]][Z].',
        ) from None
    return signer if kind in _KINDS and "cert-authority" not in said else None


def _options(text: str) -> dict[str, str]:
    """Return the options of a line by name; raises ValueError for others, twice the same, or one without its value."""
    found: dict[str, str] = {}
    while text:
        option = _OPTION.match(text)
        name = option[1].lower() if option else ""
        flag = name == "cert-authority"
        if option is None or name in found or (option[2] is None) != flag:
            raise ValueError
        if not flag and name not in ("namespaces", "valid-after", "valid-before"):
            raise ValueError
        found[name], text = option[2] or "", text[option.end() :]
    return found


def _time(text: str) -> float:
    """Return a time in seconds since 1970: in UTC where it ends so, else of this machine, as ssh-keygen reads it."""
    digits = re.sub(r"(?i)(z|utc)$", "", text)
    if not re.fullmatch("[0-9]+", digits):
        raise ValueError
    found = datetime.strptime(digits, _TIMES[len(digits)]).replace(tzinfo=None if digits == text else UTC)
    if found.year < 1970:
        raise ValueError
    return found.timestamp()


def _refusal(message: str, remedy: str) -> InvalidInput:
    return InvalidInput(message, remedy=remedy, where="--signer", code="key.format")
