"""How many of a sample of mutants the tests notice. `make mutation`; hours, so not part of `make test`.

    python -m tests.mutation.run record FILE [--tests FOLDER …]    which test runs which function
    python -m tests.mutation.run try FILE RESULTS [--sample 400] [--packages NAME …] [--modules TEXT …]

Each mutant is written into a copy of the repository, and the tests that enter its function run there, the fastest
first, until one fails. A mutant that takes far more time than its tests did counts as noticed. Results are added to
RESULTS, a JSON line for each mutant, and a run goes on where the last one stopped.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import resource
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.mutation.mutants import Mutant, mutants_of
from tests.mutation.recording import telling

ROOT = Path(__file__).parents[2]
PACKAGES = ("numerics", "guarantees", "calculus", "randomness", "mechanisms", "ledger", "publishing")
FOLDERS = (*PACKAGES, "laws", "truth", "golden", "kinds", "networks", "planning", "selection", "engines", "papers")
SEED = 13
# CPU seconds of tests that a mutant is shown to, and how much longer a mutant may take.
MOST_SECONDS = 60
TOO_LONG = 4
OPTIONS = ("-x", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", "--no-header", "--tb=no")


def main() -> None:
    """Record, or try."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("step", choices=["record", "try"])
    parser.add_argument("record", type=Path)
    parser.add_argument("results", type=Path, nargs="?")
    parser.add_argument("--tests", nargs="*", default=FOLDERS)
    parser.add_argument("--packages", nargs="*", default=PACKAGES)
    parser.add_argument("--modules", nargs="*", default=[""], help="only modules whose path has one of these in it")
    parser.add_argument("--sample", type=int, default=400)
    parser.add_argument("--seed", type=int, default=SEED)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="mutation-") as folder:
        copy = Path(folder)
        _copy_into(copy)
        if asked.step == "record":
            _record(copy, asked.tests, asked.record.resolve())
        else:
            _try_all(copy, asked)


def _copy_into(folder: Path) -> None:
    """Every file that is under version control, as it is here."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True, text=True).stdout
    for name in filter(None, listed.split("\0")):
        if (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(ROOT / name, folder / name)


def _record(copy: Path, folders: list[str], record: Path) -> None:
    for file in (copy / "src" / "crowdblend").rglob("*.py"):
        file.write_text(telling(file.read_text("utf-8"), str(file.relative_to(copy / "src"))), "utf-8")
    wanted = [f"tests/{folder}" for folder in folders if (copy / "tests" / folder).is_dir()]
    options = [option for option in OPTIONS if option != "-x"]
    command = [sys.executable, "-m", "pytest", *options, "-p", "tests.mutation.recording", *wanted]
    environment = {**os.environ, "PYTHONPATH": str(copy / "src"), "CROWDBLEND_MUTATION_RECORD": str(record)}
    subprocess.run(command, cwd=copy, env=environment, check=False)


def sample(packages: list[str], modules: list[str], size: int, seed: int) -> list[tuple[Path, Mutant]]:
    """Mutants at random, every one of every module equally likely; the same for the same source and seed."""
    files = sorted(file for name in packages for file in (ROOT / "src" / "crowdblend" / name).rglob("*.py"))
    files = [file for file in files if any(part in str(file) for part in modules)]
    every = [(file, mutant) for file in files for mutant in mutants_of(file.read_text("utf-8"))]
    return random.Random(seed).sample(every, min(size, len(every)))


def _try_all(copy: Path, asked: argparse.Namespace) -> None:
    tests = json.loads(asked.record.read_text())
    known = (
        {json.loads(line)["mutant"] for line in asked.results.read_text().splitlines()}
        if asked.results.exists()
        else set()
    )
    _load_what_is_heavy()
    for file, mutant in sample(asked.packages, asked.modules, asked.sample, asked.seed):
        module = str(file.relative_to(ROOT / "src"))
        name = f"{module}, {mutant}"
        if name in known:
            continue
        shown = list(_shown(tests, module, mutant.function))
        target = copy / "src" / module
        target.write_text(mutant.source, "utf-8")
        try:
            outcome = _try_one(copy, [test for test, _ in shown], sum(seconds for _, seconds in shown))
        finally:
            shutil.copyfile(file, target)
        with asked.results.open("a") as results:
            results.write(json.dumps({"mutant": name, "outcome": outcome, "tests": len(shown)}) + "\n")
        print(f"{outcome:9} {name}", flush=True)
    _summarize(asked.results)


def _shown(tests: dict[str, Any], module: str, function: str) -> Iterator[tuple[str, float]]:
    """The tests of a function, or of its module where nothing enters it, the fastest first, as many as time allows."""
    wanted = {f"{module}:{function}"}
    entering = [test for test, found in tests.items() if found["passed"] and wanted & set(found["entered"])]
    if not entering:
        entering = [test for test, found in tests.items() if any(word.startswith(module) for word in found["entered"])]
    if not entering:
        entering = [test for test in tests if test.startswith(f"tests/{Path(module).parts[1]}")]
    spent = 0.0
    for test in sorted(entering, key=lambda test: tests[test]["seconds"]):
        spent += tests[test]["seconds"]
        if spent > MOST_SECONDS:
            return
        yield test, tests[test]["seconds"]


def _load_what_is_heavy() -> None:
    """So that a fork has it: everything but crowdblend."""
    for name in ("pytest", "hypothesis", "numpy", "scipy.special", "scipy.stats", "flint", "pyarrow.compute", "duckdb"):
        __import__(name)


def _try_one(copy: Path, tests: list[str], seconds: float) -> str:
    """Whether a test fails on the mutant that lies in the copy: in a fork, with a limit on its CPU time."""
    child = os.fork()
    if child == 0:
        _run_tests(copy, tests, seconds)
    status = os.waitpid(child, 0)[1]
    if os.WIFSIGNALED(status):
        return "too long" if os.WTERMSIG(status) in (9, 24) else "crashed"
    return "survived" if os.WEXITSTATUS(status) == 0 else "caught"


def _run_tests(copy: Path, tests: list[str], seconds: float) -> None:
    """Never returns: the process ends with pytest's exit code."""
    most = int(10 + TOO_LONG * seconds)
    resource.setrlimit(resource.RLIMIT_CPU, (most, most + 5))
    resource.setrlimit(resource.RLIMIT_AS, (6 << 30, 6 << 30))
    quiet = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(quiet, stream)
    os.chdir(copy)
    for name in [name for name in sys.modules if name.split(".")[0] in ("tests", "crowdblend")]:
        del sys.modules[name]
    sys.path[:] = [
        str(copy),
        str(copy / "src"),
        *(path for path in sys.path if Path(path or ".").resolve() not in (ROOT, ROOT / "src")),
    ]
    sys.dont_write_bytecode = True
    os.environ["PYTHONPATH"] = str(copy / "src")
    import pytest

    os._exit(int(pytest.main([*OPTIONS, *tests])))


def _summarize(results: Path) -> None:
    found = [json.loads(line) for line in results.read_text().splitlines()]
    survived = [one["mutant"] for one in found if one["outcome"] == "survived"]
    print(f"{len(found) - len(survived)} of {len(found)} noticed")


if __name__ == "__main__":
    main()
