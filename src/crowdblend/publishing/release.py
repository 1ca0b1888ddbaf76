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

from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from crowdblend.kinds import AnyPlan, AnyPolicy, plan
from crowdblend.ledger import Ledger
from crowdblend.policies.source import require_rows
from crowdblend.publishing.committing import recover
from crowdblend.publishing.events import emit_reading, emit_recorded
from crowdblend.publishing.finished_release import Release
from crowdblend.publishing.pending import (
    ConfirmHook,
    PendingRelease,
    check_beforehand,
    check_spending,
    pending_release,
    stopped_release,
    warn,
)
from crowdblend.publishing.policy_digest import plan_secret
from crowdblend.publishing.record import Record, resume_command
from crowdblend.publishing.resuming import StoppedRelease
from crowdblend.publishing.staging import Journal
from crowdblend.publishing.steps import Sign, commit_release, staging_for, write_release
from crowdblend.publishing.target import IN_MEMORY, check_place, check_target, exclusive_use
from crowdblend.sources.engines.choice import default_engine, on_disk
from crowdblend.sources.engines.engine import Engine, Progress, no_progress
from crowdblend.sources.engines.kept_open import KeptOpen
from crowdblend.sources.engines.outside_values import refuse_only_other
from crowdblend.sources.engines.unchanged_files import unchanged_files
from crowdblend.trusted.machine.stopping import when_stopped
from crowdblend.trusted.randomness import ReleaseKey, new_key


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
    new: bool = False,
    by: str | None = None,
) -> Release:
    """Publish what the policy says into a folder that appears whole or not at all.

    The ledger records it before anything is computed. `key` makes the release reproducible for anyone who holds it; by
    default a fresh one comes from the operating system and is destroyed, or sealed in the ledger. `policy_file` is
    where the policy came from, for resuming the release. `confirm` is called when the ledger allows the
    release and nothing is spent yet. With `in_memory` the ledger records that Python keeps what appears. `engine` reads
    the data: DuckDB unless another is passed. `sign` writes the signature of a certificate beside it, before the folder
    appears. Without `figures` the report has tables and sentences alone. `release_plan` is the plan of this
    policy, where it was made already.

    The same job twice is one release: an unfinished one of this policy, these data and this target is resumed, with its
    own key, unless another one is meant: `new`. `by` names the person in the ledger, by default the user of this
    process.
    """
    engine = engine or default_engine()
    require_rows(policy.data)
    release_plan = release_plan or plan(policy)
    policy = release_plan.policy
    folder = Path(folder)
    secret = key if key is not None else new_key()
    check_place(folder)
    record = Record()
    with when_stopped(lambda: record.standing), exclusive_use(folder):
        last_digest = recover(folder, ledger)
        if new or last_digest is None:
            check_target(folder, force=force)
        report = progress or no_progress
        report("opening", 0)
        release_plan.check_source(engine)
        emit_reading(policy.resources)
        place = IN_MEMORY if in_memory else str(folder.absolute())
        digest = check_beforehand(release_plan, ledger, engine, last_digest, new=new)
        with on_disk(policy.data, policy.resources, divided=release_plan.divides_people) as data:
            if data is not policy.data:
                release_plan = plan(policy.with_source(data))
                release_plan.check_source(engine)
            stopped = None
            if ledger is not None and not new:
                stopped = stopped_release(release_plan, place, ledger, engine, key, digest, last_digest)
            if ledger is not None and stopped is not None and stopped.resumes is not None:
                record = Record(ledger, stopped.resumes.id, stopped.resumes.spending.sample)
                begun = StoppedRelease.of(ledger, stopped.resumes, folder)
                how: dict[str, Any] = {"force": force, "progress": progress, "sign": sign, "figures": figures}
                return begun.publish(policy, data, engine, confirm=partial(confirm, stopped), **how)
            check_target(folder, force=force)
            path = None if policy_file is None else str(policy_file.absolute())
            journal = Journal(force=force, policy=path, figures=figures, signed=sign is not None)
            with staging_for(folder, journal) as staging:
                pending = None
                release_key = ReleaseKey(plan_secret(policy, secret))
                with unchanged_files(data), ExitStack() as opened:
                    reads = KeptOpen(engine, opened, progress)
                    check_spending(release_plan, ledger, digest)
                    reading = release_plan.read(reads, release_key, progress)
                    refuse_only_other(reading.outside)
                    if ledger is not None:
                        report("comparing", 0)
                        pending = pending_release(release_plan, place, ledger, secret, reads, digest)
                if ledger is not None and pending is not None:
                    confirm(pending)
                    record = replace(record, ledger=ledger)
                    record = _begin(
                        record,
                        ledger,
                        pending,
                        policy,
                        secret,
                        policy_file,
                        engine,
                        in_memory=in_memory,
                        signed=sign is not None,
                        by=by,
                    )
                with record.explain_failure():
                    complete, certificate = write_release(
                        release_plan, engine, reading, release_key, record, staging, progress, sign
                    )
            return commit_release(complete, folder, record, certificate, force=force)


def _begin(
    record: Record,
    ledger: Ledger,
    pending: PendingRelease,
    policy: AnyPolicy,
    secret: bytes,
    policy_file: Path | None,
    engine: Engine,
    *,
    in_memory: bool,
    signed: bool,
    by: str | None,
) -> Record:
    """Record the release as begun: from here on it counts as spent, and can be resumed."""
    # Until the release is finished the ledger holds the key, so that a resumed one has the same output.
    kept = not policy.sampling.already_drawn or policy.sampling.thin is not None
    seal = policy.sampling.key == "seal" and kept
    entry = ledger.begin(pending.spending, identity=pending.identity, key=secret, seal=seal, by=by)
    named = None if policy_file is None else str(policy_file)
    python = in_memory or policy.data.format == "frame"
    command = resume_command(ledger, entry, named, engine.name, python=python, signed=signed)
    emit_recorded(ledger, entry)
    return replace(record, entry=entry, sample=pending.spending.sample, command=command)
