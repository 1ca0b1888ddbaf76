"""Run a release: plan, sample, record, sanitize, write, and only then let it appear."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path

from crowdblend.calculus import Certificate, sha256_of
from crowdblend.engines.identity import sample_of
from crowdblend.engines.progress import Progress
from crowdblend.kinds import promise
from crowdblend.kinds.kind import AnyPolicy, Promised
from crowdblend.ledger import Ledger
from crowdblend.publishing.folder import whole_folder, write_internal, write_internal_page
from crowdblend.publishing.record import Record
from crowdblend.randomness import ReleaseKey, new_key


@dataclass(frozen=True)
class Released:
    """A finished release: where it is, and what it promises."""

    folder: Path
    certificate: Certificate
    promise: Promised


def release(
    policy: AnyPolicy,
    folder: Path,
    *,
    ledger: Ledger | None = None,
    key: bytes | None = None,
    force: bool = False,
    progress: Progress | None = None,
) -> Released:
    """Publish what the policy says into a folder that appears whole or not at all.

    The promise is recorded in the ledger before anything is published. `key` makes the release reproducible for whoever
    holds it; by default a fresh one comes from the operating system and is destroyed, or sealed in the ledger.
    """
    from crowdblend.reports import write_report  # noqa: PLC0415

    promised = promise(policy)
    secret = key if key is not None else new_key()
    started = time.perf_counter()
    with whole_folder(folder, force=force) as partial:
        reading = promised.read(ReleaseKey(secret), progress)
        record = Record.begin(
            ledger, promised, folder, sample_of(policy.data, policy.sampling, secret, reading.same_people), secret
        )
        published = reading.publish()
        if progress:
            progress("writing", 0)
        published.write(partial)
        files = {file.name: sha256_of(file) for file in sorted(partial.iterdir())}
        certificate = promised.certificate(files, published.outcome)
        (partial / "certificate.json").write_text(certificate.to_json(), encoding="utf-8")
        write_report(partial)
        page = published.internal_page() if published.internal_page is not None else None
    record.finish(certificate, files)
    write_internal(folder, {**reading.facts, **published.internal, "seconds": time.perf_counter() - started})
    if page is not None:
        write_internal_page(folder, page)
    return Released(folder, certificate, promised)
