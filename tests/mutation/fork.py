"""Whether a test notices a mutant, in a fork of a process that has everything loaded already.

Where a mutant changes the body of a function, the fork gives that function its new code and imports nothing. Other
mutants, and every mutant that is tried again, are imported from the file that was written.
"""

import gc
import json
import os
import resource
import signal
import sys
import time
import traceback
from collections import defaultdict
from collections.abc import Iterable
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any, NoReturn

import pytest

from tests.mutation.mutants import Mutant

# Tests and the CPU seconds that each takes.
Tests = dict[str, float]
# How much longer than its tests a mutant may take, in CPU seconds and on the clock of a busy machine.
TOO_LONG = 3
PATIENCE = 10
OPTIONS = ("-q", "-p", "no:cacheprovider", "-p", "no:xdist", "--no-header", "--tb=no", "--assert=plain")
HEAVY = (
    *("hypothesis", "numpy", "scipy.special", "scipy.stats", "flint", "pyarrow.compute", "pyarrow.parquet", "duckdb"),
    *("psycopg", "cryptography.hazmat.primitives.ciphers.aead", "click", "mpmath"),
    *("opendp.prelude", "xml.etree.ElementTree"),
)


class Forks:
    """Everything that tests import, loaded once."""

    def __init__(self, root: Path, files: Iterable[str]) -> None:
        self._root, self._said = root, root / "mutation.json"
        for name in HEAVY:
            with suppress(ImportError):
                import_module(name)
        for file in ("tests/conftest.py", *files):
            import_module(file.removesuffix(".py").replace("/", "."))
        self._functions: dict[tuple[str, str], list[FunctionType]] = defaultdict(list)
        for thing in gc.get_objects():
            if isinstance(thing, FunctionType):
                self._functions[thing.__code__.co_filename, thing.__code__.co_qualname].append(thing)
        gc.freeze()

    def try_one(self, file: Path, mutant: Mutant, tests: Tests, anew: bool) -> tuple[str, str]:
        """How the tests end on the mutant that lies in its file, and the test that failed."""
        self._said.unlink(missing_ok=True)
        child = os.fork()
        if child == 0:
            self._run(file, mutant, tests, anew)
        status, patience = None, time.monotonic() + 60 + PATIENCE * sum(tests.values())
        while status is None:
            pid, ended = os.waitpid(child, os.WNOHANG)
            status = ended if pid else None
            if not pid and time.monotonic() > patience:
                with suppress(ProcessLookupError):
                    os.killpg(child, signal.SIGKILL)
            time.sleep(0.01)
        failed: list[str] = json.loads(self._said.read_text()) if self._said.exists() else []
        caught_by = failed[0] if failed else ""
        if os.WIFSIGNALED(status):
            return "too long" if os.WTERMSIG(status) in (signal.SIGKILL, signal.SIGXCPU) else "crashed", caught_by
        if os.WEXITSTATUS(status) == 0:
            return "survived", ""
        return ("caught" if caught_by else "no answer"), caught_by

    def false_alarms(self, tests: Tests) -> list[str]:
        """Of tests that caught mutants, those that fail here without one."""
        self._said.unlink(missing_ok=True)
        child = os.fork()
        if child == 0:
            self._run(None, None, tests, anew=False)
        os.waitpid(child, 0)
        failed: list[str] = json.loads(self._said.read_text()) if self._said.exists() else []
        return failed

    def _run(self, file: Path | None, mutant: Mutant | None, tests: Tests, anew: bool) -> NoReturn:
        """Ends this process, which is a fork, with pytest's exit code."""
        code = 99
        try:
            os.setsid()
            most = int(6 + TOO_LONG * sum(tests.values()))
            resource.setrlimit(resource.RLIMIT_CPU, (most, most + 5))
            log = os.open(self._root / "mutation.log", os.O_RDWR | os.O_CREAT | os.O_TRUNC)
            for stream in (1, 2):
                os.dup2(log, stream)
            sys.dont_write_bytecode = True
            os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
            if anew or not (file is None or mutant is None or self._break(file, mutant)):
                for name in [name for name in sys.modules if name.split(".")[0] in ("tests", "crowdblend")]:
                    del sys.modules[name]
            until = [] if mutant is None else ["-x"]
            code = int(pytest.main([*until, *OPTIONS, *tests], plugins=[_Failures(self._said)]))
        except BaseException:
            traceback.print_exc()
        finally:
            sys.stderr.flush()
            os._exit(code)

    def _break(self, file: Path, mutant: Mutant) -> bool:
        """Give the function that the mutant is in its new code; false where the mutant is elsewhere."""
        function = mutant.body
        written = [code for code in _codes(compile(mutant.source, str(file), "exec")) if code.co_qualname == function]
        loaded = self._functions[str(file), function]
        if len(written) != 1 or not loaded or any(f.__code__.co_freevars != written[0].co_freevars for f in loaded):
            return False
        for one in loaded:
            one.__code__ = written[0]
        return True


class _Failures:
    """A plugin that writes down which tests failed."""

    def __init__(self, said: Path) -> None:
        self._said, self._failed = said, list[str]()

    def pytest_runtest_logreport(self, report: Any) -> None:
        if report.failed:
            self._failed.append(report.nodeid)
            self._said.write_text(json.dumps(self._failed))

    pytest_collectreport = pytest_runtest_logreport


def _codes(code: CodeType) -> Iterable[CodeType]:
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield constant
            yield from _codes(constant)
