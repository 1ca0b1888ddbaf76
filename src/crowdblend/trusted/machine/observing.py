"""Events for operators of crowdblend: JSON lines for a log, and metrics for Prometheus's textfile collector.

An event says what ran, which entry of the ledger it is about, how it ended and what it spent. It holds no record, no
value, no key and no fingerprint, and no number of rows or people: rows of a register are people. Seconds are whole and
memory is rounded up, and both still grow with the number of rows: logs and metrics are for stewards and operators.

Events are records of Python's logger "crowdblend", so that Python users attach a handler as they do everywhere.
"""

from __future__ import annotations

import json
import logging
import math
import os
import re
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path

from crowdblend.errors import INTERNAL, CrowdblendError, InvalidInput
from crowdblend.trusted.machine.system import open_appending, peak_memory
from crowdblend.trusted.machine.version import __version__

Fact = str | int | float | None

LOGGER = "crowdblend"
_MEMORY_STEP = 1 << 26
_LEVELS = {0: logging.INFO, 1: logging.WARNING, 3: logging.WARNING}
_STDERR = 2
_NAME = "crowdblend_"
# What each metric means, by its name without the prefix.
_HELP = {
    "info": "The version that ran last.",
    "command_end_time_seconds": "When the last command ended.",
    "command_exit_code": "How the last command ended: 0 if it did what it was asked.",
    "command_duration_seconds": "How long the last command took.",
    "command_peak_memory_bytes": "The most memory that the last command used, rounded up to 64 MiB.",
    "release_time_seconds": "When the last release was published.",
    "release_entry": "The number of the last release in the ledger.",
    "release_epsilon": "The epsilon that the last release spent.",
    "release_delta": "The delta that the last release spent.",
    "limit_used_ratio": "The share of the population's limit that is used.",
    "limit_left_epsilon": "The epsilon that is left of a limit that counts sums.",
    "limit_left_delta": "The delta that is left of a limit that counts sums.",
}
_OF_RELEASE = {
    "release_entry": "entry",
    "release_epsilon": "epsilon",
    "release_delta": "delta",
    "limit_used_ratio": "limit_used",
    "limit_left_epsilon": "left_epsilon",
    "limit_left_delta": "left_delta",
}


def emit(event: str, fields: Mapping[str, Fact], level: int = logging.INFO) -> None:
    """Hand an event to the handlers of the logger; None stands for what is not known."""
    known = {"event": event, **fields}
    logging.getLogger(LOGGER).log(level, "%s", json.dumps(known), extra={"fields": known})


def is_watched() -> bool:
    """Return whether a handler takes events; else what they hold need not be computed."""
    return logging.getLogger(LOGGER).isEnabledFor(logging.INFO)


