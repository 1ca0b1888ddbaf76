"""How many of a sample of mutants the tests notice. `make mutation`; hours, so not part of `make test`.

    python -m tests.mutation.run record FOLDER [--tests NAME …] [sample]    which test gets to which mutant
    python -m tests.mutation.run try FOLDER RESULTS [sample] [--only TEXT …]
    python -m tests.mutation.run try FOLDER RESULTS2 [sample] --again RESULTS --anew --seconds 120    its survivors

where the sample is [--sample 400] [--seed 33] [--modules TEXT …], the same for all steps. A record is made for one
folder of tests after the other; what is there is not made again, and mutants may be tried in between. Each mutant is
written into a copy of the repository, and the tests that get to it run there, the fastest first, until one fails. A
mutant that takes far more time than its tests did counts as noticed ("too long"). Results are added to RESULTS, a JSON
line for each mutant, and a run goes on where the last one stopped.
"""

import argparse
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tests.mutation.fork import OPTIONS, Forks, Tests
from tests.mutation.mutants import Mutant, mutants_of
from tests.mutation.recording import ENTRIES, piece_name, telling

ROOT = Path(__file__).parents[2]
WITHOUT = {"cli", "papers"}
# A quarter of every sample is drawn from these parts alone.
OFTEN = (
    *("strata", "parts", "programme", "quantiles", "estimates", "verification", "studio", "signatures", "spark"),
    *("designs", "shared", "synthesis", "checking"),
)
SEED = 33
# CPU seconds of tests that a mutant is shown to, at first and then.
FIRST_SECONDS = 3
MOST_SECONDS = 40
# Of the cases of one parametrized test, so many come before other tests have their turn.
FEW_CASES = 3
UNNOTICED = ("survived", "no test", "no answer")


