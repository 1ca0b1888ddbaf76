"""By what the ledger knows a source again: its exact content, its people, and where there are no persons its rows.

A table that was already drawn is one sample for ever, whatever policy, order, format or folder reads it. A sample drawn
for a release is known by its key, so a key that is used twice is noticed, also for other people: the key draws the
noise too, and the same noise twice cancels out.
"""

from __future__ import annotations

import glob
import hashlib
import hmac
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from crowdblend.ledger.identity import UNNAMED, Identity, Wanted
from crowdblend.ledger.secrets import sample_name
from crowdblend.ledger.sketch import Anchor, Kind, Sketch, sketch
from crowdblend.policies.files import source_files
from crowdblend.policies.policy import Resources
from crowdblend.policies.sampling import ExactSample, Sampling
from crowdblend.policies.source import STDIN, DataSource

_BLOCK = 65_536


@contextmanager
def on_disk(data: DataSource) -> Iterator[DataSource]:
    """The source with what comes through stdin in a private file, since it is read more than once."""
    from crowdblend.engines.duckdb.database import private_folder  # noqa: PLC0415 - heavy
    from crowdblend.engines.duckdb.source import spooled  # noqa: PLC0415

    if data.source != STDIN:
        yield data
        return
    with private_folder() as folder:
        yield replace(data, source=str(spooled(data, folder)))


def identify(data: DataSource, resources: Resources, wanted: Wanted) -> Identity:
    """The identity of a source, with everything that the ledger wants to compare it by."""
    from crowdblend.engines.duckdb.identity import IdentityScan, open_identity  # noqa: PLC0415 - heavy

    def known(scan: IdentityScan, kind: Kind, anchor: Anchor) -> Sketch:
        hashes = scan.hashes(anchor)
        return sketch(kind, anchor, hashes.level, hashes.rows, wanted.secret)

    files = _files(data)
    with open_identity(data, resources, sum(file.stat().st_size for file in files)) as scan:
        every = set(scan.columns)
        anchors: dict[Anchor, Kind] = {}
        if data.person is not None:
            anchors[Anchor((data.person,), (data.person,))] = "person"
        for anchor in wanted.anchors:
            if anchor.is_column and anchor.columns[0] in every:
                anchors.setdefault(anchor, "column")
            elif set(anchor.columns) == every:
                anchors.setdefault(anchor, "rows")
        if data.person is None and "rows" not in anchors.values():
            anchors[Anchor(scan.columns, scan.distinctive())] = "rows"
        sketches = tuple(known(scan, kind, anchor) for anchor, kind in anchors.items())
        hashing = scan.hashing
    old_name = UNNAMED + _old_fingerprint(data) if wanted.old_names and data.format != "frame" else None
    return Identity(source_name(data, files, wanted.secret), hashing, sketches, old_name)


def source_name(data: DataSource, files: list[Path], secret: bytes) -> str:
    """A name for the exact content of all files that are read, whatever they are called, under the ledger's secret."""
    digests = sorted(_sha256(file) for file in files) or [data.source.partition("?")[0].encode()]
    if data.format == "frame":
        digests = [data.frame.digest]
    table = (data.table or "").lower().removeprefix("main.")
    return UNNAMED + hmac.new(secret, b"\0".join([table.encode(), *digests]), "sha256").hexdigest()[:32]


def sample_of(sampling: Sampling | ExactSample, source: str, key: bytes) -> str:
    """The sample's name: that of the table which is the sample, or a commitment to the key that draws it."""
    return source if sampling.already_drawn else sample_name(key)


def largest_rate(sampling: Sampling | ExactSample) -> float | None:
    """The largest probability with which an already drawn table holds anybody."""
    if isinstance(sampling, ExactSample):
        return None
    return max((rate for rate in (sampling.rate, sampling.high, sampling.max_rate) if rate is not None), default=None)


def _files(data: DataSource) -> list[Path]:

    if data.format in ("csv", "parquet"):
        return source_files(data.source, data.format)
    return [Path(data.source)] if data.format == "duckdb" else []


def _sha256(file: Path) -> bytes:
    with file.open("rb") as opened:
        return hashlib.file_digest(opened, "sha256").digest()


def _old_fingerprint(data: DataSource) -> str:
    """How the first format of the ledger named a source: sizes, and blocks from beginning, middle and end."""
    state = hashlib.sha256((data.table or "").lower().removeprefix("main.").encode())
    source = data.source
    if Path(source).is_dir():
        every = list(Path(source).rglob("*"))
    else:
        every = [Path(source)] if Path(source).exists() else [Path(one) for one in glob.glob(source, recursive=True)]
    files = sorted(file for file in every if file.is_file())
    if not files:
        state.update(source.partition("?")[0].encode())
    for file in files:
        size = file.stat().st_size
        state.update(str(size).encode())
        with file.open("rb") as opened:
            for place in (0, max(0, size // 2 - _BLOCK // 2), max(0, size - _BLOCK)):
                opened.seek(place)
                state.update(opened.read(_BLOCK))
    return state.hexdigest()[:16]
