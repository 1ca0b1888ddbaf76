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
from crowdblend.publishing.exchange import exchange, rename_to_new
from crowdblend.publishing.staging import Staging, flush
from crowdblend.publishing.target import CERTIFICATE, check_target
from crowdblend.regular_files import read_regular


def commit(staging: Staging, folder: Path, *, force: bool) -> None:
    """The staged release takes the name of the target; what it replaces is removed."""
    if staging.old_release.exists() and not os.path.lexists(folder):
        rename_to_new(staging.release, folder)
    else:
        # Someone may have made a folder of that name meanwhile; it is not ours to replace.
        check_target(folder, force=force)
        _take_name(staging, folder)
    flush(folder.parent)
    remove(staging, folder)


def _take_name(staging: Staging, folder: Path) -> None:
    if not os.path.lexists(folder):
        try:
            rename_to_new(staging.release, folder)
        except FileExistsError:
            reason = f"{folder} appeared meanwhile and is somebody else's. Move it away."
            raise InvalidInput(reason, where="--out", code="output-exists") from None
    elif not exchange(staging.release, folder):
        folder.rename(staging.old_release)
        rename_to_new(staging.release, folder)


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
