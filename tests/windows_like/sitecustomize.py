"""Take away what Windows lacks, when a process starts; see `tests.windows_like`."""
# mypy: ignore-errors

# The parts of the standard library that decide at their import how they work on this system.
import asyncio
import builtins
import concurrent.futures.thread  # noqa: F401
import getpass  # noqa: F401
import io
import json
import multiprocessing.util  # noqa: F401
import os
import pathlib  # noqa: F401
import selectors
import shutil
import signal
import socket  # noqa: F401
import subprocess
import sys
import tempfile  # noqa: F401
import types
import warnings

# The library of locks uses those of this system in place of Windows' own.
import filelock
import filelock._api
import filelock._unix
import filelock._util

_os = types.ModuleType("os")
_os.__dict__.update(os.__dict__)
# So does the half of the standard library that Python on Windows has in other files.
for _part in (filelock._unix, filelock._api, filelock._util, subprocess, asyncio.unix_events, asyncio.base_events):
    _part.os = _os

_CTRL_BREAK, _KILL = signal.SIGUSR1, signal.SIGKILL
_statvfs = os.statvfs

with open(os.environ["LACKING"], encoding="utf-8") as _file:
    _LACKING = json.load(_file)


class _Missing:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in _LACKING["modules"]:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)


sys.meta_path.insert(0, _Missing())
for _name in _LACKING["modules"]:
    sys.modules.pop(_name, None)
for _module, _names in _LACKING["attributes"].items():
    if _module in ("os", "signal", "socket", "time", "select", "shutil"):
        for _name in _names:
            # Pairs of sockets are made of AF_UNIX here.
            if _name != "AF_UNIX" and hasattr(sys.modules.get(_module), _name):
                delattr(sys.modules[_module], _name)
selectors.DefaultSelector = subprocess._PopenSelector = selectors.SelectSelector
os.supports_dir_fd = set()
shutil._use_fd_functions = False
shutil.disk_usage = lambda path: shutil._ntuple_diskusage(0, 0, _statvfs(path).f_bavail * _statvfs(path).f_frsize)


# Processes: a signal ends them, but for Ctrl-Break, which they can handle.

signal.SIGBREAK, signal.CTRL_BREAK_EVENT = _CTRL_BREAK, 1
subprocess.CREATE_NEW_PROCESS_GROUP = 0x200
_start = subprocess.Popen.__init__


def _started(self, *given, creationflags=0, start_new_session=False, **named):
    assert not start_new_session, "Windows has no sessions"
    _start(self, *given, **named)


def _send(self, number):
    os.kill(self.pid, _CTRL_BREAK if number == signal.CTRL_BREAK_EVENT else _KILL)


subprocess.Popen.__init__ = _started
subprocess.Popen.send_signal = _send
subprocess.Popen.kill = subprocess.Popen.terminate = lambda self: _send(self, signal.SIGTERM)


# Files: lines of text end with CR LF, files that are open stay, some names cannot be given.

warnings.filterwarnings("error", category=EncodingWarning, module=r"crowdblend\.")
_io_open, _os_open, _mkdir = io.open, os.open, os.mkdir


def _check(path):
    if isinstance(path, int):
        return
    name = os.path.basename(os.fsdecode(path).rstrip("/"))
    reserved = any(sign in name for sign in '<>:"|?*\\') or name.endswith((" ", "."))
    if (reserved and name not in (".", "..")) or name.partition(".")[0].upper() in _DEVICES:
        raise OSError(22, "Invalid argument", os.fsdecode(path))


_DEVICES = {"CON", "PRN", "AUX", "NUL", *(f"{port}{number}" for port in ("COM", "LPT") for number in range(1, 10))}


def _open(file, mode="r", buffering=-1, encoding=None, errors=None, newline=None, closefd=True, opener=None):
    _check(file)
    if "b" not in mode and newline is None and set(mode) & set("wxa+"):
        newline = "\r\n"
    if "b" not in mode:
        encoding = io.text_encoding(encoding, 3)
    return _io_open(file, mode, buffering, encoding, errors, newline, closefd, opener)


def _opened(path, flags, mode=0o777, *, dir_fd=None):
    assert dir_fd is None, "Windows has no open folders"
    _check(path)
    if os.path.isdir(path):
        raise PermissionError(13, "Permission denied", os.fsdecode(path))
    return _os_open(path, flags, mode)


def _made(path, mode=0o777, *, dir_fd=None):
    assert dir_fd is None, "Windows has no open folders"
    _check(path)
    _mkdir(path, mode)


builtins.open = io.open = _open
os.open, os.mkdir = _opened, _made


def _refuse_open(path):
    """Refuse to remove or rename a file that this process has open, or a folder with one in it."""
    full = os.path.realpath(os.fsdecode(path)) if not os.path.islink(path) else None
    for number in os.listdir("/proc/self/fd"):
        try:
            held = os.readlink(f"/proc/self/fd/{number}")
        except OSError:
            continue
        if full is not None and (held == full or held.startswith(full + "/")):
            raise PermissionError(13, "The file is open", os.fsdecode(path))


def _guarded(act, *, replaces=False, two=False):
    def guarded(source, *target, dir_fd=None, src_dir_fd=None, dst_dir_fd=None):
        assert (dir_fd, src_dir_fd, dst_dir_fd) == (None, None, None)
        _refuse_open(source)
        if two and os.path.lexists(target[0]):
            if not replaces:
                raise FileExistsError(17, "File exists", os.fsdecode(source))
            if os.path.isdir(target[0]):
                raise PermissionError(13, "Permission denied", os.fsdecode(target[0]))
            _refuse_open(target[0])
        return act(source, *target)

    return guarded


os.unlink = os.remove = _guarded(os.unlink)
os.rmdir = _guarded(os.rmdir)
os.rename = _guarded(os.rename, two=True)
os.replace = _guarded(os.replace, two=True, replaces=True)