def main() -> None:
    """Record, or try."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("step", choices=["record", "try"])
    parser.add_argument("record", type=Path)
    parser.add_argument("results", type=Path, nargs="?")
    parser.add_argument("--tests", nargs="*", default=_folders_of_tests())
    parser.add_argument("--modules", nargs="*", default=[""], help="only modules whose path has one of these in it")
    parser.add_argument("--only", nargs="*", default=[""], help="of the sample, modules that have one of these in it")
    parser.add_argument("--seconds", type=float, default=MOST_SECONDS, help="CPU seconds of tests for each survivor")
    parser.add_argument("--sample", type=int, default=400)
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--again", type=Path, help="only mutants that survived in this file of results")
    parser.add_argument("--anew", action="store_true", help="import every mutant from its file: slow, and sees caches")
    parser.add_argument("--here", action="store_true", help="the mutants are written into this checkout: a copy")
    options = parser.parse_args()
    if options.here:
        _try_all(options)
        return
    with tempfile.TemporaryDirectory(prefix="mutation-") as folder:
        copy = Path(folder)
        _copy_into(copy)
        if options.step == "record":
            mutants = sample(options.modules, options.sample, options.seed)
            _record(copy, options.tests, mutants, options.record.resolve())
        else:
            files = {
                str(path): str(path.resolve()) for path in (options.record, options.results, options.again) if path
            }
            words = [files.get(word, word) for word in sys.argv[1:]]
            command = [sys.executable, "-m", "tests.mutation.run", *words, "--here"]
            subprocess.run(command, cwd=copy, env={**os.environ, "PYTHONPATH": str(copy / "src")}, check=False)


def _copy_into(folder: Path) -> None:
    """Every file that is under version control, as it is here."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True, text=True).stdout
    for name in filter(None, listed.split("\0")):
        if (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(ROOT / name, folder / name)


def _folders_of_tests() -> list[str]:
    """The folders of tests, and the files of tests beside them."""
    paths = sorted((ROOT / "tests").iterdir())
    return [path.name for path in paths if path.name.startswith("test_") or (path.is_dir() and path.name[0] != "_")]


def _record(copy: Path, folders: list[str], mutants: list[tuple[Path, Mutant]], record: Path) -> None:
    record.mkdir(parents=True, exist_ok=True)
    (copy / "src" / "crowdblend_entries.py").write_text(ENTRIES)
    by_file: dict[Path, list[Mutant]] = {}
    for file, mutant in mutants:
        by_file.setdefault(file.relative_to(ROOT), []).append(mutant)
    for name, of_file in by_file.items():
        (copy / name).write_text(telling(of_file, str(name.relative_to("src"))), "utf-8")
    for folder in folders:
        file = record / f"{folder}.json"
        if not file.exists():
            command = [sys.executable, "-m", "pytest", *OPTIONS, "-p", "tests.mutation.recording", f"tests/{folder}"]
            environment = {**os.environ, "PYTHONPATH": str(copy / "src"), "CROWDBLEND_MUTATION_RECORD": str(file)}
            subprocess.run(command, cwd=copy, env=environment, check=False)


def sample(modules: Sequence[str], size: int, seed: int) -> list[tuple[Path, Mutant]]:
    """Mutants in random order, a quarter of them from some parts; the same for the same source and seed.

    The first of them, where a run is stopped, are a sample as well.
    """
    names = (file.relative_to(ROOT) for file in (ROOT / "src" / "crowdblend").rglob("*.py"))
    files = sorted(str(name) for name in names if not WITHOUT & {*name.parts})
    files = [file for file in files if any(part in file for part in modules)]
    every = [(ROOT / file, mutant) for file in files for mutant in mutants_of((ROOT / file).read_text("utf-8"))]
    often = [at for at, (file, _) in enumerate(every) if any(part in str(file.relative_to(ROOT)) for part in OFTEN)]
    first = random.Random(seed).sample(often, min(size // 4, len(often)))
    others = sorted(set(range(len(every))) - set(first))
    chosen = first + random.Random(seed).sample(others, min(size - len(first), len(others)))
    return [every[at] for at in random.Random(seed).sample(chosen, len(chosen))]


def _try_all(options: argparse.Namespace) -> None:
    records = [json.loads(file.read_text()) for file in sorted(options.record.glob("*.json"))]
    tests = {test: record for tests in records for test, record in tests.items() if record["passed"]}
    finished = {result["mutant"] for result in _results(options.results)}
    only = {result["mutant"] for result in _results(options.again) if result["outcome"] in UNNOTICED}
    mutants = sample(options.modules, options.sample, options.seed)
    forks = Forks(ROOT, sorted({test.partition("::")[0] for test in tests}))
    for file, mutant in mutants:
        module = str(file.relative_to(ROOT / "src"))
        name = f"{module}, {mutant}"
        if name in finished or (options.again and name not in only) or not any(map(module.__contains__, options.only)):
            continue
        helpings = _tests_of(tests, piece_name(module, mutant), options.seconds, _catchers(options.results, module))
        plain, outcome, caught_by = file.read_text("utf-8"), "no test", ""
        file.write_text(mutant.source, "utf-8")
        try:
            for helping in helpings:
                outcome, caught_by = forks.try_one(file, mutant, helping, anew=options.anew)
                if outcome != "survived":
                    break
        finally:
            file.write_text(plain, "utf-8")
        result = {"mutant": name, "outcome": outcome, "by": caught_by, "tests": sum(map(len, helpings))}
        with options.results.open("a") as results:
            results.write(json.dumps(result) + "\n")
        print(f"{outcome:9} {name}", flush=True)
    _summarize(options.results)
    catchers = {result["by"] for result in _results(options.results)} & set(tests)
    for test in forks.false_alarms({test: tests[test]["seconds"] for test in sorted(catchers)}):
        print(f"fails without a mutant too, so that what it caught is not known: {test}")


def _catchers(results: Path, module: str) -> list[str]:
    """Tests that caught mutants of this module, the most successful first."""
    of_module = [result for result in _results(results) if result["mutant"].startswith(f"{module}, ")]
    return [test for test, _ in Counter(result["by"] for result in of_module).most_common(5)]


def _tests_of(tests: dict[str, Any], piece: str, seconds: float, catchers: Sequence[str] = ()) -> list[Tests]:
    """The tests of a piece of code, in two helpings.

    First those that caught others and those in the folder of its package, then the others; those first that are fast
    and enter little else, and as many as time allows. Most mutants are caught by the first helping, in a second.
    """
    of_piece = [test for test, record in tests.items() if piece in record["entered"]]
    by_time = sorted(of_piece, key=lambda test: tests[test]["seconds"] * len(tests[test]["entered"]))
    package, cases, few = f"tests/{Path(piece).parts[1]}/", Counter[str](), []
    for test in by_time:
        cases[test.partition("[")[0]] += 1
        if cases[test.partition("[")[0]] <= FEW_CASES:
            few.append(test)
    near = [test for test in catchers if test in by_time]
    near += [test for test in few if test.startswith(package) and test not in near]
    first = _affordable(near, tests, FIRST_SECONDS)
    others = [test for test in few if test not in first] + [test for test in by_time if test not in few]
    then = _affordable([test for test in others if test not in first], tests, seconds)
    return [helping for helping in (first, then) if helping]


def _affordable(names: list[str], tests: dict[str, Any], seconds: float) -> Tests:
    """As many tests as take so many seconds together, and at least one."""
    helping: Tests = {}
    for test in names:
        if helping and sum(helping.values()) + tests[test]["seconds"] > seconds:
            break
        helping[test] = tests[test]["seconds"]
    return helping


def _results(path: Path | None) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()] if path is not None and path.exists() else []


def _summarize(path: Path) -> None:
    results = _results(path)
    survivors = [result for result in results if result["outcome"] in UNNOTICED]
    print(f"{len(results) - len(survivors)} of {len(results)} noticed")


if __name__ == "__main__":
    main()
