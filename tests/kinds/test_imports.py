"""Planning loads nothing that only a release, or a choice of the recoding, needs."""

import json
import subprocess
import sys

from tests.golden.releases import POLICIES

_PLAN = """
import json, sys
from crowdblend.kinds import plan
from crowdblend.policies.load import parse_policy
heavy, loaded = ("scipy", "scipy.stats", "duckdb", "pyarrow"), {}
for name, policy in json.load(sys.stdin).items():
    plan(parse_policy(policy)).certificate()
    loaded[name] = [package for package in heavy if package in sys.modules]
print(json.dumps(loaded))
"""
LIGHT = ("table", "microdata", "points", "outlier-table", "statistics", "synopsis", "graph")
CHOSEN = "table-population"


def test_a_plan_loads_no_heavy_package_and_a_choice_of_the_recoding_special_functions() -> None:
    """In one process, one after the other: a package that the first of them loads stays loaded."""
    policies = json.dumps({name: POLICIES[name] for name in (*LIGHT, CHOSEN)})
    run = subprocess.run([sys.executable, "-c", _PLAN], input=policies, capture_output=True, text=True, check=True)
    loaded = json.loads(run.stdout)
    assert {name: loaded[name] for name in LIGHT} == {name: [] for name in LIGHT}
    assert loaded[CHOSEN] == ["scipy"]
