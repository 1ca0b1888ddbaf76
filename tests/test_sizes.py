"""What begins at a size: the same results on both sides of it, and limits that hold exactly where they say."""

from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import pandas as pd
import pytest
from flint import arb

import crowdblend as cb
from crowdblend.api import proposing
from crowdblend.errors import DoesNotCompose, InvalidInput, NotProved, Refused
from crowdblend.kinds import plan
from crowdblend.kinds.shared.outputs import CountsOutput
from crowdblend.lab.rehearsal.made_up_people import Crowd, people_in_memory, publish_once
from crowdblend.ledger.identity import FingerprintRequest
from crowdblend.policies.domains import ValueDomain
from crowdblend.policies.load import parse_policy
from crowdblend.policies.resources import Resources
from crowdblend.policies.source import DataSource
from crowdblend.publishing.release import release
from crowdblend.publishing.target import LONGEST_NAME, check_target
from crowdblend.sources.engines.choice import default_engine, identify
from crowdblend.studio.jobs import Jobs
from crowdblend.trusted.numerics.crowd_divergence import CrowdGaps
from crowdblend.trusted.numerics.expected_people import largest_step
from tests.cases import for_each
from tests.golden.releases import KEY, POLICIES
from tests.golden.test_golden import hashes_of, written_hashes

ROWS, CODING = "crowdblend.sources.engines.duckdb.rows", "crowdblend.sources.engines.duckdb.coding"
# What the engine does otherwise from a size on, with a size that every source reaches or none does.
ENGINE: list[tuple[str, dict[str, Any]]] = [
    ("table", {f"{ROWS}._CHUNK_BYTES": 1}),
    ("table-text", {f"{ROWS}._CHUNK_BYTES": 1}),
    ("table", {f"{ROWS}._FEW": 1.0, f"{ROWS}._FEW_CLASSES": 1.0, f"{ROWS}._MOST_LOOKED_UP": 64}),
    ("table-one", {f"{ROWS}._FEW": 1.0, f"{ROWS}._FEW_CLASSES": 1.0, f"{ROWS}._MOST_LOOKED_UP": 64}),
    ("table", {f"{CODING}._LONGEST_LIST": 0}),
    ("table-text", {f"{CODING}._SMALL": 0, f"{CODING}._LONGEST_LIST": 0}),
    ("table", {f"{CODING}._EXACT": 0}),
]


