"""How many of a sample of mutants the tests notice. `make mutation`; hours, so not part of `make test`.

    python -m tests.mutation.run record FILE [--tests FOLDER …]    which test runs which function
    python -m tests.mutation.run try FILE RESULTS [--sample 400] [--packages NAME …] [--modules TEXT …] [--only TEXT …]
    python -m tests.mutation.run try FILE RESULTS2 --again RESULTS --seconds 120    its survivors, shown to more tests

Each mutant is written into a copy of the repository, and the tests that enter its function run there, the fastest
first, until one fails. A mutant that takes far more time than its tests did counts as noticed ("too long"). Results are
added to RESULTS, a JSON line for each mutant, and a run goes on where the last one stopped.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from collections import Counter
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any, NoReturn

from tests.mutation.mutants import Mutant, mutants_of
from tests.mutation.recording import ENTRIES, telling

# Tests and the CPU seconds that each takes.
Tests = dict[str, float]
ROOT = Path(__file__).parents[2]
PACKAGES = ("numerics", "guarantees", "calculus", "randomness", "mechanisms", "ledger", "publishing")
FOLDERS = tuple(sorted(folder.name for folder in (ROOT / "tests").iterdir() if any(folder.glob("test_*.py"))))
SEED = 13
# CPU seconds of tests that a mutant is shown to at first and then, and how much longer a mutant may take.
FIRST_SECONDS = 3
MOST_SECONDS = 40
TOO_LONG = 3
# Of the cases of one parametrized test, so many at first.
FIRST_CASES = 3
UNNOTICED = ("survived", "no test", "no answer")
HEAVY = (
    *("pytest", "hypothesis", "numpy", "scipy.special", "scipy.stats", "flint", "pyarrow.compute", "pyarrow.parquet"),
    *(
        "duckdb",
        "sqlalchemy",
        "psycopg",
        "cryptography.hazmat.primitives.ciphers.aead",
        "click",
        "rich.console",
        "mpmath",
    ),
    *("pandas", "opendp.prelude", "xml.etree.ElementTree"),
)
OPTIONS = ("-x", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", "--no-header", "--tb=no", "--assert=plain")


def main() -> None:
    """Record, or try."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("step", choices=["record", "try"])
    parser.add_argument("record", type=Path)
    parser.add_argument("results", type=Path, nargs="?")
    parser.add_argument("--tests", nargs="*", default=FOLDERS)
    parser.add_argument("--packages", nargs="*", default=PACKAGES)
    parser.add_argument("--modules", nargs="*", default=[""], help="only modules whose path has one of these in it")
    parser.add_argument("--only", nargs="*", default=[""], help="of the sample, modules that have one of these in it")
    parser.add_argument("--seconds", type=float, default=MOST_SECONDS, help="CPU seconds of tests for each survivor")
    parser.add_argument("--sample", type=int, default=400)
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--again", type=Path, help="only mutants that survived in this file of results")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="mutation-") as folder:
        copy = Path(folder)
        _copy_into(copy)
        if options.step == "record":
            _record(copy, options.tests, options.record.resolve())
        else:
            _try_all(copy, options)


