"""Series of statistics, outlier tables and synopses: every release has an equal part of the budget."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import crowdblend as cb
from crowdblend.errors import DoesNotVerify
from crowdblend.kinds.shared.facts import derive, read_facts, to_json
from crowdblend.methods.designs.design import differential_of
from crowdblend.policies.publication import Publication
from crowdblend.policies.sampling_section import Sampling
from tests.cases import for_each
from tests.kinds.programme.programmes import planned

YEARS = 5
MEDIAN = cb.Statistics(cb.median("age", name="median"))
CASES: dict[str, tuple[Sampling, Publication, dict[str, Any]]] = {
    "statistics of a register": (cb.Everybody(), MEDIAN, {"people": 1_000}),
    "statistics of a sample": (cb.Poisson(0.5), MEDIAN, {"people": 1_000}),
    "statistics of a survey": (cb.Survey(100, of=1_000), MEDIAN, {}),
    "an outlier table": (cb.Poisson(0.5), cb.OutlierTable("sex", limit=60), {"delta": 1e-5}),
    "a synopsis": (cb.Survey(100, of=1_000), cb.Synopsis("sex", "age", conjunctions=1), {}),
}


def policy(name: str, **changes: Any) -> cb.Policy:
    sampling, publish, more = CASES[name]
    columns: dict[str, Any] = {"sex": cb.values("F", "M")}
    if publish.kind != "outlier-table":
        columns["age"] = (
            cb.intervals(0, 100, width=20) if publish.kind == "synopsis" else cb.bounds(0, 100, resolution=1)
        )
        if publish.kind == "statistics":
            del columns["sex"]
    given = {"person": "id", "ids": "table", "population": "people", "epsilon": 1.0, "releases": YEARS, **more}
    return cb.Policy(**{**given, "columns": columns, "sampling": sampling, "publish": publish, **changes})


@for_each("name", CASES, daily=2)
def test_every_release_has_its_part_and_all_keep_the_whole(name: str, tmp_path: Path) -> None:
    people = pd.DataFrame({"id": range(1_000), "sex": ["F", "M"] * 500, "age": [one % 100 for one in range(1_000)]})
    made = cb.release(people, policy(name), ledger=None)
    made.save(tmp_path / "out")
    certificate = cb.verify(tmp_path / "out")
    once = differential_of(certificate.derivations).conclusion
    assert Fraction(once.epsilon) * YEARS <= 1
    assert once.epsilon * YEARS > 0.98
    facts = read_facts(certificate.facts)
    assert facts.planned_releases == YEARS
    assert facts.parameters["releases"] == YEARS
    document = to_json(facts)
    for changes in ({"releases": 3 * YEARS}, {"epsilon": 0.3}):  # an outlier table may compose by its curve
        with pytest.raises(DoesNotVerify, match="guarantee less together"):
            derive(read_facts({**document, "series": {**document["series"], **changes}}))
    assert read_facts({key: value for key, value in document.items() if key != "series"}).planned_releases == 1


def test_one_of_several_publications_is_in_no_series_of_its_own() -> None:
    both = [cb.Table("sex", name="a"), cb.Statistics(cb.median("age", name="median"), name="b")]
    columns = {"sex": cb.values("F", "M"), "age": cb.bounds(0, 100, resolution=1)}
    many = policy("statistics of a register", publish=both, columns=columns, split="budget", delta=1e-6)
    document = to_json(planned(many).facts())
    document["published"]["b"]["facts"]["series"] = {"releases": 2, "epsilon": 5.0, "delta": 1e-3}
    with pytest.raises(DoesNotVerify, match="another budget"):
        derive(read_facts(document))
