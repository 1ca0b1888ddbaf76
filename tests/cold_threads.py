"""First calls in several threads of a new process: python -m tests.cold_threads JOB FOLDER

JOB is release, verify or read (each in eight threads), asyncio (releases, by to_thread), or mixed (all of them at once,
and the library is imported in the threads too).
FOLDER has a release in it, which is verified and read. Results must agree; a crash ends the process with a signal.
"""

from __future__ import annotations

import asyncio
import faulthandler
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from pathlib import Path
from typing import Any

THREADS = 8
START = threading.Barrier(THREADS)


def release(folder: Path) -> Any:
    import crowdblend as cb
    from tests.api.survey import KEY, survey, table

    return cb.release(survey(), table(), ledger=None, key=KEY).certificate.to_dict()["digest"]


def verify(folder: Path) -> Any:
    import crowdblend as cb

    return cb.verify(folder).to_dict()["digest"]


def read(folder: Path) -> Any:
    import crowdblend as cb

    return cb.read(folder).certificate.to_dict()["digest"]


JOBS: dict[str, tuple[Callable[[Path], Any], ...]] = {
    "release": (release,),
    "verify": (verify,),
    "read": (read,),
    "mixed": (release, verify, read, read),
    "asyncio": (release,),
}


def start(job: Callable[[Path], Any], folder: Path) -> Any:
    START.wait()
    return job(folder)


async def by_asyncio(jobs: list[Callable[[Path], Any]], folder: Path) -> list[Any]:
    asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(THREADS))
    return list(await asyncio.gather(*(asyncio.to_thread(start, job, folder) for job in jobs)))


def main(name: str, folder: Path) -> None:
    faulthandler.enable()
    sys.setswitchinterval(1e-5)  # threads take turns so often that what can meet meets
    if name != "mixed":
        import_module("crowdblend")
        import_module("tests.api.survey")
    jobs = [JOBS[name][number % len(JOBS[name])] for number in range(THREADS)]
    if name == "asyncio":
        digests = asyncio.run(by_asyncio(jobs, folder))
    else:
        with ThreadPoolExecutor(THREADS) as pool:
            digests = list(pool.map(start, jobs, [folder] * THREADS))
    assert len(set(digests)) == 1, "every thread gets the same release"


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
