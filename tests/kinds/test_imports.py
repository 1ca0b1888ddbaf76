"""Planning loads nothing that only a release, or a choice of the recoding, needs."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.golden.releases import POLICIES

_PLAN = """
import sys
from crowdblend.kinds import plan
from crowdblend.policies.load import parse_policy
plan(parse_policy(sys.stdin.read())).certificate()
print(" ".join(name for name in ("scipy", "scipy.stats", "duckdb", "pyarrow", "vl_convert") if name in sys.modules))
"""


@pytest.mark.parametrize("name", ["table", "microdata", "points", "outlier-table", "statistics", "synopsis", "graph"])
def test_a_plan_loads_no_heavy_package(name: str) -> None:
    assert _loaded(POLICIES[name]) == ""


def test_a_choice_of_the_recoding_loads_special_functions_and_no_statistics() -> None:
    assert _loaded(POLICIES["table-population"]) == "scipy"


def _loaded(policy: str) -> str:
    run = subprocess.run([sys.executable, "-c", _PLAN], input=policy, capture_output=True, text=True, check=True)
    return run.stdout.strip()
