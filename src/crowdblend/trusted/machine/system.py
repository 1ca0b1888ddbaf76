"""Everything that differs between operating systems; all other files are the same on Linux, macOS and Windows.

Each function asks for what it needs and not for the name of a system, so that tests try every branch on any of them by
taking away what Windows lacks. Where Windows has no such thing, the docstring says what holds there.
"""

from __future__ import annotations

import errno
import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from importlib import import_module
from pathlib import Path
from typing import Any

from crowdblend.trusted.machine.lazy import lazy_imports

with lazy_imports():
    import ctypes
    import secrets
    import shutil
    import socket
    import subprocess

    import filelock

# The numbers of <linux/fs.h> and of <sys/stdio.h> on macOS, and the functions that take them.
_RENAMES = {
    "linux": ("renameat2", -100, {"new": 1, "exchange": 2}),
    "darwin": ("renameatx_np", -2, {"new": 4, "exchange": 2}),
}
# What a kernel, a C library or a file system says that cannot do it.
_UNKNOWN = (errno.ENOSYS, errno.EINVAL, errno.EOPNOTSUPP, errno.ENOTSUP)
_NO_FOLLOW = getattr(os, "O_NOFOLLOW", 0)
_NO_WAITING = getattr(os, "O_NONBLOCK", 0)
_FOLDER = getattr(os, "O_DIRECTORY", 0)
_MEMORY = "/dev/shm"

try:
    resource: Any = import_module("resource")
except ImportError:  # Windows
    resource = None


# Signals and processes


def ending_signals() -> tuple[int, ...]:
    """Return the signals by which a terminal or a supervisor ends a process: Ctrl-C is the last."""
    names = ("SIGTERM", "SIGHUP", "SIGBREAK", "SIGINT")  # SIGBREAK is Windows' own
    return tuple(getattr(signal, name) for name in names if hasattr(signal, name))


def own_group() -> dict[str, Any]:
    """Return the arguments with which a process is started so that it can be ended with what it starts."""
    flag = getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", None)
    return {"start_new_session": True} if flag is None else {"creationflags": flag}


def ask_to_end(process: subprocess.Popen[bytes]) -> None:
    """Ask a process with a group of its own to end; it removes what it wrote.

    Windows ends a process on any signal but those of a console, and a studio without a console ends it so.
    """
    try:
        process.send_signal(getattr(signal, "CTRL_BREAK_EVENT", signal.SIGTERM))
    except OSError:
        process.terminate()


def end_group(process: subprocess.Popen[bytes]) -> None:
    """End a process at once, with what it started; on Windows without."""
    if hasattr(os, "killpg") and hasattr(signal, "SIGKILL"):
        os.killpg(process.pid, signal.SIGKILL)
    else:
        process.kill()


def limit_memory(memory: int) -> None:
    """Limit the memory of this process, in bytes, where the operating system can: Windows cannot."""
    if resource is not None:
        _, most = resource.getrlimit(resource.RLIMIT_DATA)
        allowed = memory if most == resource.RLIM_INFINITY else min(memory, most)
        resource.setrlimit(resource.RLIMIT_DATA, (allowed, most))


def limit_seconds(seconds: float) -> None:
    """End this process after this time of work, where the operating system can: Windows cannot."""
    if resource is not None:
        whole = int(seconds) + 1
        resource.setrlimit(resource.RLIMIT_CPU, (whole, whole))


def peak_memory() -> int | None:
    """Return the most memory that this process held at once, in bytes; None where the system does not count it."""
    if resource is None:
        return None
    most: int = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most if sys.platform == "darwin" else most * 1024


# The user, and folders of theirs


def unnamed_user() -> str:
    """Return a user whom the system has no name for."""
    return f"user {os.getuid()}" if hasattr(os, "getuid") else "unknown user"


def data_folder() -> Path:
    """Return $XDG_DATA_HOME where that is a full path, as its specification says, else what is usual on this system.

    Raises RuntimeError where this user has no home.
    """
    stated = os.environ.get("XDG_DATA_HOME", "")
    if os.path.isabs(stated):
        return Path(stated)
    if not hasattr(os, "getuid") and os.path.isabs(local := os.environ.get("LOCALAPPDATA", "")):
        return Path(local)
    return Path.home() / ".local" / "share"


def state_folder() -> Path:
    """Return $XDG_STATE_HOME where that is a full path, else what is usual on this system: see `data_folder`."""
    stated = os.environ.get("XDG_STATE_HOME", "")
    if os.path.isabs(stated):
        return Path(stated)
    if not hasattr(os, "getuid") and os.path.isabs(local := os.environ.get("LOCALAPPDATA", "")):
        return Path(local)
    return Path.home() / ".local" / "state"


def memory_folder() -> str | None:
    """Return a folder in memory, or None where the system has none that can be written."""
    return _MEMORY if os.path.isdir(_MEMORY) and os.access(_MEMORY, os.W_OK) else None


# Files


def open_reading(path: Path | str, *, follow: bool = True) -> int:
    """Open a file for reading: no waiting for the writer of a pipe, and a link only if it is to be followed."""
    handle = os.open(path, os.O_RDONLY | _NO_WAITING | (0 if follow else _NO_FOLLOW))
    if not follow and not _NO_FOLLOW and not os.path.samestat(os.lstat(path), os.fstat(handle)):
        os.close(handle)
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), str(path))
    return handle


