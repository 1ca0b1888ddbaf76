"""First calls in threads, by asyncio and in other processes: nothing crashes, and all get the same."""

from __future__ import annotations

import ast
import os
import pickle
import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from multiprocessing import get_context
from pathlib import Path

import pytest

import crowdblend as cb
from tests.api.survey import KEY, survey, table

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "crowdblend"
RUNS = 20


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("threads") / "published"
    cb.release(survey(), table(), ledger=None, key=KEY, out=folder)
    return folder


def cold(job: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a job in eight threads of a new process, with a Python that CROWDBLEND_PYTHON may name."""
    python = os.environ.get("CROWDBLEND_PYTHON", sys.executable)
    environment = {**os.environ, "PYTHONPATH": f"{ROOT}{os.pathsep}{ROOT / 'src'}"}
    command = [python, "-m", "tests.cold_threads", job, str(folder)]
    return subprocess.run(command, capture_output=True, text=True, timeout=300, check=False, cwd=ROOT, env=environment)


@pytest.mark.parametrize("job", ["mixed", "asyncio"])
def test_first_calls_in_threads(job: str, published: Path) -> None:
    done = cold(job, published)
    assert done.returncode == 0, done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("job", ["release", "verify", "read"])
def test_many_first_calls_in_threads(job: str, published: Path) -> None:
    """A process for each of twenty runs: 480 cold threads in all."""
    for run in range(RUNS):
        done = cold(job, published)
        assert done.returncode == 0, f"run {run}: {done.stderr}"


def test_types_are_resolved_by_one_thread_at_a_time() -> None:
    """Whatever is read into a class of ours goes through `resolve`, and never while a module is imported."""
    wrong, seen = [], 0
    for file in SOURCE.rglob("*.py"):
        tree = ast.parse(file.read_text(encoding="utf-8"))
        inside = {id(node) for one in ast.walk(tree) if isinstance(one, ast.FunctionDef) for node in ast.walk(one)}
        for node in ast.walk(tree):
            if not isinstance(node, ast.Call):
                continue
            called = ast.unparse(node.func)
            if called == "resolve" and id(node) not in inside:
                wrong.append(f"{file.name}:{node.lineno} while it is imported")
            kind = None
            if called == "msgspec.convert" and len(node.args) > 1:
                kind = node.args[1]
            elif called in ("msgspec.json.Decoder", "msgspec.msgpack.Decoder") and node.args:
                kind = node.args[0]
            elif called.endswith((".decode", "to_builtins")):
                kind = next((given.value for given in node.keywords if given.arg == "type"), None)
            if kind is None or file.name == "type_resolution.py":
                continue
            seen += 1
            if not ast.unparse(kind).startswith(("resolve(", "dict[")):
                wrong.append(f"{file.name}:{node.lineno} {ast.unparse(kind)}")
    assert seen > 5
    assert wrong == []


def publish(people: int) -> cb.Release:
    return cb.release(survey(people), table(), ledger=None, key=KEY)


def test_a_process_pool_returns_releases() -> None:
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        done = pool.submit(publish, 600).result()
    here = publish(600)
    assert done.certificate.to_json() == here.certificate.to_json()
    assert done.data.equals(here.data)
    assert done.estimates().equals(here.estimates())


def test_results_survive_a_copy(published: Path) -> None:
    release = cb.release(survey(), table(), ledger=None, key=KEY)
    for value in (release.certificate, cb.verify(published), cb.read(published), table(), table().plan()):
        copied = pickle.loads(pickle.dumps(value))
        assert type(copied) is type(value)
    assert pickle.loads(pickle.dumps(release.certificate)) == release.certificate


def test_a_copied_derivation_is_derived_again() -> None:
    """A certificate that was forged in memory does not travel."""
    certificate = publish(600).certificate
    (first, *_) = certificate.derivations
    true = first.conclusion
    first.__dict__["conclusion_"] = replace(true, epsilon=true.epsilon / 2)
    assert pickle.loads(pickle.dumps(certificate)).derivations[0].conclusion == true
