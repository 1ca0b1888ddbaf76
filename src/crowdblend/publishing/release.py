"""Run a release: plan, read, record, publish into a private folder, and only then let it appear.

    check everything that can be known beforehand ── read ──▶ record the entry with its key
        ──▶ compute, write, certify, report, all in a staging folder ──▶ record it as finished ──▶ rename

**Nothing is lost, and nobody sees two outputs of one sample.** Reading computes nothing that could be published, so
what fails there spends nothing. From the entry on, the ledger holds the key, and the output is a function of policy,
data and key: whatever stops the release, `resume` checks that policy and data are the same and gets the same bytes.
Everything that can fail happens in the staging folder; after the entry is finished there is one rename, which `resume`
or the next release into that folder makes if a crash prevented it. So at every moment the sample is unspent (no
entry), or published (finished, and the folder there or one rename away), or can be resumed.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path

from crowdblend.calculus import Certificate, sha256_of, verify_file
from crowdblend.calculus.certificate import digest
from crowdblend.engines.choice import default_engine, on_disk
from crowdblend.engines.engine import Engine, Progress, no_progress
from crowdblend.engines.kept_open import KeptOpen
from crowdblend.engines.outside_values import refuse_only_other
from crowdblend.engines.unchanged_files import unchanged_files
from crowdblend.errors import InvalidInput, Unavailable
from crowdblend.kinds import AnyPlan, AnyPolicy, Reading, plan
from crowdblend.ledger import Entry, Ledger
from crowdblend.policies.load import load_policy
from crowdblend.policies.source import require_rows
from crowdblend.publishing.committing import commit, digest_of, is_complete, of_entry, recover
from crowdblend.publishing.description import describe
from crowdblend.publishing.finished_release import Release
from crowdblend.publishing.pending import ConfirmHook, check_limit, pending_release, resumed_spending, warn
from crowdblend.publishing.policy_digest import plan_secret
from crowdblend.publishing.record import Record, refuse_another, resume_command
from crowdblend.publishing.staging import Completion, Journal, Staging
from crowdblend.publishing.target import CERTIFICATE, IN_MEMORY, check_place, check_target, exclusive_use
from crowdblend.randomness import ReleaseKey, new_key
from crowdblend.stopping import when_stopped
from crowdblend.version import __version__

Sign = Callable[[Path], object]
"""Signs the certificate in a file."""


def release(
    policy: AnyPolicy,
    folder: Path | str,
    *,
    ledger: Ledger | None = None,
    key: bytes | None = None,
    force: bool = False,
    progress: Progress | None = None,
    policy_file: Path | None = None,
    confirm: ConfirmHook = warn,
    in_memory: bool = False,
    engine: Engine | None = None,
    sign: Sign | None = None,
    figures: bool = True,
    release_plan: AnyPlan | None = None,
) -> Release:
    """Publish what the policy says into a folder that appears whole or not at all.

    The ledger records it before anything is computed. `key` makes the release reproducible for anyone who holds it; by
    default a fresh one comes from the operating system and is destroyed, or sealed in the ledger. `policy_file` is
    where the policy came from, for resuming the release. `confirm` is called when the ledger allows the
    release and nothing is spent yet. With `in_memory` the ledger records that Python keeps what appears. `engine` reads
    the data: DuckDB unless another is passed. `sign` writes the signature of a certificate beside it, before the folder
    appears. Without `figures` the report has tables and sentences alone. `release_plan` is the plan of this
    policy, where it was made already.
    """
    engine = engine or default_engine()
    require_rows(policy.data)
    release_plan = release_plan or plan(policy)
    policy = release_plan.policy
    folder = Path(folder)
    secret = key if key is not None else new_key()
    check_place(folder)
    record = Record()
    with when_stopped(lambda: record.state), exclusive_use(folder):
        recover(folder, ledger)
        check_target(folder, force=force)
        path = None if policy_file is None else str(policy_file.absolute())
        report = progress or no_progress
        report("opening", 0)
        release_plan.check_source(engine)
        with on_disk(policy.data, policy.resources, divided=release_plan.divides_people) as data:
            if data is not policy.data:
                release_plan = plan(policy.with_source(data))
                release_plan.check_source(engine)
            journal = Journal(force=force, policy=path, figures=figures, signed=sign is not None)
            with _staging(folder, journal) as staging:
                pending = None
                release_key = ReleaseKey(plan_secret(policy, secret))
                with unchanged_files(data), ExitStack() as opened:
                    reads = KeptOpen(engine, opened, progress)
                    if ledger is not None:
                        check_limit(release_plan, ledger)
                    reading = release_plan.read(reads, release_key, progress)
                    refuse_only_other(reading.outside)
                    if ledger is not None:
                        report("comparing", 0)
                        pending = pending_release(
                            release_plan, folder, ledger, secret, in_memory=in_memory, engine=reads
                        )
                if ledger is not None and pending is not None:
                    confirm(pending)
                    record = Record(ledger)
                    # Until the release is finished the ledger holds the key, so that a resumed one has the same output.
                    kept = not policy.sampling.already_drawn or policy.sampling.thin is not None
                    seal = policy.sampling.key == "seal" and kept
                    entry = ledger.begin(pending.spending, identity=pending.identity, key=secret, seal=seal)
                    named = None if policy_file is None else str(policy_file)
                    python = in_memory or policy.data.format == "frame"
                    command = resume_command(ledger, entry, named, engine.name, python=python, signed=journal.signed)
                    record = Record(ledger, entry, pending.spending.sample, command)
                with record.explain_failure():
                    complete, certificate = _write(
                        release_plan, engine, reading, release_key, record, staging, progress, sign
                    )
            return _commit(complete, folder, record, certificate, force=force)


def resume(
    ledger: Ledger,
    entry_id: int,
    policy: AnyPolicy | None = None,
    *,
    force: bool = False,
    progress: Progress | None = None,
    engine: Engine | None = None,
    sign: Sign | None = None,
    figures: bool = True,
) -> Release:
    """Publish a release that was begun and stopped, with the output that it would have had.

    Where everything was written, it only takes its name. Else it is computed again with the key that the ledger holds,
    from the policy that it was begun with: the one that is passed, or that of the file that was recorded. `sign` signs
    it then, as in `release`.
    """
    engine = engine or default_engine()
    entry = ledger.entry(entry_id)
    folder = Path(entry.spending.folder)
    if entry.spending.folder == IN_MEMORY:
        raise _kept_in_memory(entry)
    if not folder.is_absolute():
        reason = f"Release {entry_id} was recorded without its folder, and cannot be resumed. It counts as spent."
        raise InvalidInput(reason, code="cannot-resume", where=f"release {entry_id}")
    with exclusive_use(folder):
        recover(folder, ledger)
        entry = ledger.entry(entry_id)
        stagings = of_entry(folder, entry)
        force = force or any(staging.journal.force for staging in stagings)
        complete = bool(stagings) and is_complete(stagings[0])
        if entry.status == "finished" and not complete:
            if digest_of(folder) != entry.certificate_digest:
                reason = f"Release {entry.id} is finished, and is no longer at {folder}. There is nothing to resume."
                raise InvalidInput(reason, code="release-moved", where=f"release {entry.id}")
            return Release(verify_file(folder / CERTIFICATE), folder, entry.id, internal=entry.internal)
        check_target(folder, force=force)
        if complete:
            staged = verify_file(stagings[0].release)
            record = Record(ledger, entry.id, command=resume_command(ledger, entry.id))
            return _commit(stagings[0], folder, record, staged, force=force)
        if policy is None:
            path = next((one.journal.policy for one in stagings if one.journal.policy is not None), None)
            if path is None:
                reason = f"Release {entry.id} is to be computed again. Pass the policy that it was begun with."
                raise InvalidInput(reason, code="policy-needed", where="POLICY")
            policy = load_policy(path)
        _check_version(entry)
        require_rows(policy.data)
        before = next((staging.journal for staging in stagings), Journal(force=force))
        if before.signed and sign is None:
            message = f"Release {entry.id} was begun to be signed."
            remedy = "Pass the key again: --sign KEY."
            raise InvalidInput(message, remedy=remedy, code="signature-needed", where="--sign")
        for staging in stagings:
            staging.discard()
        journal = Journal(force, policy=before.policy, figures=figures and before.figures, signed=sign is not None)
        return _again(ledger, entry, policy, engine, folder, journal, progress, sign)


def resume_in_memory(
    ledger: Ledger,
    entry_id: int,
    policy: AnyPolicy,
    folder: Path,
    *,
    progress: Progress | None = None,
    engine: Engine | None = None,
    figures: bool = True,
) -> Release:
    """Compute a release again that Python was to keep, into a folder that the caller takes it from."""
    entry = ledger.entry(entry_id)
    if entry.status != "unfinished":
        raise _kept_in_memory(entry)
    _check_version(entry)
    require_rows(policy.data)
    journal = Journal(force=False, figures=figures)
    return _again(ledger, entry, policy, engine or default_engine(), folder, journal, progress)


def _kept_in_memory(entry: Entry) -> InvalidInput:
    reason = f"Release {entry.id} was kept in memory."
    remedy = "It is finished, so that there is nothing to resume."
    if entry.status == "unfinished":
        remedy = f"Resume it from Python: crowdblend.resume({entry.id}, data, policy)."
    return InvalidInput(reason, remedy=remedy, code="cannot-resume", where=f"release {entry.id}")


def _check_version(entry: Entry) -> None:
    if entry.software != f"crowdblend {__version__}":
        reason = f"Release {entry.id} was begun with {entry.software}. Resume it with that version."
        raise InvalidInput(reason, code="other-version", where=f"release {entry.id}")


def _again(
    ledger: Ledger,
    entry: Entry,
    policy: AnyPolicy,
    engine: Engine,
    folder: Path,
    journal: Journal,
    progress: Progress | None,
    sign: Sign | None = None,
) -> Release:
    """Compute a release a second time with the same key."""
    with on_disk(policy.data, policy.resources, divided=plan(policy).divides_people) as data:
        planned = plan(policy if data is policy.data else policy.with_source(data))
        key = ledger.key(entry.id)
        python = data.format == "frame" or entry.spending.folder == IN_MEMORY
        command = resume_command(ledger, entry.id, journal.policy, engine.name, python=python, signed=journal.signed)
        record = Record(ledger, entry.id, entry.spending.sample, command)
        with _staging(folder, journal) as staging, record.explain_failure():
            release_key = ReleaseKey(plan_secret(policy, key))
            with unchanged_files(data), ExitStack() as opened:
                reads = KeptOpen(engine, opened, progress)
                refuse_another(entry, resumed_spending(planned, ledger, key, entry, reads))
                reading = planned.read(reads, release_key, progress)
            complete, certificate = _write(planned, engine, reading, release_key, record, staging, progress, sign)
        return _commit(complete, folder, record, certificate, force=journal.force)


@contextmanager
def _staging(folder: Path, journal: Journal) -> Iterator[Staging]:
    """Make a staging folder for what is computed, and remove it where that fails.

    What was written is only in the way: a release that was recorded is computed again when it is resumed.
    """
    try:
        staging = Staging.make(folder, journal)
    except OSError as problem:
        reason = f"{folder.parent} cannot be written: {problem.strerror}. Choose another folder."
        raise Unavailable(reason, code="write-failed", where="--out") from None
    try:
        yield staging
    except BaseException:
        staging.discard()
        raise


def _write(
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
    certificate = replace(certificate, stated=stated)
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


def _commit(staging: Staging, folder: Path, record: Record, certificate: Certificate, *, force: bool) -> Release:
    """Finish the entry and rename the folder, the last two steps; return the release."""
    completion = staging.journal.completion
    assert completion is not None, "only what is completely written appears"
    with record.explain_failure():
        check_target(folder, force=force)
        record.finish(completion)
        commit(staging, folder, force=force)
    return Release(certificate, folder, record.entry, internal=completion.internal)
