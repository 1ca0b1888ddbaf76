"""A release that was begun and stopped is finished with the key that it was begun with, and so with the same output.

The same job twice is one release. So what a crash stopped is resumed by `ledger resume`, and by a new start of the
same policy with the same data and target (`pending.stopped_release` says which release that is).
"""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from crowdblend.errors import InvalidInput
from crowdblend.kinds import AnyPolicy, plan
from crowdblend.ledger import Entry, Ledger
from crowdblend.policies.load import load_policy
from crowdblend.policies.source import DataSource, require_rows
from crowdblend.publishing.committing import digest_of, is_complete, of_entry, recover
from crowdblend.publishing.finished_release import Release
from crowdblend.publishing.pending import resumed_spending
from crowdblend.publishing.policy_digest import plan_secret, policy_digest
from crowdblend.publishing.record import Record, refuse_another, resume_command
from crowdblend.publishing.staging import Journal, Staging
from crowdblend.publishing.steps import Sign, commit_release, staging_for, write_release
from crowdblend.publishing.target import IN_MEMORY, check_target, exclusive_use, remove_empty
from crowdblend.sources.engines.choice import default_engine, on_disk
from crowdblend.sources.engines.engine import Engine, Progress
from crowdblend.sources.engines.kept_open import KeptOpen
from crowdblend.sources.engines.unchanged_files import unchanged_files
from crowdblend.trusted.calculus import verify_file
from crowdblend.trusted.calculus.folder_files import CERTIFICATE
from crowdblend.trusted.machine.version import __version__
from crowdblend.trusted.randomness import ReleaseKey


def resume(
    ledger: Ledger,
    entry_id: int,
    policy: AnyPolicy | None = None,
    *,
    out: Path | None = None,
    force: bool = False,
    progress: Progress | None = None,
    engine: Engine | None = None,
    sign: Sign | None = None,
    figures: bool = True,
) -> Release:
    """Publish a release that was begun and stopped, with the output that it would have had.

    It appears in the folder that was recorded, or in `out`. Where everything was written, it only takes its name. Else
    it is computed again with the key that the ledger holds, from the policy that it was begun with: the one that is
    passed, or that of the file that was recorded. `sign` signs it then, as in `release`.
    """
    entry = ledger.entry(entry_id)
    if entry.spending.folder == IN_MEMORY:
        raise _kept_in_memory(entry)
    begun = Path(entry.spending.folder)
    if out is None and not begun.is_absolute():
        reason = f"Release {entry_id} was recorded without its folder. Name a folder for it: `--out`."
        raise InvalidInput(reason, code="cannot-resume", where=f"release {entry_id}")
    folder = begun if out is None else out.absolute()
    with ExitStack() as locks:
        for each in {folder, begun} if begun.is_absolute() and os.access(begun.parent, os.W_OK) else {folder}:
            locks.enter_context(exclusive_use(each))
            recover(each, ledger)
        entry = ledger.entry(entry_id)
        stopped = StoppedRelease.of(ledger, entry, folder)
        if stopped.is_finished:
            return stopped.read_published()
        remove_empty(folder)
        force = force or stopped.force
        check_target(folder, force=force)
        if stopped.complete is not None:
            return stopped.commit(stopped.complete, force=force)
        policy = policy or stopped.recorded_policy()
        require_rows(policy.data)
        with on_disk(policy.data, policy.resources, divided=plan(policy).divides_people) as data:
            return stopped.publish(
                policy, data, engine or default_engine(), force=force, progress=progress, sign=sign, figures=figures
            )


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
    require_rows(policy.data)
    stopped = StoppedRelease.of(ledger, entry, folder)
    with on_disk(policy.data, policy.resources, divided=plan(policy).divides_people) as data:
        return stopped.publish(
            policy, data, engine or default_engine(), force=False, progress=progress, figures=figures
        )


def _kept_in_memory(entry: Entry) -> InvalidInput:
    reason = f"Release {entry.id} was kept in memory."
    remedy = "It is finished, so that there is nothing to resume."
    if entry.status == "unfinished":
        remedy = f"Resume it from Python: crowdblend.resume({entry.id}, data, policy)."
    return InvalidInput(reason, remedy=remedy, code="cannot-resume", where=f"release {entry.id}")


