"""Jobs in processes of their own: a page may be reloaded meanwhile, and a cancelled job cleans up after itself.

Every job has a folder: `job.json` says what to do, `status.json` how far it is, and what came of it.
"""

from __future__ import annotations

import re
import secrets
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

import msgspec

from crowdblend.errors import InvalidInput, Refused
from crowdblend.trusted.machine.system import ask_to_end, end_group, own_group
from crowdblend.trusted.machine.type_resolution import resolve

STATUS, JOB = "status.json", "job.json"
OWN = "{folder}/"
_ID = re.compile(r"[0-9a-f]{12}")
_MOST_RUNNING = 4
# How long a cancelled job has to remove what it wrote.
_GRACE = 20.0
# Ended jobs beyond this many are deleted, the oldest first, unless a draft still shows them.
_MOST_KEPT = 50


@dataclass(frozen=True)
class Order:
    """The task of a job."""

    action: str
    arguments: Mapping[str, object]


@dataclass(frozen=True)
class Status:
    """The state of a job (running, done, refused, cancelled or stopped), and its outcome."""

    state: str = "running"
    phase: str = ""
    rows: int = 0
    result: Mapping[str, object] = field(default_factory=dict)
    error: Mapping[str, object] | None = None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Job(Status):
    """A job: its task and its state."""

    id: str = ""
    action: str = ""
    arguments: Mapping[str, object] = field(default_factory=dict)
    seconds: int = 0
    """How long ago it was begun."""

    @property
    def running(self) -> bool:
        """True if it still runs."""
        return self.state == "running"


class Jobs:
    """The jobs of one studio."""

    def __init__(self, folder: Path, jobs_to_keep: Callable[[], Iterable[str]] = tuple) -> None:
        self._folder = folder
        self._wanted = jobs_to_keep
        self._running: dict[str, subprocess.Popen[bytes]] = {}
        self._cancelled: set[str] = set()
        self._lock = threading.Lock()

    def start(self, action: str, arguments: Mapping[str, object]) -> str:
        """Begin a job; `arguments` may name files under its own folder as {folder}."""
        with self._lock:
            self._running = {number: one for number, one in self._running.items() if one.poll() is None}
            if len(self._running) >= _MOST_RUNNING:
                message = f"{_MOST_RUNNING} jobs are running."
                raise Refused(message, remedy="Wait for one of them, or cancel it.", where="jobs", code="studio.busy")
            self.prune()
            number = secrets.token_hex(6)
            folder = self._folder / number
            folder.mkdir(parents=True, mode=0o700)
            given = {
                name: f"{folder}/{one.removeprefix(OWN)}" if isinstance(one, str) and one.startswith(OWN) else one
                for name, one in arguments.items()
            }
            (folder / JOB).write_bytes(msgspec.json.encode(Order(action, given)))
            # Something is said before the process says it.
            (folder / STATUS).write_bytes(msgspec.json.encode(Status(phase="starting")))
            # -P: a module that lies in the folder of the data is not imported.
            command = [sys.executable, "-P", "-m", "crowdblend.studio.work", str(folder)]
            with (folder / "log.txt").open("wb") as log:
                self._running[number] = subprocess.Popen(
                    command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=log, **own_group()
                )
        return number

    def get(self, job_id: str) -> Job:
        """Return how far a job is."""
        if not _ID.fullmatch(job_id):
            raise _missing()
        folder = self._folder / job_id
        try:
            order = msgspec.json.decode((folder / JOB).read_bytes(), type=resolve(Order))
        except (OSError, msgspec.MsgspecError):
            raise _missing() from None
        process = self._running.get(job_id)
        ended = process is None or process.poll() is not None
        try:
            status = msgspec.json.decode((folder / STATUS).read_bytes(), type=resolve(Status))
        except (OSError, msgspec.MsgspecError):
            status = Status()
        if status.state == "running" and ended:
            status = replace(status, state="cancelled" if job_id in self._cancelled else "stopped")
        seconds = int(max(0.0, time.time() - (folder / JOB).stat().st_mtime))
        return Job(**vars(status), id=job_id, action=order.action, arguments=order.arguments, seconds=seconds)

    def path(self, job_id: str) -> Path:
        """Return the folder of a job."""
        self.get(job_id)
        return self._folder / job_id

    def cancel(self, job_id: str) -> None:
        """Ask a job to stop; it removes what it wrote, and is ended where it takes too long."""
        self.get(job_id)
        process = self._running.get(job_id)
        if process is None or process.poll() is not None:
            return
        self._cancelled.add(job_id)
        ask_to_end(process)
        threading.Thread(target=_end, args=(process,), daemon=True).start()

    def close(self) -> None:
        """Cancel what still runs, and wait for it."""
        for number, process in self._running.items():
            if process.poll() is None:
                self._cancelled.add(number)
                ask_to_end(process)
        for process in self._running.values():
            _end(process)

    def prune(self, most: int = _MOST_KEPT) -> None:
        """Delete the folders of old jobs that ended; those that `wanted` names are kept."""
        if not self._folder.is_dir():
            return
        kept = {*self._wanted(), *self._running}
        ended = [one for one in self._folder.iterdir() if _ID.fullmatch(one.name) and one.name not in kept]
        ended.sort(key=lambda one: one.stat().st_mtime, reverse=True)
        for one in ended[most:]:
            shutil.rmtree(one, ignore_errors=True)


def _end(process: subprocess.Popen[bytes]) -> None:
    try:
        process.wait(_GRACE)
    except subprocess.TimeoutExpired:
        end_group(process)
        process.wait()


def _missing() -> InvalidInput:
    return InvalidInput("There is no such job.", remedy="Begin it again.", where="job", code="studio.no-job")
