"""What a crash left beside a target is settled before anything new begins there."""

from __future__ import annotations

import os
from pathlib import Path

from crowdblend.errors import InvalidInput
from crowdblend.ledger import Entry, Ledger
from crowdblend.publishing.appearance import appear, digest_of, remove
from crowdblend.publishing.staging import Staging, staged


def recover(folder: Path, ledger: Ledger | None) -> None:
    """Finish every release of this target that was recorded as finished, and remove what nobody needs.

    What can still be resumed stays, and so does what belongs to a ledger that is not at hand. Call it alone.
    """
    for staging in staged(folder):
        _settle(staging, folder, ledger)


def of_entry(folder: Path, entry: Entry) -> list[Staging]:
    """The staging folders of an entry, those that are whole first."""
    mine = (staging for staging in staged(folder) if _belongs(staging, entry))
    return sorted(mine, key=lambda staging: staging.journal.whole is None)


def is_staged(staging: Staging) -> bool:
    """Whether the release is completely written and has not appeared."""
    whole = staging.journal.whole
    return whole is not None and digest_of(staging.release) == whole.certificate_digest


def _settle(staging: Staging, folder: Path, ledger: Ledger | None) -> None:
    journal = staging.journal
    if journal.whole is not None and digest_of(folder) == journal.whole.certificate_digest:
        remove(staging, folder)
    elif staging.retired.exists() and not os.path.lexists(folder):
        appear(staging, folder, force=True)
    elif staging.retired.exists():
        return
    elif journal.entry is None:
        # Nothing was recorded, so nobody saw this output; but never remove a release that was replaced.
        if journal.whole is None or is_staged(staging):
            staging.discard()
    else:
        entry = _entry(staging, ledger)
        if entry is None or entry.status == "unfinished":
            return
        if journal.whole is None:
            staging.discard()
        elif is_staged(staging) and journal.whole.certificate_digest == entry.certificate_digest:
            appear(staging, folder, force=journal.force)


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
