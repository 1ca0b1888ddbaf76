"""A function called in a process of its own, with limits on memory and time: what reads files that others wrote.

    call("crowdblend.reading.reports.write:report_html", {"folder": str(folder)}, result=str)

Such files may be made to take more memory than the machine has, or for ever. Here they end a process that holds nothing
else, and the caller gets an error. Arguments and result are what JSON can say, so that nothing a file could do to the
process is run by the caller. Where the operating system limits no memory (Windows, macOS), time is limited alone.
"""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

import msgspec

from crowdblend import errors
from crowdblend.errors import CrowdblendError, Unavailable
from crowdblend.trusted.machine.system import limit_memory, limit_seconds, own_group
from crowdblend.trusted.machine.type_resolution import resolve

MEMORY = 2 << 30
"""Bytes that a process may take, of which Python and its packages take about 300 MB."""
SECONDS = 120.0
LARGEST_ANSWER = 1 << 28
_NOTHING = msgspec.Raw(b"null")
Result = TypeVar("Result")


@dataclass(frozen=True)
class Order:
    """The function, as `module:name`, its arguments by name, and what its process may take."""

    function: str
    arguments: Mapping[str, Any]
    memory: int
    seconds: float
    largest: int


@dataclass(frozen=True)
class Problem:
    """An error of crowdblend, by the name of its class."""

    kind: str
    message: str
    remedy: str
    where: str | None
    code: str


class Answer(msgspec.Struct, frozen=True):
    """The result of the function as JSON, or the error that it raised; of an unforeseen one the name of its class."""

    result: msgspec.Raw = _NOTHING
    problem: Problem | None = None
    unforeseen: str | None = None


def call(
    function: str,
    arguments: Mapping[str, object],
    *,
    result: type[Result],
    memory: int = MEMORY,
    seconds: float = SECONDS,
    largest: int = LARGEST_ANSWER,
) -> Result:
    """Return what a function returns that is called in a process of its own, read as this type.

    Errors of crowdblend are raised here as they were there, unforeseen ones as RuntimeError with the name of their
    class. Unavailable is raised where the process takes too much memory or too long.
    """
    order = msgspec.json.encode(Order(function, arguments, memory, seconds, largest))
    # -P: a module that lies in the working folder is not imported.
    command = [sys.executable, "-P", "-m", "crowdblend.trusted.machine.limited_process"]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, **own_group()
    ) as process:
        try:
            written, _ = process.communicate(order, timeout=seconds)
        except subprocess.TimeoutExpired:
            raise _too_long(seconds) from None
        finally:
            process.kill()
    try:
        answer = msgspec.json.decode(written, type=resolve(Answer))
    except msgspec.MsgspecError:  # the process was ended by the system, or by a library that could not go on
        raise _too_large(memory) from None
    if answer.problem is not None:
        raise _error_of(answer.problem)
    if answer.unforeseen is not None:
        raise RuntimeError(answer.unforeseen)
    return msgspec.json.decode(answer.result, type=resolve(result))


def _too_large(memory: int) -> Unavailable:
    return Unavailable(
        f"Reading the files takes more than {memory >> 20:,} MB of memory.",
        remedy="Ask the publisher for the original folder, or read it with the command line on a larger machine.",
        where="folder",
        code="reading.memory",
    )


def _too_long(seconds: float) -> Unavailable:
    return Unavailable(
        f"Reading the files takes longer than {seconds:g} seconds.",
        remedy="Ask the publisher for the original folder, or read it with the command line.",
        where="folder",
        code="reading.time",
    )


def _problem_of(problem: CrowdblendError) -> Problem:
    known = next(one.__name__ for one in type(problem).__mro__ if one.__module__ == errors.__name__)
    return Problem(known, *problem.refusal, problem.code)


def _error_of(problem: Problem) -> CrowdblendError:
    kind: type[CrowdblendError] = getattr(errors, problem.kind)
    return kind(problem.message, remedy=problem.remedy, where=problem.where, code=problem.code)


def _answer(order: Order) -> Answer:
    module, _, name = order.function.partition(":")
    called: Callable[..., object] = getattr(importlib.import_module(module), name)
    try:
        return Answer(msgspec.Raw(msgspec.json.encode(called(**order.arguments))))
    except CrowdblendError as problem:
        return Answer(problem=_problem_of(problem))
    except MemoryError:
        return Answer(problem=_problem_of(_too_large(order.memory)))
    except Exception as problem:  # its text may show a record
        return Answer(unforeseen=type(problem).__name__)


def main() -> None:
    """Do what stdin orders, and write the answer to what was stdout; nothing else is written there."""
    out = os.dup(1)
    os.dup2(2, 1)
    order = msgspec.json.decode(sys.stdin.buffer.read(), type=resolve(Order))
    limit_memory(order.memory)
    limit_seconds(order.seconds)  # should the caller have gone
    written = msgspec.json.encode(_answer(order))
    if len(written) > order.largest:
        written = msgspec.json.encode(Answer(problem=_problem_of(_too_large(order.memory))))
    with os.fdopen(out, "wb") as file:
        file.write(written)


if __name__ == "__main__":
    main()