def used_resources(since: float) -> dict[str, Fact]:
    """Return whole seconds since a time of the monotonic clock, the peak memory of the process, and the version."""
    most = peak_memory()
    rounded = None if most is None else -(-most // _MEMORY_STEP) * _MEMORY_STEP
    return {"seconds": math.ceil(time.monotonic() - since), "peak_memory_bytes": rounded, "version": __version__}


class JsonLines(logging.Handler):
    """Writes each event as one line of JSON: time in UTC, level, event and fields."""

    def __init__(self, write: int) -> None:
        super().__init__(logging.INFO)
        self._write = write

    def emit(self, record: logging.LogRecord) -> None:
        """Append the line in one piece, so that commands that run at once may share a file."""
        at = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        line = {"time": at, "level": record.levelname.lower(), **getattr(record, "fields", {})}
        try:
            os.write(self._write, f"{json.dumps(line)}\n".encode())
        except OSError as problem:
            _warn("log", problem)

    def close(self) -> None:
        """Close the file; stderr stays open."""
        if self._write != _STDERR:
            with suppress(OSError):
                os.close(self._write)
        super().close()


class _LastEntry(logging.Handler):
    """Keeps the entry of the ledger that the last event was about."""

    entry: Fact = None

    def emit(self, record: logging.LogRecord) -> None:
        self.entry = getattr(record, "fields", {}).get("entry", self.entry)


class Metrics(logging.Handler):
    """Gathers events as metrics, and writes them to a file in one step; others stay in the file as they are."""

    def __init__(self, path: Path) -> None:
        super().__init__(logging.INFO)
        self._path, self._families = path, dict[str, list[str]]()

    def emit(self, record: logging.LogRecord) -> None:
        """Take the numbers of a command or of a release."""
        fields: Mapping[str, Fact] = getattr(record, "fields", {})
        if fields.get("event") == "command":
            about = {"command": fields["command"]}
            self._set("info", 1, version=fields["version"])
            self._set("command_end_time_seconds", round(record.created, 3), **about)
            self._set("command_exit_code", fields["exit_code"], **about)
            self._set("command_duration_seconds", fields["seconds"], **about)
            self._set("command_peak_memory_bytes", fields["peak_memory_bytes"], **about)
            self._save()
        elif fields.get("event") == "release":
            about = {"population": fields["population"]}
            self._set("release_time_seconds", round(record.created, 3), **about)
            for name, fact in _OF_RELEASE.items():
                self._set(name, fields[fact], **about)

    def _set(self, name: str, value: Fact, **labels: Fact) -> None:
        """Set a metric of this job, which is called as the file; None takes it away."""
        named = {"job": self._path.stem, **labels}
        said = ",".join(f"{label}={_label(str(text))}" for label, text in named.items())
        self._families[name] = [] if value is None else [f"{_NAME}{name}{{{said}}} {value}"]

    def _save(self) -> None:
        kept = _families_of(self._path) | self._families
        lines = []
        for name, help_text in _HELP.items():
            if kept.get(name):
                lines += [f"# HELP {_NAME}{name} {help_text}", f"# TYPE {_NAME}{name} gauge", *kept[name]]
        part = self._path.with_name(f".{self._path.name}.{os.getpid()}")
        try:
            part.write_text("\n".join([*lines, ""]), encoding="utf-8", newline="\n")
            part.chmod(0o644)  # the collector is another user
            part.replace(self._path)
        except OSError as problem:
            with suppress(OSError):
                part.unlink()
            _warn("metrics", problem)


def _families_of(path: Path) -> dict[str, list[str]]:
    """Return the lines of an earlier file by the name of their metric."""
    found: dict[str, list[str]] = {}
    with suppress(OSError, UnicodeError):
        for line in path.read_text(encoding="utf-8").splitlines():
            if match := re.match(rf"{_NAME}(\w+)\{{", line):
                found.setdefault(match[1], []).append(line)
    return found


def _label(text: str) -> str:
    escaped = text.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")
    return f'"{escaped}"'


@contextmanager
def observe_command(command: str, *, log: str | None, metrics: str | None) -> Iterator[None]:
    """Write events of the command inside, and how it ended, to a log ("-" for stderr) and a file of metrics."""
    logger, begun = logging.getLogger(LOGGER), time.monotonic()
    last = _LastEntry()
    handlers = [*_log_handlers(log), *_metrics_handlers(metrics), last]
    level_before = logger.level
    logger.setLevel(logging.INFO)
    for handler in handlers:
        logger.addHandler(handler)
    code, refused = INTERNAL, None
    try:
        yield
    except SystemExit as leaving:
        code, refused = int(leaving.code or 0), leaving.__cause__
        raise
    finally:
        fields = _outcome(command, code, refused, last) | used_resources(begun)
        emit("command", fields, _LEVELS.get(code, logging.ERROR))
        for handler in handlers:
            logger.removeHandler(handler)
            handler.close()
        logger.setLevel(level_before)


def _outcome(command: str, code: int, refused: BaseException | None, last: _LastEntry) -> dict[str, Fact]:
    """Return how a command ended: its exit code, the code of the error, the entry, and whether to try again."""
    fields: dict[str, Fact] = {"command": command, "exit_code": code, "code": None, "retry": False, "entry": last.entry}
    if isinstance(refused, CrowdblendError):
        fields |= {"code": refused.code, "retry": refused.retry, "entry": refused.entry or last.entry}
    elif code == INTERNAL:
        fields["code"] = "internal"
    return fields


def _log_handlers(log: str | None) -> list[logging.Handler]:
    if log is None:
        return []
    try:
        return [JsonLines(_STDERR if log == "-" else open_appending(log))]
    except (OSError, ValueError) as problem:
        raise _not_writable("log", problem) from None


def _metrics_handlers(metrics: str | None) -> list[logging.Handler]:
    if metrics is None:
        return []
    path = Path(metrics)
    if path.is_dir() or not os.access(path.parent, os.W_OK):
        raise _not_writable("metrics", OSError("no file in a folder that can be written"))
    return [Metrics(path)]


def _not_writable(what: str, problem: Exception) -> InvalidInput:
    message = f"The file of --{what} cannot be written: {_reason(problem)}."
    return InvalidInput(message, remedy="Name another file.", where=f"--{what}", code=f"command.{what}")


def _warn(what: str, problem: OSError) -> None:
    """Say that events are lost: the release goes on."""
    with suppress(OSError, ValueError):
        sys.stderr.write(f"crowdblend: The file of --{what} cannot be written: {_reason(problem)}.\n")


def _reason(problem: Exception) -> str:
    return getattr(problem, "strerror", None) or str(problem) or type(problem).__name__
