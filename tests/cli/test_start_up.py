"""Commands load what they use: planning, starting and verifying load no arrays, no engine and no renderer."""

import os
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from crowdblend.ledger import Ledger
from crowdblend.methods.planning.plan import plan
from tests.policies.policies import SOUND

HEAVY = {
    *("duckdb", "pyarrow", "numpy", "scipy", "opendp", "starlette", "uvicorn", "jinja2"),
    *("psycopg", "pyspark", "pandas", "networkx"),
    # What pyarrow loads for masked arrays and for its functions takes as long as reading a small table.
    *("numpy.ma", "pyarrow.compute", "pyarrow.dataset"),
    *("crowdblend.methods.selection", "crowdblend.kinds.strata"),
}
# A release into a ledger of its own, without figures.
READING = {"numpy", "duckdb", "pyarrow"}
# Whether a file has its columns is seen from its header, without the engine.
ARRAYS = {"numpy"}


@pytest.fixture
def place(tmp_path: Path) -> Path:
    (tmp_path / "people.csv").write_text("id,sex,age\n1,Female,3\n2,Male,40\n", encoding="utf-8")
    (tmp_path / "policy.toml").write_text(SOUND, encoding="utf-8")
    people = pa.table({"id": range(400), "sex": ["Female", "Male"] * 200, "age": [3] * 400})
    pq.write_table(people, tmp_path / "people.parquet")
    sound = SOUND.replace("people.csv", "people.parquet").replace("rate = 0.1", "rate = 0.3")
    (tmp_path / "parquet.toml").write_text(sound.replace("k = 20", "").replace("= 10 }", "= 100 }"), encoding="utf-8")
    Ledger.create(tmp_path / "crowdblend" / "ledger.sqlite")
    return tmp_path


def loaded(place: Path, *arguments: str) -> set[str]:
    """The heavy modules that a command has loaded when it ends well."""
    code = (
        f"import atexit, sys; sys.argv[1:] = {list(arguments)}\n"
        f"atexit.register(lambda: print(*sorted(set({sorted(HEAVY)}) & set(sys.modules)), file=sys.stderr))\n"
        "from crowdblend.cli.process import run\n"
        "run()"
    )
    environment = {**os.environ, "XDG_DATA_HOME": str(place)}
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=place, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return set(done.stderr.strip().splitlines()[-1].split()) if done.stderr.strip() else set()


PLAN = ("plan", "--rate", "0.1", "--k", "20", "--epsilon", "1")


@pytest.mark.parametrize(
    ("arguments", "allowed"),
    [
        ((*PLAN, "--json"), set()),
        (("plan", "policy.toml"), ARRAYS),
        (("init", "people.csv", "--design", "poisson", "--out", "-"), set()),
        pytest.param(("rules", "suppression.exact"), set(), marks=pytest.mark.slow),
        pytest.param(("release", "policy.toml", "--dry-run"), ARRAYS, marks=pytest.mark.slow),
        (("release", "parquet.toml", "--yes", "--json", "--no-figures"), READING),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_a_command_loads_what_it_uses(place: Path, arguments: tuple[str, ...], allowed: set[str]) -> None:
    assert loaded(place, *arguments) <= allowed


def test_verify_loads_nothing_heavy(place: Path) -> None:
    certificate = plan(rate=0.1, k=20, epsilon=1.0).certificate()
    (place / "certificate.json").write_text(certificate.to_json(), encoding="utf-8")
    assert loaded(place, "verify", "certificate.json") == set()


def test_policies_plans_and_the_ledger_load_no_arrays_and_no_database() -> None:
    names = ("methods.planning.networks", "policies", "ledger", "cli.ledger")
    code = (
        f"import sys, {', '.join(f'crowdblend.{name}' for name in names)}\n"
        "assert not {'psycopg', 'duckdb', 'numpy', 'pyarrow', 'pandas'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_reading_a_policy_loads_the_class_of_its_kind_alone() -> None:
    code = (
        "import sys\nfrom crowdblend.policies.load import parse_policy\n"
        f"parse_policy({SOUND!r})\n"
        "others = {f'crowdblend.kinds.{kind}.policy' for kind in ('graph', 'synopsis', 'statistics', 'points')}\n"
        "assert not others & set(sys.modules), others & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
