"""The SSHSIG format of OpenSSH (its PROTOCOL.sshsig), for Ed25519, ECDSA and RSA keys.

A signature holds the public key, a namespace and the name of a hash. What is signed is the magic, the namespace and the
hash of the message, so a signature made for one purpose says nothing for another.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import struct
import textwrap
from collections.abc import Callable
from dataclasses import dataclass

from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, padding, rsa, utils
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat, load_ssh_public_key

from crowdblend.errors import DoesNotVerify

PrivateKey = ed25519.Ed25519PrivateKey | ec.EllipticCurvePrivateKey | rsa.RSAPrivateKey
PublicKey = ed25519.Ed25519PublicKey | ec.EllipticCurvePublicKey | rsa.RSAPublicKey

_MAGIC = b"SSHSIG"
_BEGIN, _END = "-----BEGIN SSH SIGNATURE-----", "-----END SSH SIGNATURE-----"
_HASH = "sha512"
_HASHES = ("sha256", "sha512")
_RSA: dict[bytes, Callable[[], hashes.HashAlgorithm]] = {b"rsa-sha2-512": hashes.SHA512, b"rsa-sha2-256": hashes.SHA256}
_CURVE_HASHES: dict[int, Callable[[], hashes.HashAlgorithm]] = {
    256: hashes.SHA256,
    384: hashes.SHA384,
    521: hashes.SHA512,
}
_LEAST_RSA_BITS = 2048


@dataclass(frozen=True)
class Signature:
    """The content of a signature file: whose key, for which purpose, over which hash."""

    key: bytes
    namespace: str
    hash_name: str
    blob: bytes

    @property
    def fingerprint(self) -> str:
        """The SHA-256 of the public key, as `ssh-keygen -l` prints it."""
        return fingerprint(self.key)


def fingerprint(key: bytes) -> str:
    """Return the SHA-256 of a public key, as `ssh-keygen -l` prints it."""
    return "SHA256:" + base64.b64encode(hashlib.sha256(key).digest()).decode().rstrip("=")


def kind_of(key: bytes) -> str:
    """Return the name of the kind that a public key says it is."""
    return _take(key)[0].decode()


def public_bytes(key: PublicKey) -> bytes:
    """Return a public key as it travels in signatures and in the second field of a .pub file."""
    return base64.b64decode(key.public_bytes(Encoding.OpenSSH, PublicFormat.OpenSSH).split()[1])


def sign(message: bytes, key: PrivateKey, namespace: str) -> str:
    """Return the signature of a message, as `ssh-keygen -Y sign -n namespace` writes it."""
    signed = _to_be_signed(message, namespace, _HASH)
    if isinstance(key, ed25519.Ed25519PrivateKey):
        blob = _string(b"ssh-ed25519") + _string(key.sign(signed))
    elif isinstance(key, rsa.RSAPrivateKey):
        blob = _string(b"rsa-sha2-512") + _string(key.sign(signed, padding.PKCS1v15(), hashes.SHA512()))
    else:
        name = f"ecdsa-sha2-nistp{key.curve.key_size}".encode()
        made = key.sign(signed, ec.ECDSA(_CURVE_HASHES[key.curve.key_size]()))
        numbers = (it.to_bytes(it.bit_length() // 8 + 1, "big") for it in utils.decode_dss_signature(made))
        blob = _string(name) + _string(b"".join(map(_string, numbers)))
    body = _MAGIC + struct.pack(">I", 1) + _string(public_bytes(key.public_key()))
    body += _string(namespace.encode()) + _string(b"") + _string(_HASH.encode()) + _string(blob)
    lines = textwrap.wrap(base64.b64encode(body).decode(), 70)
    return "\n".join([_BEGIN, *lines, _END, ""])


def parse(text: str) -> Signature:
    """Return the content of a signature file; raise DoesNotVerify when it is none."""
    try:
        lines = text.strip().splitlines()
        if lines[0] != _BEGIN or lines[-1] != _END:
            raise ValueError
        body = base64.b64decode("".join(lines[1:-1]), validate=True)
        if body[:6] != _MAGIC or body[6:10] != struct.pack(">I", 1):
            raise ValueError
        key, rest = _take(body[10:])
        namespace, rest = _take(rest)
        _, rest = _take(rest)
        name, rest = _take(rest)
        blob, rest = _take(rest)
        if rest or name.decode() not in _HASHES:
            raise ValueError
        return Signature(key, namespace.decode(), name.decode(), blob)
    except (ValueError, IndexError, struct.error, binascii.Error):
        problem = "this is no SSH signature. Ask the publisher for the original file."
        raise DoesNotVerify(problem, where="signature", code="signature.format") from None


def check(message: bytes, signature: Signature, namespace: str) -> None:
    """Raise DoesNotVerify unless the key in the signature made it, for this purpose and over this message."""
    if signature.namespace != namespace:
        raise DoesNotVerify(
            f"The signature was made for the purpose {signature.namespace[:60]!r}, not for {namespace!r}. Sign again.",
            where="signature",
            code="signature.namespace",
        )
    try:
        _check(_to_be_signed(message, namespace, signature.hash_name), signature)
    except (InvalidSignature, UnsupportedAlgorithm, NotImplementedError, ValueError, KeyError, struct.error):
        problem = "the signature is not one of this file: the file or the signature was edited. Ask for the originals."
        raise DoesNotVerify(problem, where="signature", code="signature.wrong") from None


def _check(message: bytes, signature: Signature) -> None:
    kind, rest = _take(signature.blob)
    made, rest = _take(rest)
    if rest:
        raise ValueError
    name = _take(signature.key)[0]
    key = load_ssh_public_key(name + b" " + base64.b64encode(signature.key))
    if isinstance(key, ed25519.Ed25519PublicKey) and kind == b"ssh-ed25519":
        key.verify(made, message)
    elif isinstance(key, rsa.RSAPublicKey) and key.key_size >= _LEAST_RSA_BITS:
        key.verify(made, message, padding.PKCS1v15(), _RSA[kind]())
    elif isinstance(key, ec.EllipticCurvePublicKey) and kind == name:
        first, rest = _take(made)
        second, rest = _take(rest)
        numbers = (int.from_bytes(one, "big", signed=True) for one in (first, second))
        key.verify(utils.encode_dss_signature(*numbers), message, ec.ECDSA(_CURVE_HASHES[key.curve.key_size]()))
    else:
        raise ValueError


def _to_be_signed(message: bytes, namespace: str, hash_name: str) -> bytes:
    hashed = hashlib.new(hash_name, message).digest()
    return _MAGIC + _string(namespace.encode()) + _string(b"") + _string(hash_name.encode()) + _string(hashed)


def _string(value: bytes) -> bytes:
    return struct.pack(">I", len(value)) + value


def _take(data: bytes) -> tuple[bytes, bytes]:
    (length,) = struct.unpack(">I", data[:4])
    if len(data) < 4 + length:
        raise ValueError
    return data[4 : 4 + length], data[4 + length :]
