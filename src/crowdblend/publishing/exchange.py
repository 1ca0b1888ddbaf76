"""Two renames that the operating system does in one step: under a new name only, and two names exchanged."""

from __future__ import annotations

import ctypes
import errno
import os
import sys
from collections.abc import Callable
from pathlib import Path

# The numbers of <linux/fs.h> and of <sys/stdio.h> on macOS.
_FLAGS = {"linux": {"new": 1, "exchange": 2}, "darwin": {"new": 4, "exchange": 2}}
_FUNCTIONS = {"linux": "renameat2", "darwin": "renameatx_np"}
_HERE = {"linux": -100, "darwin": -2}
# What a kernel, a C library or a file system says that cannot do it.
_UNKNOWN = (errno.ENOSYS, errno.EINVAL, errno.EOPNOTSUPP, errno.ENOTSUP)


def rename_to_new(source: Path, target: Path) -> None:
    """Rename, and raise FileExistsError when something has that name already, in one step where that is possible.

    Elsewhere a look and a rename: POSIX then still refuses a folder with something in it.
    """
    if _rename(source, target, "new"):
        return
    if os.path.lexists(target):
        raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(target))
    source.rename(target)


def exchange(one: Path, other: Path) -> bool:
    """Let two existing paths change their names in one step; False where the system has no such step."""
    return _rename(one, other, "exchange")


def _rename(source: Path, target: Path, how: str) -> bool:
    rename = _system_rename()
    if rename is None:
        return False
    here = _HERE[sys.platform]
    if rename(here, os.fsencode(source), here, os.fsencode(target), _FLAGS[sys.platform][how]) == 0:
        return True
    number = ctypes.get_errno()
    if number in _UNKNOWN:
        return False
    raise OSError(number, os.strerror(number), str(source), None, str(target))


def _system_rename() -> Callable[..., int] | None:
    """Return the function of the C library, or None."""
    if sys.platform not in _FUNCTIONS:
        return None
    function = getattr(ctypes.CDLL(None, use_errno=True), _FUNCTIONS[sys.platform], None)
    if function is not None:
        function.argtypes = (ctypes.c_int, ctypes.c_char_p, ctypes.c_int, ctypes.c_char_p, ctypes.c_uint)
    return function
