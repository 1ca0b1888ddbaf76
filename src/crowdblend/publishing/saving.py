"""Write the files of a release that is in memory into a folder."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from crowdblend.errors import Unavailable
from crowdblend.publishing.committing import commit
from crowdblend.publishing.staging import Completion, Journal, Staging
from crowdblend.publishing.target import check_target, exclusive_use


def save(files: Mapping[str, bytes], folder: Path, *, force: bool) -> Path:
    """Return the folder, which appears whole or not at all; an existing one is refused without `force`."""
    digest = json.loads(files["certificate.json"])["digest"]
    check_target(folder, force=force)
    with exclusive_use(folder):
        try:
            staging = Staging.make(folder, Journal(force=force))
            for name, content in files.items():
                (staging.release / name).write_bytes(content)
            staging = staging.complete(Completion(digest, ""))
            commit(staging, folder, force=force)
        except OSError as problem:
            reason = f"{folder.parent} cannot be written: {problem.strerror}."
            raise Unavailable(reason, remedy="Choose another folder.", code="write-failed", where="folder") from None
    return folder
