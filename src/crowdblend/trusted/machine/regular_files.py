"""Opening of files named by a user: reading a pipe would hang, and a device may never end.

Both raise OSError with the reason in `strerror`, as every other failure to open a file does.
"""

from __future__ import annotations

import errno
import os
import stat
from io import BufferedReader
from pathlib import Path

from crowdblend.trusted.machine.system import open_reading

MOST_BYTES = 10_000_000


def open_regular(path: Path | str, *, follow: bool = True) -> BufferedReader:
    """Open a regular file for reading, and nothing else; a link only if it is to be followed."""
    handle = open_reading(path, follow=follow)
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise OSError(errno.EINVAL, "it is not a regular file")
    return open(handle, "rb")


def read_regular(path: Path | str, most: int = MOST_BYTES) -> bytes:
    """Return the content of a regular file of at most this many bytes."""
    with open_regular(path) as file:
        content = file.read(most + 1)
    if len(content) > most:
        raise OSError(errno.EFBIG, f"it has more than {most:,} bytes")
    return content
