"""A staged release takes its name, and whatever a crash left undone of that is done by the next start.

**Nothing is lost.** Let D be the digest of the staged certificate. The step is one system call: a rename to a name
that nothing has, or an exchange of two names. Before it, the target is what it was and `release/` of the staging folder
has D; after it, the target has D. So a start that finds a staging folder looks for D,
and removes the staging folder only when the target has D: then everything in it was replaced, or when the release was
never recorded as finished and `release/` has D or nothing at all: then it is an output that nobody saw.

Where names cannot be exchanged in one step, the old release first moves to `old/`, then the new one takes the name.
A crash between the two leaves nothing under the name, the old release in `old/` and the new one in `release/`; the
next start finishes the second rename. `old/` is removed only when the target has D.
"""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

from crowdblend.errors import InvalidInput
from crowdblend.ledger import Entry, Ledger
from crowdblend.publishing.staging import Staging, stagings_of
from crowdblend.publishing.target import check_target
from crowdblend.trusted.calculus.folder_files import CERTIFICATE
from crowdblend.trusted.machine.regular_files import read_regular
from crowdblend.trusted.machine.system import exchange, flush, rename_to_new


def commit(staging: Staging, folder: Path, *, force: bool) -> None:
    """The staged release takes the name of the target; what it replaces is removed."""
    if staging.old_release.exists() and not os.path.lexists(folder):
        rename_to_new(staging.release, folder)
    else:
        # Someone may have made a folder of that name meanwhile; it is not ours to replace.
        check_target(folder, force=force)
        if not os.path.lexists(folder):
            try:
                rename_to_new(staging.release, folder)
            except FileExistsError:
                reason = f"{folder} appeared meanwhile and is somebody else's. Move it away."
                raise InvalidInput(reason, where="`--out`", code="output-exists") from None
        elif not exchange(staging.release, folder):
            folder.rename(staging.old_release)
            rename_to_new(staging.release, folder)
    flush(folder.parent)
    remove(staging, folder)


def remove(staging: Staging, folder: Path) -> None:
    """Remove a staging folder whose release has appeared, and with it what was replaced; or leave it alone."""
    completion = staging.journal.completion
    if completion is None or digest_of(folder) != completion.certificate_digest:
        return
    for old in (staging.release, staging.old_release):
        if old.is_symlink():
            old.unlink()
        else:
            shutil.rmtree(old, ignore_errors=True)
    staging.discard()


def digest_of(folder: Path) -> str | None:
    """Return the digest that the certificate in a folder states, or None."""
    try:
        stated = json.loads(read_regular(folder / CERTIFICATE))["digest"]
    except (OSError, ValueError, TypeError, LookupError, RecursionError):
        return None
    return stated if isinstance(stated, str) else None


def recover(folder: Path, ledger: Ledger | None) -> str | None:
    """Finish every release of this target that was recorded as finished, and remove what nobody needs.

    Returns the digest of the release under the name, where a stopped start had left it without its last step. What can
    still be resumed stays, and so does what belongs to a ledger that is not at hand, or what would replace something
    that nobody said it should. Call it alone.
    """
    left = list(stagings_of(folder))
    for staging in left:
        _settle(staging, folder, ledger)
    written = {one.journal.completion.certificate_digest for one in left if one.journal.completion is not None}
    named = digest_of(folder) if written else None
    return named if named in written else None


def of_entry(folder: Path, entry: Entry) -> list[Staging]:
    """Return the staging folders of an entry, those that are complete first."""
    mine = (staging for staging in stagings_of(folder) if _belongs(staging, entry))
    return sorted(mine, key=lambda staging: staging.journal.completion is None)


def is_complete(staging: Staging) -> bool:
    """Return whether the release is completely written and has not appeared."""
    completion = staging.journal.completion
    return completion is not None and digest_of(staging.release) == completion.certificate_digest


def _settle(staging: Staging, folder: Path, ledger: Ledger | None) -> None:
    journal, completion = staging.journal, staging.journal.completion
    if completion is not None and digest_of(folder) == completion.certificate_digest:
        remove(staging, folder)
    elif staging.old_release.exists():
        if not os.path.lexists(folder):
            commit(staging, folder, force=True)
    elif journal.entry is None:
        # Nothing was recorded, so nobody saw this output; but never remove a release that was replaced.
        if completion is None or is_complete(staging):
            staging.discard()
    elif ledger is not None:
        entry = next((one for one in ledger.entries() if _belongs(staging, one)), None)
        if entry is None or entry.status == "unfinished":
            return
        if completion is None:
            staging.discard()
        elif (
            is_complete(staging)
            and completion.certificate_digest == entry.certificate_digest
            and (journal.force or not os.path.lexists(folder))
        ):
            commit(staging, folder, force=journal.force)


def _belongs(staging: Staging, entry: Entry) -> bool:
    return (staging.journal.entry, staging.journal.sample) == (entry.id, entry.spending.sample)
