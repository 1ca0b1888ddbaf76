"""The command line in this process, for tests where the process is not the point: ten times as fast as starting one."""

import io
import os
import signal
import sys
from contextlib import ExitStack, redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any, NamedTuple
from unittest import mock

from crowdblend.cli import main as entry

SIGNALS = (signal.SIGTERM, signal.SIGHUP, signal.SIGINT)


class Finished(NamedTuple):
    """How a command ended: its exit code and what it wrote."""

    returncode: int
    stdout: str
    stderr: str


def crowdblend(*arguments: object, stdin: str = "", folder: Path | None = None) -> Finished:
    """Run a command in this process, in `folder` if given; what the command line does not catch is raised."""
    out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True) for _ in range(2))
    given = io.TextIOWrapper(io.BytesIO(stdin.encode()), encoding="utf-8")
    before, handlers = os.getcwd(), {number: signal.getsignal(number) for number in SIGNALS}
    with ExitStack() as stack:
        stack.callback(os.chdir, before)
        for number, handler in handlers.items():
            stack.callback(signal.signal, number, handler)
        stack.enter_context(mock.patch.object(sys, "argv", ["crowdblend", *map(str, arguments)]))
        stack.enter_context(mock.patch.object(sys, "stdin", given))
        stack.enter_context(redirect_stdout(out))
        stack.enter_context(redirect_stderr(err))
        if folder is not None:
            os.chdir(folder)
        try:
            entry.main()
            code: Any = 0
        except SystemExit as left:
            code = left.code
    texts = [stream.buffer.getvalue().decode() for stream in (out, err)]
    return Finished(int(code or 0), *texts)
