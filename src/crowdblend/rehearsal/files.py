"""Publications written and read again, in memory where the system offers it."""

from __future__ import annotations

import os
import shutil
import tempfile
from multiprocessing.util import Finalize
from pathlib import Path

from crowdblend.kinds.kind import Publication

# A run writes a few small files, and the disk would be most of its time.
_MEMORY = "/dev/shm"


class Files:
    """A folder that one publication after the other is written to."""

    def __init__(self) -> None:
        memory = _MEMORY if os.path.isdir(_MEMORY) and os.access(_MEMORY, os.W_OK) else None
        self._folder = Path(tempfile.mkdtemp(prefix="crowdblend-rehearsal-", dir=memory))
        # Unlike what is registered with atexit this also runs in the processes that an audit starts.
        Finalize(self, shutil.rmtree, (self._folder,), {"ignore_errors": True}, exitpriority=0)

    def of(self, published: Publication) -> dict[str, bytes]:
        """What the files of a publication hold, by name."""
        published.write(self._folder)
        held = {}
        for file in list(self._folder.iterdir()):
            held[file.name] = file.read_bytes()
            file.unlink()
        return held