@for_each(("name", "sizes"), ENGINE)
def test_the_bytes_are_the_same_on_both_sides_of_a_size(
    name: str, sizes: dict[str, Any], sources: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for place, size in sizes.items():
        monkeypatch.setattr(place, size)
    policy = parse_policy('[release]\nformat = "csv"\n' + POLICIES[name], sources)
    release(policy, tmp_path / "out", key=KEY, ledger=None, figures=False)
    assert hashes_of(tmp_path / "out") == written_hashes()[name]


def test_people_in_memory_are_counted_alike_whether_classes_are_few_or_many(monkeypatch: pytest.MonkeyPatch) -> None:
    policy = cb.Policy(
        person="id",
        sampling=cb.Poisson(0.5),
        epsilon=1.0,
        delta=1e-6,
        columns={"a": cb.values("x", "y"), "b": cb.values("u", "v")},
        publish=cb.Table(below_k="noise"),
    )
    engine = people_in_memory(["a", "b"], (Crowd(("x", "u"), 300), Crowd(("y", "v"), 90), Crowd(("y", "u"), 7)))
    found = []
    for most in (1 << 14, 0):
        monkeypatch.setattr("crowdblend.sources.engines.memory._DENSE", most)
        (output,) = publish_once(plan(policy.only), engine, KEY).outputs
        assert isinstance(output, CountsOutput)
        found.append(output.published.counts.tolist())
    assert found[0] == found[1]


def test_a_source_has_one_identity_whether_its_files_are_hashed_beside_the_database_or_before(
    sources: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data, found = DataSource(str(sources / "town.parquet"), "parquet", person="person_id"), []
    for least in (1 << 60, 0):
        monkeypatch.setattr("crowdblend.sources.engines.duckdb.engine._HASHED_ALONE", least)
        found.append(identify(data, Resources(), FingerprintRequest(KEY), default_engine()).to_json())
    assert found[0] == found[1]


@for_each("rows", [1, 10**9])
def test_a_sample_without_ids_is_known_again_however_many_rows_are_called_many(
    rows: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("crowdblend.sources.engines.identity._MANY_ROWS", rows)
    chance = np.random.default_rng(4)
    frame = pd.DataFrame({name: chance.integers(0, 40, 3_000) for name in "abcd"} | {"sex": ["f", "m"] * 1_500})
    policy = cb.Policy(
        rows_are_people=True,
        sampling=cb.Coins(0.1),
        epsilon=1.0,
        delta=1e-6,
        columns={"sex": cb.values("f", "m")},
        publish=cb.Table(),
    )
    ledger = cb.Ledger.create(tmp_path / "ledger.sqlite")
    cb.release(frame, policy, out=tmp_path / "one", ledger=ledger, figures=False)
    with pytest.raises(DoesNotCompose):
        cb.release(frame.sample(frac=1, random_state=3), policy, out=tmp_path / "two", ledger=ledger, figures=False)


@for_each(("k", "rate"), [(3, 0.3), (35, 0.5), (200, 0.05)])
def test_divergences_are_the_same_with_a_table_of_sizes_and_without(
    k: int, rate: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = []
    for largest in (20_000, -k):
        monkeypatch.setattr("crowdblend.trusted.numerics.crowd_divergence.LARGEST_TABLE", largest)
        gaps = CrowdGaps(k, arb(rate))
        found.append([float(way(arb(s))) for s in (1.0, 1.2, 2.0, 5.0) for way in (gaps.more, gaps.fewer)])
    assert found[0] == pytest.approx(found[1], rel=1e-12)


def test_whoever_decides_stands_for_so_many_people_and_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("crowdblend.trusted.numerics.expected_people._MOST_TOGETHER", 3)
    assert largest_step(5, 0.25, 3) > largest_step(5, 0.25, 2)
    with pytest.raises(NotProved, match="at most 3 people, got 4"):
        largest_step(5, 0.25, 4)


def test_labels_that_may_have_been_cut_off_are_not_proposed() -> None:
    whole, cut = "a" * 199, "b" * 200
    found = proposing._labels({whole: 50, cut: 50, "c": 50})
    assert isinstance(found, ValueDomain)
    assert found.values == (whole, "c")
    assert proposing._labels({cut: 50}) is None


@for_each("letter", ["x", "é"])
def test_a_folder_has_a_name_that_leaves_room_for_those_beside_it(letter: str, tmp_path: Path) -> None:
    longest = letter * (LONGEST_NAME // len(letter.encode()))
    check_target(tmp_path / longest, force=False)
    with pytest.raises(InvalidInput, match="1 to 200 bytes"):
        check_target(tmp_path / (longest + letter), force=False)


@for_each("running", [3, 4])
def test_at_most_four_jobs_run(running: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    process = mock.Mock(poll=lambda: None)
    monkeypatch.setattr("crowdblend.studio.jobs.subprocess.Popen", lambda *_, **__: process)
    studio = Jobs(tmp_path)
    for _ in range(running):
        studio.start("check", {})
    if running < 4:
        studio.start("check", {})
        return
    with pytest.raises(Refused, match="4 jobs are running"):
        studio.start("check", {})


def test_as_many_old_jobs_are_kept_as_are_said(tmp_path: Path) -> None:
    for number in range(53):
        (tmp_path / f"{number:012x}").mkdir()
    Jobs(tmp_path).prune()
    assert len([*tmp_path.iterdir()]) == 50
