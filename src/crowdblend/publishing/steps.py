"""The steps that a new release and a resumed one have in common: into a private folder, then under its name."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from crowdblend.errors import of_system
from crowdblend.kinds import AnyPlan, Reading
from crowdblend.publishing.committing import commit
from crowdblend.publishing.description import describe
from crowdblend.publishing.events import emit_release
from crowdblend.publishing.finished_release import Release
from crowdblend.publishing.record import Record
from crowdblend.publishing.staging import Completion, Journal, Staging
from crowdblend.publishing.target import check_target
from crowdblend.sources.engines.engine import Engine, Progress, no_progress
from crowdblend.trusted.calculus import Certificate, sha256_of
from crowdblend.trusted.calculus.certificate import digest
from crowdblend.trusted.calculus.folder_files import CERTIFICATE
from crowdblend.trusted.randomness import ReleaseKey

Sign = Callable[[Path], object]
"""Signs the certificate in a file."""


@contextmanager
def staging_for(folder: Path, journal: Journal) -> Iterator[Staging]:
    """Make a staging folder for what is computed, and remove it where that fails.

    What was written is only in the way: a release that was recorded is computed again when it is resumed.
    """
    try:
        staging = Staging.make(folder, journal)
    except OSError as problem:
        reason = f"{folder.parent} cannot be written: {problem.strerror}. Choose another folder."
        raise of_system(problem)(reason, code="write-failed", where="`--out`") from None
    try:
        yield staging
    except BaseException:
        staging.discard()
        raise


def write_release(
    plan: AnyPlan,
    engine: Engine,
    reading: Reading,
    key: ReleaseKey,
    record: Record,
    staging: Staging,
    progress: Progress | None,
    sign: Sign | None,
) -> tuple[Staging, Certificate]:
    """Compute, write and certify in the staging folder; return it complete."""
    started = time.perf_counter()
    staging = record.sign(staging)
    report = progress or no_progress
    report("publishing", 0)
    publication = plan.publish(reading, key, progress)
    report("writing", 0)
    publication.write(staging.release)
    files = {file.name: sha256_of(file) for file in sorted(staging.release.iterdir())}
    certificate = plan.certificate(files, publication)
    # What proposed the domains may have stated the same.
    stated = tuple(dict.fromkeys((*certificate.stated, *engine.assumptions, *record.assumptions)))
    # Two releases of one policy that happen to publish the same bytes on one day stay two.
    certificate = replace(certificate, stated=stated, facts={**certificate.facts, "run": key.name()})
    report("explaining", 0)
    figures = staging.journal.figures
    certificate = describe(staging.release, certificate, record.date, publication.outputs, figures=figures)
    if sign is not None:
        sign(staging.release / CERTIFICATE)
    outside = {name: found.facts() for name, found in reading.outside.items()}
    known = {**reading.internal, **({"outside_domain": outside} if outside else {}), **publication.internal}
    known["seconds"] = time.perf_counter() - started
    # JSON has no number for what is not finite.
    plain = {name: None if isinstance(it, float) and not math.isfinite(it) else it for name, it in known.items()}
    return staging.complete(Completion(certificate.to_dict()["digest"], digest(files), plain)), certificate


def commit_release(staging: Staging, folder: Path, record: Record, certificate: Certificate, *, force: bool) -> Release:
    """Finish the entry and rename the folder, the last two steps; return the release."""
    completion = staging.journal.completion
    assert completion is not None, "only what is completely written appears"
    with record.explain_failure():
        check_target(folder, force=force)
        record.finish(completion)
        commit(staging, folder, force=force)
    emit_release(record.ledger, record.entry, record.since)
    return Release(certificate, folder, record.entry, internal=completion.internal)
