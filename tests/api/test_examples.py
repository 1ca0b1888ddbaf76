"""Every example about the town runs on bundled data; the others say where their tables come from."""

from pathlib import Path

import pyarrow as pa
import pytest

import crowdblend as cb
from crowdblend.lab.demo import friendships, town
from crowdblend.policies.registry import KINDS

FOLDER = Path(__file__).parents[2] / "examples"
TOWN = sorted(FOLDER.glob("town-*.toml"))
QUICK = ("town-table", "town-graph")


@pytest.fixture(scope="module")
def people() -> pa.Table:
    return town()


@pytest.mark.parametrize(
    "path", [pytest.param(path, id=path.stem, marks=() if path.stem in QUICK else pytest.mark.slow) for path in TOWN]
)
def test_examples_about_the_town_run(path: Path, people: pa.Table) -> None:
    policy = cb.load_policy(path)
    done = cb.release(friendships() if policy.kind == "graph" else people, policy, ledger=None)
    assert all(table.num_rows for table in done.tables.values())
    assert cb.verify(done) == done.certificate


def test_every_kind_has_an_example() -> None:
    assert {cb.load_policy(path).kind for path in TOWN} == set(KINDS)


def test_examples_say_where_their_data_come_from() -> None:
    listed = (FOLDER / "README.md").read_text(encoding="utf-8")
    for path in FOLDER.glob("*.toml"):
        assert path.stem in listed, path.stem
        said = path.read_text(encoding="utf-8")
        assert "crowdblend demo" in said if path in TOWN else "examples/README.md" in said, path.stem
