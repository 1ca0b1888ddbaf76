"""The same policy, rows and key give the same bytes as on one machine: every kind, layout and type of ids."""

import json
from pathlib import Path

import pytest

from crowdblend.policies.load import parse_policy
from crowdblend.publishing.release import release
from crowdblend.sources.engines.spark.engine import SparkEngine
from crowdblend.trusted.calculus import Assumption, verify_file
from tests.golden.releases import KEY, POLICIES, PROGRAMMES
from tests.golden.test_golden import HASHES, hashes_of

# Every day: open labels, two draws, places, links, parts. test_layouts.py and test_strata.py hold the counts that all
# others begin with against those of one machine.
ESSENTIAL = ("table-open", "table-split", "points", "graph", "programme-people")
CASES = [name if name in ESSENTIAL else pytest.param(name, marks=pytest.mark.slow) for name in POLICIES | PROGRAMMES]


@pytest.mark.parametrize("name", CASES)
def test_the_published_bytes_are_those_of_the_first_release(
    name: str, sources: Path, tmp_path: Path, engine: SparkEngine
) -> None:
    text = '[release]\nformat = "csv"\n' + (POLICIES | PROGRAMMES)[name]
    done = release(parse_policy(text, sources), tmp_path / "out", key=KEY, ledger=None, engine=engine)
    assert hashes_of(tmp_path / "out") == json.loads(HASHES.read_text())[name]
    assert Assumption.CLUSTER_HOLDS_KEY in [made.assumption for made in done.certificate.assumptions()]
    verify_file(tmp_path / "out")


@pytest.mark.slow
def test_points_of_people_with_several_rows(tmp_path: Path, engine: SparkEngine) -> None:
    """One point of everybody in a block, and a coin for each: whichever rows came first."""
    rows = "\n".join(f"{person},{(person * 7 + visit * 3) % 20 / 2}" for person in range(3_000) for visit in range(3))
    (tmp_path / "visits.csv").write_text(f"id,x\n{rows}\n")
    text = (
        '[data]\nsource = "visits.csv"\nperson = "id"\nrows_per_person = 2\n[sampling]\ndesign = "poisson"\n'
        "rate = 0.5\n[columns]\nx = { from = 0, to = 10, resolution = 0.5, width = 5 }\n"
        '[privacy]\nepsilon = 1.0\ndelta = 1e-6\n[[publish]]\nkind = "points"\n'
        'noise_epsilon = 1.0\n[release]\nformat = "csv"\n'
    )
    policy = parse_policy(text, tmp_path)
    for name, how in (("here", None), ("there", engine)):
        release(policy, tmp_path / name, key=KEY, ledger=None, engine=how)
    assert (tmp_path / "here" / "data.csv").read_bytes() == (tmp_path / "there" / "data.csv").read_bytes()
    verify_file(tmp_path / "there")
