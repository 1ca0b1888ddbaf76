"""The signature of a release: over its certificate, which has the hash of every other file."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from crowdblend.errors import InvalidInput
from crowdblend.reading.verification.consistency import verify_release
from crowdblend.trusted.calculus.folder_files import CERTIFICATE
from crowdblend.trusted.signatures.files import Passphrase, Signer, check_file, open_key, sign_file, signature_file

NAMESPACE = "crowdblend-certificate"
"""What `ssh-keygen -Y verify -n` is told: a signature for another purpose is no signature of a release."""


def sign_release(folder: Path, key: str | os.PathLike[str], *, passphrase: Passphrase | None, force: bool) -> Path:
    """Verify a release folder and sign its certificate; returns the signature's file."""
    if not folder.is_dir():
        raise InvalidInput(
            f"{folder} is no release folder. Name the folder that release wrote.", where="DIR", code="not-a-release"
        )
    verify_release(folder)
    return sign_file(folder / CERTIFICATE, key, NAMESPACE, passphrase=passphrase, force=force)


def certificate_signer(key: str | os.PathLike[str], passphrase: Passphrase | None = None) -> Callable[[Path], object]:
    """Return what signs a certificate's file; the key is opened at once, so that a wrong passphrase spends nothing."""
    sign = open_key(key, passphrase)
    return lambda file: signature_file(file).write_text(
        sign(file.read_bytes(), NAMESPACE), encoding="ascii", newline="\n"
    )


def check_release_signature(target: Path, signer: str | os.PathLike[str]) -> Signer:
    """Return the signer of a release folder or a certificate's file, if it is one of the given."""
    return check_file(target / CERTIFICATE if target.is_dir() else target, signer, NAMESPACE)
