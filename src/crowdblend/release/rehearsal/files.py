"""Publications written and read again, in memory where the system offers it."""

from __future__ import annotations

import os
import shutil
import tempfile
import weakref
from pathlib import Path

from crowdblend.release.kind import Publication

# A run writes a few small files, and the disk would be most of its time.
_MEMORY = "/dev/shm"


class Files:
    """A folder that one publication after the other is written to."""

    def __init__(self) -> None:
        memory = _MEMORY if os.path.isdir(_MEMORY) and os.access(_MEMORY, os.W_OK) else None
        self._folder = Path(tempfile.mkdtemp(prefix="crowdblend-rehearsal-", dir=memory))
        weakref.finalize(self, shutil.rmtree, self._folder, ignore_errors=True)

    def of(self, published: Publication) -> dict[str, bytes]:
        """What the files of a publication hold, by name."""
        published.write(self._folder)
        return {file.name: file.read_bytes() for file in self._folder.iterdir()}
