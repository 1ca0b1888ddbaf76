"""The command line in a process of its own, which loads and leaves as little as it can.

pyarrow loads pandas, when it is installed, to recognize pandas objects that it might be given, and its own clients of
file systems elsewhere. That takes a third of a second, and a command is given files of this machine only. So in this
process they count as not installed, unless Spark is loaded, which needs pandas. Inside someone else's Python,
`cli.main.main` is called instead and nothing is hidden.

A command makes hundreds of thousands of small objects while it loads, and keeps them: looking for rings of garbage
among them every few hundred objects takes a tenth of a second and finds none. So it is looked for less often. Taking
them apart one by one at the end takes as long, so the process ends without it.

NumPy's linear algebra starts a thread for every core, which waits in a loop. No command multiplies large matrices.
"""

from __future__ import annotations

import atexit
import gc
import os
import sys
import threading
from typing import NoReturn

from crowdblend.errors import INTERNAL
from crowdblend.trusted.machine.lazy import lazy_imports

with lazy_imports():
    import traceback

    from crowdblend.cli import main as command_line

# New objects before garbage is looked for; a release makes about a hundred thousand.
_NEW_OBJECTS = 250_000


_HIDDEN = {"pandas", "pyarrow._azurefs", "pyarrow._gcsfs", "pyarrow._hdfs", "pyarrow._s3fs"}


class _Without:
    """Answers the import of a hidden module as if it were not installed."""

    def find_spec(self, fullname: str, path: object = None, target: object = None) -> None:
        if fullname in _HIDDEN and "pyspark" not in sys.modules:
            raise ModuleNotFoundError(f"the command line does without {fullname}", name=fullname)


def run() -> None:
    """Entry point of the installed command and of `python -m crowdblend`."""
    gc.set_threshold(_NEW_OBJECTS)
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    sys.meta_path.insert(0, _Without())
    try:
        command_line.main()
    except KeyboardInterrupt:  # before any command began
        leave(SystemExit(130))
    except SystemExit as leaving:
        leave(leaving)
    except Exception as problem:
        # Its own words may show a record, and so may lines of code with them.
        frames = traceback.extract_tb(problem.__traceback__)
        places = ", ".join(f"{os.path.basename(frame.filename)} {frame.lineno}" for frame in reversed(frames))
        if sys.stderr is not None:
            sys.stderr.write(f"crowdblend: Internal error ({type(problem).__name__}). Please report it: {places}.\n")
        leave(SystemExit(INTERNAL))


def leave(leaving: SystemExit) -> NoReturn:
    """End the process: run what was registered for its end and write out both streams, but take no object apart.

    While another thread works, or where a stream cannot be written, Python ends the process its own way.
    """
    if threading.active_count() > 1 or not isinstance(leaving.code, int | None):
        raise leaving
    atexit._run_exitfuncs()
    try:
        for stream in (sys.stdout, sys.stderr):
            if stream is not None:  # None where it was closed from the beginning
                stream.flush()
    except (OSError, ValueError):
        raise leaving from None
    os._exit(leaving.code or 0)
