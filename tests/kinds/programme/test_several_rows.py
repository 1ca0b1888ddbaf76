"""People with several rows in several publications: noise on all of them, under one budget."""

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import crowdblend as cb
from crowdblend.errors import DoesNotVerify, InvalidInput
from crowdblend.kinds.shared.facts import derive, read_facts, to_json
from tests.cases import for_each

HOUSEHOLDS, MOST = 4_000, 3
COLUMNS = {
    "shop": cb.values("a", "b", "c"),
    "day": cb.values("mo", "tu"),
    "town": cb.values(*(f"t{number}" for number in range(30))),
}
REGISTER = [
    cb.Table("shop", name="persons"),
    cb.Table("day", count="people", name="households"),
    cb.Table("town", below_k="threshold", name="towns"),
    cb.OutlierTable("shop", limit=5_000, name="shops"),
]
SAMPLE = [
    cb.Table("town", below_k="threshold", name="towns"),
    cb.Statistics(cb.count({"shop": "a"}, name="a"), name="counts"),
    cb.Synopsis("shop", "day", conjunctions=1, name="rows"),
]


def policy(sampling: Any, publish: Any, **changes: Any) -> cb.Policy:
    given: dict[str, Any] = {
        **{"person": "household", "columns": COLUMNS, "rows_per_person": MOST, "sampling": sampling},
        **{"epsilon": 3.0, "delta": 1e-6, "publish": publish},
    }
    return cb.Policy(**{**given, **({} if publish is REGISTER else {"people": HOUSEHOLDS}), **changes})


def rows() -> pa.Table:
    """Up to five persons in every household, of a fixed number generator: nothing here is secret."""
    chance = np.random.default_rng(11)
    households = np.repeat(np.arange(HOUSEHOLDS), chance.integers(1, 6, HOUSEHOLDS))
    drawn = {name: chance.choice(list(column.labels), len(households)) for name, column in DOMAINS.items()}
    return pa.table({"household": households, **drawn})


DOMAINS = {name: policy(cb.Everybody(), REGISTER).columns[place].recoding for place, name in enumerate(COLUMNS)}


@pytest.mark.filterwarnings("ignore:No ledger at")
@for_each(("sampling", "publish"), [(cb.Everybody(), REGISTER), (cb.Poisson(0.4), SAMPLE), (cb.Coins(0.4), SAMPLE)])
def test_publications_of_several_rows_share_a_budget(sampling: Any, publish: Any, tmp_path: Path) -> None:
    folder = tmp_path / f"{type(sampling).__name__}"
    cb.release(rows(), policy(sampling, publish), out=folder, ledger=None)
    cb.verify(folder)
    opened = cb.read(folder)
    assert {one.facts.unit.most for one in opened.publications.values()} == {MOST}
    assert opened.facts.largest_epsilon == 3.0
    # Every publication keeps other rows, so that none of their margins are made to agree, or stand side by side.
    assert "every publication keeps random ones" in " ".join(opened.facts.together)
    assert not opened.counted_publications
    assert "their mean" not in (folder / "report.html").read_text()
    assert not [file for file in folder.iterdir() if file.stem == "totals"]


@pytest.mark.filterwarnings("ignore:No ledger at")
def test_persons_and_their_households_are_counted_in_one_programme(tmp_path: Path) -> None:
    """Laplace noise of loss ε goes beyond 20/ε with a probability of e^-20, so that right code fails once in 10⁸."""
    table = rows()
    done = cb.release(table, policy(cb.Everybody(), REGISTER[:2], delta=None), out=tmp_path / "town", ledger=None)
    households, households_of = np.asarray(table["household"]), np.asarray(table["day"])
    opened = cb.read(tmp_path / "town").publications
    facts: dict[str, Any] = {name: one.facts for name, one in opened.items()}
    found = {name: done[name].data.to_pylist() for name in opened}
    for row in found["households"]:
        true = len(set(households[households_of == row["day"]]))
        assert abs(row["count"] - true) <= 20 / facts["households"].mechanism.noise_epsilon
    persons = sum(min(MOST, size) for size in np.bincount(households))
    noise = 3 * 20 / facts["persons"].mechanism.noise_epsilon
    assert abs(sum(row["count"] for row in found["persons"]) - persons) <= noise


def test_what_is_claimed_of_one_row_is_not_enough() -> None:
    facts = plan_facts(policy(cb.Everybody(), REGISTER[2:]))
    assert derive(facts)
    for name in ("towns", "shops"):
        document = to_json(facts)
        document["published"][name]["facts"]["rows_per_person"] = MOST + 1
        with pytest.raises(DoesNotVerify) as refused:
            derive(read_facts(document))
        assert refused.value.code == "data-contradict"


def plan_facts(several: cb.Policy) -> Any:
    return several.plan().facts()  # type: ignore[attr-defined]  # of a programme


NOISY = [cb.Table("town", "day", below_k="threshold", name="a"), cb.Table("shop", "day", below_k="threshold", name="b")]


@for_each(
    ("sampling", "publish", "split"),
    [
        (cb.Strata("day", {"mo": 0.2, "tu": 0.4}), NOISY, "budget"),
        (cb.Survey(2_000, of=HOUSEHOLDS, thin=1.0), NOISY, "budget"),
        (cb.Poisson(0.4), NOISY, "people"),
        (cb.Poisson(0.4), NOISY, "fresh"),
    ],
)
def test_what_is_not_proved_of_several_rows_is_refused(sampling: Any, publish: Any, split: Any) -> None:
    with pytest.raises(InvalidInput) as refused:
        policy(sampling, publish, split=split, people=None).plan()
    assert (refused.value.code, refused.value.where) == ("policy.rows-per-person", "rows_per_person")


def test_gaussian_noise_is_not_taken_where_rows_would_cost_more() -> None:
    many = [cb.Table("town", name=f"t{number}") for number in range(20)]
    alone = policy(cb.Everybody(), many, people=None, rows_per_person=None)
    assert {one["mechanism"]["mechanism"] for one in mechanisms(alone)} == {"gaussian-cells"}
    several = mechanisms(policy(cb.Everybody(), many, people=None))
    assert {one["mechanism"]["mechanism"] for one in several} == {"noisy-cells"}


def mechanisms(several: cb.Policy) -> list[dict[str, Any]]:
    return [to_json(facts) for facts in plan_facts(several).publications.values()]
