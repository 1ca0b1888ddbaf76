"""`memory` bounds the process: each release runs in a process of its own, whose peak the operating system counts."""

import subprocess
import sys
from pathlib import Path

import duckdb
import pytest

from crowdblend.errors import InvalidInput
from crowdblend.ledger import Ledger
from crowdblend.policies.resources import LEAST_MEMORY, Resources, memory_of
from tests.policies.policies import policy_text

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="peaks are counted as Linux counts them")

COLUMNS = "sex = { values = [0, 1] }\nage = { from = 0, to = 100, width = 5 }\nzip = { from = 0, to = 2000, width = 1 }"
SAMPLE = {"sampling": 'design = "poisson"\nrate = 0.5', "privacy": "delta = 1e-8"}
EVERYBODY = {"sampling": 'design = "everybody"', "privacy": "epsilon = 1.0"}
DESIGNS = {
    "sample": SAMPLE | {"columns": COLUMNS, "publish": 'kind = "table"\nk = 60'},
    "rows": SAMPLE | {"columns": COLUMNS, "publish": 'kind = "microdata"\nk = 60'},
    "register": EVERYBODY | {"columns": COLUMNS.rpartition("\n")[0], "publish": 'kind = "table"'},
}
# A process's peak begins at that of the process that started it: here one that holds nothing.
MEASURE = """
import os, sys
_, status, used = os.wait4(os.spawnv(os.P_NOWAIT, sys.argv[1], sys.argv[1:]), 0)
print(os.waitstatus_to_exitcode(status), used.ru_maxrss * 1024)
"""


def people(path: Path, rows: int) -> None:
    """Rows with text ids, as CSV or Parquet."""
    bounds = {"sex": 2, "age": 100, "zip": 2000}
    columns = ", ".join(f"(hash(i, '{name}') % {bound})::INT AS {name}" for name, bound in bounds.items())
    with duckdb.connect() as connection:
        connection.execute(f"COPY (SELECT 'p-' || i AS id, {columns} FROM range({rows}) AS of(i)) TO '{path}'")


def released(folder: Path, source: str, design: str, memory: str) -> tuple[int, int, str]:
    """Return the exit code, the peak in bytes and the output of a release of its own."""
    release = f'memory = "{memory}"\nthreads = 2'
    text = policy_text(data=f'source = "{source}"\nperson = "id"', release=release, **DESIGNS[design])
    (folder / "policy.toml").write_text(text)
    Ledger.create(folder / f"{design}-{memory}.sqlite")
    command = [sys.executable, "-m", "crowdblend", "release", "policy.toml", "--yes", "--no-figures"]
    command += ["--out", f"{design}-{memory}", "--ledger", f"{design}-{memory}.sqlite"]
    measured = [sys.executable, "-c", MEASURE, *command]
    done = subprocess.run(measured, cwd=folder, capture_output=True, text=True, check=True)
    code, peak = done.stdout.splitlines()[-1].split()
    return int(code), int(peak), done.stderr


@pytest.mark.parametrize("source", ["people.csv", "people.parquet"])
def test_the_least_is_enough_for_a_few_rows(tmp_path: Path, source: str) -> None:
    people(tmp_path / source, 100_000)
    code, peak, said = released(tmp_path, source, "sample", f"{LEAST_MEMORY // 10**6}MB")
    assert code == 0, said
    assert peak <= LEAST_MEMORY


@pytest.mark.slow
@pytest.mark.parametrize("design", DESIGNS)
@pytest.mark.parametrize("source", ["people.csv", "people.parquet"])
def test_the_process_stays_below_its_memory(tmp_path: Path, source: str, design: str) -> None:
    people(tmp_path / source, 10_000_000)
    for memory in ("400MB", "1GB"):
        code, peak, said = released(tmp_path, source, design, memory)
        assert peak <= memory_of(memory), f"{design} of {source} with {memory}: {peak:,} bytes"
        assert code == 0 or "takes more than [release] memory allows" in said
    assert code == 0, "1 GB is enough for 10 million rows"


def test_less_than_the_least_is_refused_with_the_least() -> None:
    with pytest.raises(InvalidInput, match=f'Write at least "{LEAST_MEMORY // 10**6}MB"') as refused:
        memory_of("200MB")
    assert refused.value.code == "policy.memory"
    assert memory_of("1.5 GiB") == 1610612736


def test_the_parts_are_the_whole() -> None:
    for memory in (LEAST_MEMORY, 10**9, 10**12):
        resources = Resources(memory)
        database, arrays = resources.database_memory, resources.array_memory
        assert database is not None
        assert arrays is not None
        assert 0 < database + arrays < memory
    assert Resources(LEAST_MEMORY).threads_of(64) == 2
    assert Resources(10**12, threads=3).threads_of(64) == 3
    assert Resources().threads_of(64) is None
