"""The name of the exact content of a source's files, under the secret of the ledger."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Callable, Sequence
from pathlib import Path

from crowdblend.ledger.identity import UNNAMED
from crowdblend.policies.files import source_files
from crowdblend.policies.source import DataSource


def files_of(data: DataSource) -> list[Path]:
    """The files that are read; none where a server has the data."""
    if data.format in ("csv", "parquet"):
        return source_files(data.source, data.format)
    return [Path(data.source)] if data.format == "duckdb" else []


def source_name(data: DataSource, secret: bytes, digests_of: Callable[[list[Path]], list[bytes]] | None = None) -> str:
    """A name for the exact content of all files that are read, whatever they are called, under the ledger's secret.

    `digests_of` hashes files elsewhere, with the same result as here.
    """
    files = files_of(data)
    digests = sorted(digests_of(files) if digests_of else map(sha256_of, files))
    digests = digests or [data.source.partition("?")[0].encode()]
    if data.format == "frame":
        digests = [data.frame.digest]
    table = (data.table or "").lower().removeprefix("main.")
    return name_of([table.encode(), *digests], secret)


def name_of(parts: Sequence[bytes], secret: bytes) -> str:
    """A name for what these parts are, under the ledger's secret."""
    return UNNAMED + hmac.new(secret, b"\0".join(parts), "sha256").hexdigest()[:32]


def sha256_of(file: Path) -> bytes:
    """The hash of a file's content."""
    with file.open("rb") as opened:
        return hashlib.file_digest(opened, "sha256").digest()