def _copy_into(folder: Path) -> None:
    """Every file that is under version control, as it is here."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True, text=True).stdout
    for name in filter(None, listed.split("\0")):
        if (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(ROOT / name, folder / name)


def _record(copy: Path, folders: list[str], record: Path) -> None:
    (copy / "src" / "crowdblend_entries.py").write_text(ENTRIES)
    for file in (copy / "src" / "crowdblend").rglob("*.py"):
        file.write_text(telling(file.read_text("utf-8"), str(file.relative_to(copy / "src"))), "utf-8")
    paths = [f"tests/{folder}" for folder in folders if (copy / "tests" / folder).is_dir()]
    to_the_end = [option for option in OPTIONS if option != "-x"]
    command = [sys.executable, "-m", "pytest", *to_the_end, "-p", "tests.mutation.recording", *paths]
    environment = {**os.environ, "PYTHONPATH": str(copy / "src"), "CROWDBLEND_MUTATION_RECORD": str(record)}
    subprocess.run(command, cwd=copy, env=environment, check=False)


def sample(packages: list[str], modules: list[str], size: int, seed: int) -> list[tuple[Path, Mutant]]:
    """Mutants at random, every one of every module equally likely; the same for the same source and seed."""
    files = sorted(file for name in packages for file in (ROOT / "src" / "crowdblend" / name).rglob("*.py"))
    files = [file for file in files if any(part in str(file) for part in modules)]
    every = [(file, mutant) for file in files for mutant in mutants_of(file.read_text("utf-8"))]
    return random.Random(seed).sample(every, min(size, len(every)))


def _try_all(copy: Path, options: argparse.Namespace) -> None:
    tests = json.loads(options.record.read_text())
    finished = {result["mutant"] for result in _results(options.results)}
    only = {result["mutant"] for result in _results(options.again) if result["outcome"] in UNNOTICED}
    _load_heavy_modules()
    for file, mutant in sample(options.packages, options.modules, options.sample, options.seed):
        module = str(file.relative_to(ROOT / "src"))
        name = f"{module}, {mutant}"
        if name in finished or (options.again and name not in only) or not any(map(module.__contains__, options.only)):
            continue
        helpings = _tests_of(tests, module, mutant.function, options.seconds)
        target = copy / "src" / module
        target.write_text(mutant.source, "utf-8")
        try:
            outcome = "no test"
            for helping in helpings:
                outcome = _try_one(copy, helping)
                if outcome != "survived":
                    break
        finally:
            shutil.copyfile(file, target)
        with options.results.open("a") as results:
            results.write(json.dumps({"mutant": name, "outcome": outcome, "tests": sum(map(len, helpings))}) + "\n")
        print(f"{outcome:9} {name}", flush=True)
    _summarize(options.results)


def _tests_of(tests: dict[str, Any], module: str, function: str, seconds: float) -> list[Tests]:
    """The tests of a function, or of its module where nothing enters it, in two helpings.

    First those in the folder of its package, then the others; the fastest first, and as many as time allows. Most
    mutants are caught by the first helping, which takes a second.
    """
    passed = {test: record["entered"] for test, record in tests.items() if record["passed"]}
    of_function = [test for test, entered in passed.items() if f"{module}:{function}" in entered]
    of_module = [test for test, entered in passed.items() if any(word.startswith(f"{module}:") for word in entered)]
    by_time = sorted(of_function or of_module, key=lambda test: float(tests[test]["seconds"]))
    package, cases, few = f"tests/{Path(module).parts[1]}/", Counter[str](), []
    for test in by_time:
        cases[test.partition("[")[0]] += 1
        if test.startswith(package) and cases[test.partition("[")[0]] <= FIRST_CASES:
            few.append(test)
    first = _affordable(few, tests, FIRST_SECONDS)
    then = _affordable([test for test in by_time if test not in first], tests, seconds)
    return [helping for helping in (first, then) if helping]


def _affordable(names: list[str], tests: dict[str, Any], seconds: float) -> Tests:
    """As many tests as take so many seconds together, and at least one."""
    helping: Tests = {}
    for test in names:
        if helping and sum(helping.values()) + tests[test]["seconds"] > seconds:
            break
        helping[test] = tests[test]["seconds"]
    return helping


def _load_heavy_modules() -> None:
    """So that a fork has it: everything but crowdblend."""
    for name in HEAVY:
        with suppress(ImportError):
            import_module(name)


def _try_one(copy: Path, tests: Tests) -> str:
    """Whether a test fails on the mutant that lies in the copy: in a fork, with a limit on its time."""
    child = os.fork()
    if child == 0:
        _run_tests(copy, tests)
    status, patience = None, time.monotonic() + 120 + 10 * sum(tests.values())
    while status is None:
        pid, ended = os.waitpid(child, os.WNOHANG)
        status = ended if pid else None
        if not pid and time.monotonic() > patience:
            os.killpg(child, signal.SIGKILL)
        time.sleep(0.02)
    if os.WIFSIGNALED(status):
        return "too long" if os.WTERMSIG(status) in (signal.SIGKILL, signal.SIGXCPU) else "crashed"
    return {0: "survived", 1: "caught", 2: "caught", 4: "caught"}.get(os.WEXITSTATUS(status), "no answer")


def _run_tests(copy: Path, tests: Tests) -> NoReturn:
    """Ends this process, which is a fork, with pytest's exit code."""
    code = 99
    try:
        os.setsid()
        most = int(8 + TOO_LONG * sum(tests.values()))
        resource.setrlimit(resource.RLIMIT_CPU, (most, most + 5))
        log = os.open(copy / "mutation.log", os.O_RDWR | os.O_CREAT | os.O_TRUNC)
        for stream in (1, 2):
            os.dup2(log, stream)
        os.chdir(copy)
        for name in [name for name in sys.modules if name.split(".")[0] in ("tests", "crowdblend")]:
            del sys.modules[name]
        ours = (str(ROOT), str(ROOT / "src"), "")
        sys.path[:] = [str(copy), str(copy / "src"), *(path for path in sys.path if path not in ours)]
        sys.dont_write_bytecode = True
        os.environ |= {"PYTHONPATH": str(copy / "src"), "PYTHONDONTWRITEBYTECODE": "1"}
        import pytest

        code = int(pytest.main([*OPTIONS, *tests]))
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stderr.flush()
        os._exit(code)


def _results(path: Path | None) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()] if path is not None and path.exists() else []


def _summarize(path: Path) -> None:
    results = _results(path)
    survivors = [result for result in results if result["outcome"] in UNNOTICED]
    print(f"{len(results) - len(survivors)} of {len(results)} noticed")


if __name__ == "__main__":
    main()