@dataclass(frozen=True)
class StoppedRelease:
    """A release that was begun, the folder that it is to appear as, and what was left behind of it."""

    ledger: Ledger
    entry: Entry
    folder: Path
    stagings: tuple[Staging, ...] = ()
    """Its private folders beside both targets, the one that was recorded and the one that is named now."""

    @classmethod
    def of(cls, ledger: Ledger, entry: Entry, folder: Path) -> StoppedRelease:
        """Return the release of an entry, with what is left of it."""
        places = {folder, Path(entry.spending.folder)}
        found = [staging for place in places for staging in of_entry(place, entry)]
        return cls(ledger, entry, folder, tuple(found))

    @property
    def complete(self) -> Staging | None:
        """The private folder in which everything was written, if there is one."""
        return next((staging for staging in self.stagings if is_complete(staging)), None)

    @property
    def is_finished(self) -> bool:
        """True if it was recorded as finished, and nothing waits for its name."""
        return self.entry.status == "finished" and self.complete is None

    def read_published(self) -> Release:
        """Return a release that is finished, from its folder."""
        entry, folder = self.entry, self.folder
        if digest_of(folder) != entry.certificate_digest:
            reason = f"Release {entry.id} is finished, and is no longer at {folder}. There is nothing to resume."
            raise InvalidInput(reason, code="release-moved", where=f"release {entry.id}")
        return Release(verify_file(folder / CERTIFICATE), folder, entry.id, internal=entry.internal)

    @property
    def force(self) -> bool:
        """True if it was begun to replace a release."""
        return any(staging.journal.force for staging in self.stagings)

    def recorded_policy(self) -> AnyPolicy:
        """Return the policy of the file that it was begun with."""
        path = next((one.journal.policy for one in self.stagings if one.journal.policy is not None), None)
        if path is None:
            reason = f"Release {self.entry.id} is to be computed again. Pass the policy that it was begun with."
            raise InvalidInput(reason, code="policy-needed", where="POLICY")
        return load_policy(path)

    def commit(self, complete: Staging, *, force: bool) -> Release:
        """Return the release, whose files are all written and take their name now."""
        record = Record(self.ledger, self.entry.id, command=resume_command(self.ledger, self.entry.id))
        certificate = verify_file(complete.release)
        own = complete.path.parent == self.folder.parent and complete.path.name.startswith(f".{self.folder.name}.")
        staging = complete if own else complete.copied_to(self.folder)
        done = commit_release(staging, self.folder, record, certificate, force=force)
        if not own:
            complete.discard()
        return done

    def publish(
        self,
        policy: AnyPolicy,
        data: DataSource,
        engine: Engine,
        *,
        force: bool,
        progress: Progress | None = None,
        sign: Sign | None = None,
        figures: bool = True,
        confirm: Callable[[], None] | None = None,
    ) -> Release:
        """Return the release after it took its name; where not all was written, it is computed again.

        `data` is the source of the policy, or its copy on this disk. `confirm` is called before anything appears.
        """
        if self.is_finished:
            return self.read_published()
        if confirm is not None:
            confirm()
        force = force or self.force
        if self.complete is not None:
            return self.commit(self.complete, force=force)
        self._check_version()
        before = next((staging.journal for staging in self.stagings), Journal(force=force))
        if before.signed and sign is None:
            message = f"Release {self.entry.id} was begun to be signed."
            remedy = "Pass the key again: `--sign`."
            raise InvalidInput(message, remedy=remedy, code="signature-needed", where="`--sign`")
        for staging in self.stagings:
            staging.discard()
        journal = Journal(force, policy=before.policy, figures=figures and before.figures, signed=sign is not None)
        return self._compute(policy, data, engine, journal, progress, sign)

    def _compute(
        self,
        policy: AnyPolicy,
        data: DataSource,
        engine: Engine,
        journal: Journal,
        progress: Progress | None,
        sign: Sign | None,
    ) -> Release:
        """Compute the release a second time with the same key."""
        ledger, entry = self.ledger, self.entry
        planned = plan(policy if data is policy.data else policy.with_source(data))
        key = ledger.key(entry.id)
        python = data.format == "frame" or entry.spending.folder == IN_MEMORY
        command = resume_command(ledger, entry.id, journal.policy, engine.name, python=python, signed=journal.signed)
        record = Record(ledger, entry.id, entry.spending.sample, command)
        with staging_for(self.folder, journal) as staging, record.explain_failure():
            release_key = ReleaseKey(plan_secret(policy, key))
            with unchanged_files(data), ExitStack() as opened:
                reads = KeptOpen(engine, opened, progress)
                digest = policy_digest(policy, engine.assumptions)
                refuse_another(entry, resumed_spending(planned, ledger, key, entry, reads, digest))
                reading = planned.read(reads, release_key, progress)
            complete, certificate = write_release(
                planned, engine, reading, release_key, record, staging, progress, sign
            )
        return commit_release(complete, self.folder, record, certificate, force=journal.force)

    def _check_version(self) -> None:
        if self.entry.software != f"crowdblend {__version__}":
            reason = f"Release {self.entry.id} was begun with {self.entry.software}."
            remedy = "Resume it with that version, or begin another release: `--new`."
            raise InvalidInput(reason, remedy=remedy, code="other-version", where=f"release {self.entry.id}")
