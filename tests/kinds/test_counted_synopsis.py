"""Synopses of samples by coins, strata, weights and biased samples: what noise hides, and how far shares are off."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import crowdblend as cb
from crowdblend.errors import DoesNotVerify, InvalidInput
from crowdblend.kinds.shared.facts import derive, read_facts, to_json
from crowdblend.kinds.synopsis.coin_samples import CountedSynopsisPlan
from crowdblend.kinds.synopsis.facts import SynopsisFacts
from crowdblend.methods.designs.design import differential_of
from crowdblend.methods.mechanisms.synopsis.conjunctions import conjunctions
from crowdblend.methods.mechanisms.synopsis.queries import QueryClass, list_conjunctions, ranges
from crowdblend.methods.mechanisms.synopsis.synopses import CountedSynopsis
from crowdblend.policies.sampling_section import Sampling
from crowdblend.trusted.randomness.source import KeyedSource
from tests.cases import for_each

PEOPLE = 60_000
SAMPLINGS: dict[str, Sampling] = {
    "poisson": cb.Poisson(0.3),
    "strata": cb.Strata("region", {"north": 0.05, "south": 0.5}),
    "biased": cb.Biased(0.28, 0.3, rate=0.29),
    "weights": cb.Weights("weight"),
}
CLASSES: list[QueryClass] = [
    *conjunctions((4, 3, 2), 2),
    ranges(7),
    list_conjunctions((3, 2), [{0: 1}, {0: 1, 1: 0}, {1: 1}]),
]


def people() -> pd.DataFrame:
    chance = np.random.default_rng(8)
    region = chance.choice(["north", "south"], PEOPLE, p=[0.7, 0.3])
    # The north is older, so that a sample that has less of it is wrong about ages unless it is weighted.
    age = np.where(region == "north", chance.integers(50, 100, PEOPLE), chance.integers(0, 50, PEOPLE))
    weight = np.where(region == "north", 19.0, 2.5)
    return pd.DataFrame({"id": np.arange(PEOPLE), "region": region, "age": age, "weight": weight})


def policy(name: str, **changes: Any) -> cb.Policy:
    columns: dict[str, Any] = {"region": ["north", "south"], "age": cb.intervals(0, 100, width=25)}
    columns |= {"weight": cb.breaks(2, 3, 18, 20)} if name == "weights" else {}
    given: dict[str, Any] = {
        "person": "id",
        "people": PEOPLE,
        "epsilon": 1.0,
        "columns": columns,
        "sampling": SAMPLINGS[name],
        "publish": cb.Synopsis("region", "age", conjunctions=1, rows=4_000),
    }
    return cb.Policy(**{**given, **changes})


@for_each("queries", CLASSES)
def test_one_person_is_in_no_more_counts_than_are_paid_for(queries: QueryClass) -> None:
    """Every possible person, added to nobody: the measured counts move by at most `depth` in all."""
    moved = []
    for cell in np.ndindex(queries.shape):
        table = np.zeros(queries.shape, np.int64)
        table[cell] = 1
        counts = queries.counts(table)
        assert len(counts) == queries.measured_counts
        moved.append(int(np.abs(counts).sum()))
    assert max(moved) == queries.depth
    # The number of people is published too, and moves by one.
    claimed = CountedSynopsis(queries, 0.5, 100, 0.05).claim().conclusion
    assert claimed.epsilon == pytest.approx(0.5 * (max(moved) + 1), rel=1e-12)


@for_each("name", list(SAMPLINGS))
def test_shares_of_everybody_are_within_the_stated_error(name: str, tmp_path: Path) -> None:
    """Fails on right code with a probability below 1e-9: errors are stated at 95 %, and are far from reached."""
    everybody = people()
    if name == "weights":
        drawn = np.random.default_rng(4).uniform(size=PEOPLE) < 1 / everybody["weight"]
        everybody = everybody[drawn]
    done = cb.release(everybody, policy(name), out=tmp_path / "published", ledger=None, figures=False)
    facts = cb.read(tmp_path / "published").facts
    cb.verify(tmp_path / "published")
    assert isinstance(facts, SynopsisFacts)
    assert facts.size is not None
    error, of_sample, _ = facts.errors
    assert of_sample < error < 0.2
    north = (done.data["region"] == "north").mean()
    truth = (people()["region"] == "north").mean()
    assert abs(north - truth) < error
    # Unweighted shares of the stratified sample would be off by more.
    if name in ("strata", "weights"):
        assert abs(0.7 * 0.05 / (0.7 * 0.05 + 0.3 * 0.5) - truth) > error


@for_each("seed", range(20))
def test_a_handful_of_people_is_published(seed: int) -> None:
    """Noise of thousands on nobody's counts, divided by a noisy number that may be 1, gives shares far beyond 1."""
    rows, _ = CountedSynopsis(CLASSES[0], 1e-3, 50, 0.05, (37, 13)).publish(
        np.zeros(CLASSES[0].shape, np.int64), KeyedSource(bytes(32), b"%d" % seed)
    )
    assert len(rows.cells) == 50


def test_facts_with_less_noise_are_refused_and_a_series_adds_up() -> None:
    plan = policy("strata", releases=4).plan()
    assert isinstance(plan, CountedSynopsisPlan)
    facts = plan.facts()
    assert differential_of(derive(facts)).conclusion.epsilon <= 0.25
    document = to_json(facts)
    document["mechanism"]["noise_epsilon"] *= 2
    with pytest.raises(DoesNotVerify):
        derive(read_facts(document))
    document = to_json(facts)
    document["mechanism"]["mechanism"] = "fitted"
    with pytest.raises(DoesNotVerify):
        derive(read_facts(document))


def test_what_needs_a_public_number_of_people_is_refused() -> None:
    chosen = cb.Synopsis("region", conjunctions=1, mechanism="exponential")
    with pytest.raises(InvalidInput, match="public number"):
        policy("poisson", publish=chosen)
    with pytest.raises(InvalidInput, match="exceptions"):
        policy("biased", sampling=cb.Biased(0.28, 0.3, rate=0.29, exceptions=1))
    with pytest.raises(InvalidInput, match="rate"):
        policy("poisson", sampling=cb.Poisson())