def open_appending(path: Path | str, mode: int = 0o640) -> int:
    """Open a file, which is made where it is missing, for writing at its end; no waiting for the reader of a pipe."""
    return os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | _NO_WAITING, mode)


def close_to_others(path: Path) -> None:
    """Let the owner alone read a file; on Windows, who may read it is what the folder says."""
    if hasattr(os, "getuid") and path.stat().st_mode & 0o077:
        with suppress(PermissionError):  # someone else's file is theirs to protect
            path.chmod(0o600)


def flush(path: Path) -> None:
    """Wait until a file, or the names in a folder, are on the disk; Windows writes names on its own."""
    if not _FOLDER:
        if path.is_dir():
            return
        handle = os.open(path, os.O_RDWR)  # Windows flushes only what may be written
    else:
        handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def has_room(folder: Path, size: int, files: int) -> bool:
    """Return whether this user can write this number of bytes and files into a folder."""
    if hasattr(os, "statvfs"):
        room = os.statvfs(folder)
        # Some file systems make room for files as they go, and count none.
        superuser = getattr(os, "geteuid", lambda: None)() == 0
        few = room.f_files and room.f_favail < files and not superuser
        return room.f_bavail * room.f_frsize >= size and not few
    return shutil.disk_usage(folder).free >= size


@contextmanager
def file_lock(path: Path) -> Iterator[None]:
    """Hold a lock, which is a file that others see and that is removed at the end.

    Raises BlockingIOError while another process or thread holds it. A lock on a file that had been removed by then is
    one that others do not see; it is given up, and tried again.
    """
    lock = filelock.FileLock(path, mode=0o600, thread_local=False)
    try:
        lock.acquire(timeout=0.2, poll_interval=0.02)
    except filelock.Timeout:
        raise BlockingIOError(errno.EAGAIN, os.strerror(errno.EAGAIN), str(path)) from None
    try:
        yield
    finally:
        removed = _remove(path)
        lock.release()
        if not removed:  # Windows removes no file that is open
            _remove(path)


def _remove(path: Path) -> bool:
    try:
        path.unlink(missing_ok=True)
    except OSError:
        return False
    return True


def write_below(folder: Path, parts: tuple[str, ...], text: str) -> None:
    """Write a file below a folder; a link on the way is refused, even one that is put there meanwhile.

    Windows cannot name a file by the folder that is open: there, links are looked for before and after.
    """
    *above, name = parts
    part = f".{secrets.token_hex(8)}.part"
    if os.open not in os.supports_dir_fd:
        place = folder.joinpath(*above)
        place.mkdir(parents=True, exist_ok=True)
        _refuse_links(folder, above)
        with (place / part).open("x", encoding="utf-8", newline="\n") as file:
            file.write(text)
        _refuse_links(folder, above)
        os.replace(place / part, place / name)
        return
    opened = os.open(folder, os.O_RDONLY | _FOLDER)
    try:
        for one in above:
            with suppress(FileExistsError):
                os.mkdir(one, dir_fd=opened)
            below = os.open(one, os.O_RDONLY | _FOLDER | _NO_FOLLOW, dir_fd=opened)
            os.close(opened)
            opened = below
        made = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644, dir_fd=opened)
        with os.fdopen(made, "w", encoding="utf-8", newline="\n") as file:
            file.write(text)
        os.replace(part, name, src_dir_fd=opened, dst_dir_fd=opened)
    finally:
        os.close(opened)


def _refuse_links(folder: Path, above: list[str]) -> None:
    place = folder.joinpath(*above)
    if os.path.realpath(place) != os.path.join(os.path.realpath(folder), *above):
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), str(place))


# Two renames in one step: under a new name only, and two names exchanged


def rename_to_new(source: Path, target: Path) -> None:
    """Rename, and raise FileExistsError when something has that name already, in one step where that is possible.

    Elsewhere a look and a rename: POSIX then still refuses a folder with something in it, and Windows every name.
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
    _, here, flags = _RENAMES[sys.platform]
    if rename(here, os.fsencode(source), here, os.fsencode(target), flags[how]) == 0:
        return True
    number = ctypes.get_errno()
    if number in _UNKNOWN:
        return False
    raise OSError(number, os.strerror(number), str(source), None, str(target))


def _system_rename() -> Callable[..., int] | None:
    """Return the function of the C library, or None."""
    if sys.platform not in _RENAMES:
        return None
    function = getattr(ctypes.CDLL(None, use_errno=True), _RENAMES[sys.platform][0], None)
    if function is not None:
        function.argtypes = (ctypes.c_int, ctypes.c_char_p, ctypes.c_int, ctypes.c_char_p, ctypes.c_uint)
    return function


# Sockets


def take_port(own: socket.socket, address: tuple[str, int]) -> None:
    """Bind a socket to a port that nobody else listens on: on Windows SO_REUSEADDR would share it with others."""
    alone = getattr(socket, "SO_EXCLUSIVEADDRUSE", None)
    own.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR if alone is None else alone, 1)
    own.bind(address)
