"""SSH keys for tests."""

from pathlib import Path
from typing import Any

from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
)

KINDS = {
    "ed25519": ed25519.Ed25519PrivateKey.generate,
    "ecdsa256": lambda: ec.generate_private_key(ec.SECP256R1()),
    "ecdsa521": lambda: ec.generate_private_key(ec.SECP521R1()),
    "rsa": lambda: rsa.generate_private_key(65537, 2048),
}


def new_key(folder: Path, kind: str = "ed25519", passphrase: str | None = None) -> tuple[Path, Path]:
    """The files of a new private key and of its public key; an encrypted one is in PKCS#8, which needs no bcrypt."""
    made: Any = KINDS[kind]()
    private, public = folder / f"id_{kind}", folder / f"id_{kind}.pub"
    layout = PrivateFormat.OpenSSH if passphrase is None else PrivateFormat.PKCS8
    hidden = NoEncryption() if passphrase is None else BestAvailableEncryption(passphrase.encode())
    private.write_bytes(made.private_bytes(Encoding.PEM, layout, hidden))
    private.chmod(0o600)
    public.write_bytes(made.public_key().public_bytes(Encoding.OpenSSH, PublicFormat.OpenSSH) + b" steward\n")
    return private, public
