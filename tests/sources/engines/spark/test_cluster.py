"""A cluster of two workers loses an executor in every release, and publishes the bytes of one machine."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests import needs
from tests.golden.test_golden import HASHES, hashes_of

ROOT = Path(__file__).parents[4]
NAMES = ("table-open", "points", "programme-budget")


@pytest.mark.slow
def test_a_cluster_that_loses_executors_publishes_the_same_bytes(sources: Path, tmp_path: Path) -> None:
    needs.spark()
    command = [sys.executable, "-m", "tests.sources.engines.spark.on_cluster", str(sources), str(tmp_path), *NAMES]
    subprocess.run(command, cwd=ROOT, check=True, timeout=900)
    known = json.loads(HASHES.read_text())
    for name in NAMES:
        assert (tmp_path / f"{name}.killed").exists(), "an executor was killed"
        assert hashes_of(tmp_path / name) == known[name]
