"""Recovery of what a crash left beside a target, before anything new begins there."""

from __future__ import annotations

import os
from pathlib import Path

from crowdblend.errors import InvalidInput
from crowdblend.ledger import Entry, Ledger
from crowdblend.publishing.committing import commit, digest_of, remove
from crowdblend.publishing.staging import Staging, stagings_of


def recover(folder: Path, ledger: Ledger | None) -> None:
    """Finish every release of this target that was recorded as finished, and remove what nobody needs.

    What can still be resumed stays, and so does what belongs to a ledger that is not at hand, or what would replace
    something that nobody said it should. Call it alone.
    """
    for staging in stagings_of(folder):
        _settle(staging, folder, ledger)


def of_entry(folder: Path, entry: Entry) -> list[Staging]:
    """Return the staging folders of an entry, those that are complete first."""
    mine = (staging for staging in stagings_of(folder) if _belongs(staging, entry))
    return sorted(mine, key=lambda staging: staging.journal.completion is None)


def is_complete(staging: Staging) -> bool:
    """Return whether the release is completely written and has not appeared."""
    completion = staging.journal.completion
    return completion is not None and digest_of(staging.release) == completion.certificate_digest


def _is_finished(staging: Staging, entry: Entry) -> bool:
    completion = staging.journal.completion
    return is_complete(staging) and completion is not None and completion.certificate_digest == entry.certificate_digest


def _settle(staging: Staging, folder: Path, ledger: Ledger | None) -> None:
    journal = staging.journal
    if journal.completion is not None and digest_of(folder) == journal.completion.certificate_digest:
        remove(staging, folder)
    elif staging.old_release.exists() and not os.path.lexists(folder):
        commit(staging, folder, force=True)
    elif staging.old_release.exists():
        return
    elif journal.entry is None:
        # Nothing was recorded, so nobody saw this output; but never remove a release that was replaced.
        if journal.completion is None or is_complete(staging):
            staging.discard()
    else:
        entry = _entry(staging, ledger)
        if entry is None or entry.status == "unfinished":
            return
        if journal.completion is None:
            staging.discard()
        elif _is_finished(staging, entry) and (journal.force or not os.path.lexists(folder)):
            commit(staging, folder, force=journal.force)


def _entry(staging: Staging, ledger: Ledger | None) -> Entry | None:
    if ledger is None or staging.journal.entry is None:
        return None
    try:
        entry = ledger.entry(staging.journal.entry)
    except InvalidInput:
        return None
    return entry if _belongs(staging, entry) else None


def _belongs(staging: Staging, entry: Entry) -> bool:
    return (staging.journal.entry, staging.journal.sample) == (entry.id, entry.spending.sample)
