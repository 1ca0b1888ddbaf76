"""Programmes of stratified samples: parts and fresh samples by stratum, each publication with a k in every stratum."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from fractions import Fraction
from functools import partial
from itertools import product
from math import comb, exp
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import crowdblend as cb
from crowdblend.errors import CrowdblendError, DoesNotVerify, InvalidInput
from crowdblend.kinds.shared.facts import derive, read_facts, to_json
from crowdblend.lab.rehearsal.made_up_people import Crowd, people_in_memory
from crowdblend.methods.designs import Strata, Stratum
from crowdblend.methods.designs.draw import parts_of
from crowdblend.methods.mechanisms.histograms import SuppressedHistogram
from crowdblend.methods.planning.parts import PartBudget
from crowdblend.policies.columns import columns_of
from crowdblend.policies.resources import Resources
from crowdblend.policies.source import DataSource
from crowdblend.sources.engines.choice import default_engine
from crowdblend.sources.engines.frames import opened_frame
from crowdblend.trusted.guarantees.programme import PartInCrowds
from crowdblend.trusted.randomness import ReleaseKey
from tests.kinds.programme.programmes import planned

KEY = bytes(range(32))
RATES = {"north": 0.1, "south": 0.3, "west": 0.5}


def people() -> pd.DataFrame:
    chance, size = np.random.default_rng(7), 30_000
    return pd.DataFrame(
        {
            "id": np.arange(size),
            "region": chance.choice(list(RATES), size, p=[0.6, 0.3, 0.1]),
            "sex": chance.choice(["F", "M"], size),
            "age": chance.integers(0, 100, size),
        }
    )


def programme(**changes: Any) -> cb.Policy:
    given: dict[str, Any] = {
        "columns": {"region": list(RATES), "sex": ["F", "M"], "age": cb.intervals(0, 100, width=20)},
        "sampling": cb.Strata("region", RATES),
        "person": "id",
        "epsilon": 1.0,
        "delta": 1e-6,
        "split": "people",
        "publish": [
            cb.Microdata("region", "sex", "age", name="rows", share=0.5),
            cb.Table("region", "sex", name="sexes", share=0.3),
            cb.Table("region", "age", name="ages", below_k="noise", share=0.2),
        ],
    }
    return cb.Policy(**{**given, **changes})


def parts() -> list[Any]:
    return [cb.Microdata("region", "sex", name="rows", share=0.6), cb.Table("region", "age", name="ages", share=0.4)]


def fresh() -> list[Any]:
    return [cb.Microdata("region", "sex", name="rows"), cb.Table("region", "age", name="ages")]


@pytest.mark.parametrize(
    "changes",
    [
        {},
        pytest.param({"sampling": cb.Strata("region", RATES, already_drawn=True)}, marks=pytest.mark.slow),
        {"split": "fresh", "publish": fresh()},
        {"releases": 3, "publish": parts()},
        pytest.param({"releases": 3}, marks=pytest.mark.slow),  # noise in a series takes ten seconds to plan
    ],
    ids=["parts", "parts of an earlier sample", "fresh samples", "a series", "a series with noise"],
)
def test_one_folder_that_verifies_and_is_read_by_stratum(tmp_path: Path, changes: dict[str, Any]) -> None:
    policy = programme(**changes)
    cb.release(people(), policy, out=tmp_path / "out", ledger=None, key=KEY)
    stated = cb.verify(tmp_path / "out").differential()
    assert stated is not None
    assert (stated.epsilon, stated.delta <= 1e-6) == (1.0, True)
    cells = cb.read(tmp_path / "out").estimates(table="ages").to_pandas().dropna(subset=["sampled"])
    share = next(one.share for one in policy.publish if one.name == "ages") or 1.0
    rates = cells["region"].astype(str).map(RATES).astype(float) * share
    assert np.allclose(cells["estimate"], (cells["sampled"] / rates), atol=0.06)


def test_every_part_has_in_every_stratum_the_smallest_k_of_its_rate() -> None:
    made = planned(programme())
    for one in made.planned[:2]:
        for mechanism, rate in zip(one.plan.mechanisms, RATES.values(), strict=True):
            budget = PartBudget(one.share or 0.0, (0.5, 0.3, 0.2), rate, 1.0, 1e-6, 1.0, one.share or 0.0)
            assert isinstance(mechanism, SuppressedHistogram)
            assert mechanism.k == budget.smallest_k(partial(PartInCrowds, budget.share), 0.0)


@pytest.mark.parametrize("engine", ["memory", "duckdb"])
def test_parts_of_strata_share_nobody_and_are_all_of_the_sample(engine: str) -> None:
    """Everybody is a class of their own, so that the classes of a part say who is in it."""
    size = 3_000
    names = [f"p{number}" for number in range(size)]
    regions = np.array(list(RATES))[np.arange(size) % 3]
    columns = columns_of({"region": list(RATES), "name": names})
    design = Strata("region", {label: Stratum(rate, rate, rate) for label, rate in RATES.items()})
    key = ReleaseKey(KEY)
    coin, parts = key.coin(), parts_of(key.coin(b"parts"), (0.5, 0.3))
    draws = [design.draw(coin), *(design.draw(coin, part) for part in parts)]
    frame = pd.DataFrame({"id": np.arange(size), "region": regions, "name": names})
    found = []
    with opened_frame(frame) as held:
        data = DataSource(source="people", format="frame", person="id", frame=held)
        everybody = tuple(Crowd((region, name), 1) for region, name in zip(regions, names, strict=True))
        opens: Any = people_in_memory(["region", "name"], everybody) if engine == "memory" else default_engine()
        for draw in draws:
            with opens.open(data, ["region", "name"], Resources(), None) as rows:
                sampled = rows.class_counts(columns, draw).classes
            found.append({names[code] for code in sampled.codes[:, 1]})
    whole, first, second = found
    assert not first & second
    assert first | second <= whole
    # The share of each part, and the rate of each stratum, within 5 standard errors (false alarms below 1e-5).
    for part, share in ((whole, 1.0), (first, 0.5), (second, 0.3)):
        for place, rate in enumerate(RATES.values()):
            drawn = sum(int(name[1:]) % 3 == place for name in part)
            wanted, error = 1_000 * rate * share, (1_000 * rate * share * (1 - rate * share)) ** 0.5
            assert abs(drawn - wanted) < 5 * error


def outcomes(people: int, k: int, rate: Fraction, shares: tuple[Fraction, ...]) -> Iterator[tuple[Any, Fraction]]:
    """Yield what two suppressing parts of one class show, with its probability."""
    left = 1 - rate * sum(shares)
    for first, second in product(range(people + 1), repeat=2):
        if first + second <= people:
            ways = comb(people, first) * comb(people - first, second)
            chance = (rate * shares[0]) ** first * (rate * shares[1]) ** second * left ** (people - first - second)
            yield tuple(count if count >= k else 0 for count in (first, second)), ways * chance


def law(sizes: tuple[int, int], crowds: Any, rates: Any, shares: Any) -> dict[Any, Fraction]:
    """The law of all that is published of two strata, each with one class and two parts."""
    found: dict[Any, Fraction] = {}
    strata = [list(outcomes(size, k, rate, shares)) for size, k, rate in zip(sizes, crowds, rates, strict=True)]
    for (one, p), (other, q) in product(*strata):
        found[one, other] = found.get((one, other), Fraction(0)) + p * q
    return found


def test_no_small_world_of_two_strata_in_two_parts_is_above_its_claim() -> None:
    chance = np.random.default_rng(11)
    attained = 0
    for _ in range(30):
        crowds = [int(k) for k in chance.integers(1, 4, 2)]
        rates = [Fraction(int(n), 16) for n in chance.integers(1, 15, 2)]
        shares = tuple(Fraction(int(n), 16) for n in chance.integers(1, 9, 2))
        epsilon = float(chance.choice([0.2, 0.7, 1.5]))
        labels = {str(at): Stratum(float(rate), float(rate), float(rate)) for at, rate in enumerate(rates)}
        mechanisms = [[SuppressedHistogram(k) for k in crowds]] * 2
        derived = Strata("region", labels).parts_derivations(mechanisms, [float(one) for one in shares], epsilon)
        stated, worst = derived[1].conclusion.delta, 0.0
        for sizes in product(range(1, 5), range(3)):
            for people in (sizes, sizes[::-1]):
                more = law((people[0], people[1]), crowds, rates, shares)
                for place in (0, 1):
                    fewer_people = tuple(size - (at == place) for at, size in enumerate(people))
                    if min(fewer_people) < 0:
                        continue
                    fewer = law((fewer_people[0], fewer_people[1]), crowds, rates, shares)
                    factor = exp(epsilon)
                    for one, other in ((more, fewer), (fewer, more)):
                        gap = sum(max(0.0, float(p) - factor * float(other.get(seen, 0))) for seen, p in one.items())
                        worst = max(worst, gap)
        assert worst <= stated + 1e-12
        attained += worst >= 0.5 * stated
    assert attained >= 10


def test_what_is_not_by_strata_is_refused_and_so_are_forgeries(tmp_path: Path) -> None:
    mixed = [cb.Microdata("region", "sex", name="rows"), cb.Table("sex", name="sexes")]
    columns = {"region": list(RATES), "sex": ["F", "M"]}
    for publish in (mixed, mixed[::-1]):
        with pytest.raises(InvalidInput, match="'sexes' is not by strata") as refused:
            programme(publish=publish, columns=columns).plan()
        assert "Publish 'region' in it" in refused.value.remedy
    with pytest.raises(InvalidInput, match="would be in two parts"):
        programme(duplicates="one").plan()
    facts = planned(programme()).facts()
    whole = to_json(facts)
    for change in (
        lambda made: made["published"]["rows"]["facts"]["strata"]["west"].update(k=2),
        lambda made: made["design"]["strata"].pop("north"),
        lambda made: made["design"]["strata"]["west"].update(low=0.4),
        lambda made: made["published"]["sexes"]["facts"]["strata"].pop("north"),
        lambda made: made["published"]["sexes"].update(share=0.2),
        lambda made: made["published"]["ages"]["facts"]["columns"].pop("region"),
        lambda made: made.update(split="budget"),
        lambda made: made.update(releases=50),
    ):
        forged = copy.deepcopy(whole)
        change(forged)
        with pytest.raises((DoesNotVerify, CrowdblendError)):
            derive(read_facts(forged))
    derive(read_facts(whole))
