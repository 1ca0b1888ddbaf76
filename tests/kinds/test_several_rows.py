"""Several rows of people in samples: what is kept of them, what noise hides, and what is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import crowdblend as cb
from crowdblend.errors import DoesNotVerify, InvalidInput
from crowdblend.kinds.shared.facts import derive, read_facts, to_json
from crowdblend.methods import designs as cb_designs
from crowdblend.methods.designs.design import differential_of
from crowdblend.policies.publication import Publication
from crowdblend.policies.sampling_section import Sampling
from crowdblend.reading.notes import sentences
from crowdblend.reading.verification.shown_people import ShownPeople, check_people
from tests.cases import for_each

PEOPLE, ROWS = 6_000, 3
STRATA = cb.Strata("region", {"north": 0.2, "south": 0.6})
PUBLISH: dict[str, tuple[Publication, float | None]] = {
    "table": (cb.Table("region", "shop", below_k="threshold"), 1e-6),
    "outliers": (cb.OutlierTable("region", "shop", limit=300), 1e-6),
    "statistics": (cb.Statistics(cb.count({"shop": "a", "region": ["north", "south"]})), None),
    "synopsis": (cb.Synopsis("region", "shop", conjunctions=1), None),
}


def purchases() -> pd.DataFrame:
    """Five purchases of everybody in the north, one of everybody in the south; all of a person in one region."""
    chance = np.random.default_rng(2)
    region = np.where(np.arange(PEOPLE) % 2 == 0, "north", "south")
    bought = np.where(region == "north", 5, 1)
    person = np.repeat(np.arange(PEOPLE), bought)
    shop = chance.choice(["a", "b", "c", "d"], len(person), p=[0.4, 0.3, 0.2, 0.1])
    return pd.DataFrame({"id": person, "region": np.repeat(region, bought), "shop": shop})


def policy(name: str, sampling: Sampling, **changes: Any) -> cb.Policy:
    publish, delta = PUBLISH[name]
    given: dict[str, Any] = {"delta": delta, "person": "id", "people": PEOPLE, "rows_per_person": ROWS}
    columns = {"region": ["north", "south"], "shop": ["a", "b", "c", "d"]}
    return cb.Policy(
        **{**given, "epsilon": 2.0, "columns": columns, "sampling": sampling, "publish": publish, **changes}
    )


@for_each("name", list(PUBLISH))
@for_each("sampling", [cb.Poisson(0.5), STRATA])
def test_noise_hides_all_rows_of_a_person(name: str, sampling: Sampling) -> None:
    """The loss to people is that of as many rows, amplified; facts with half the noise are refused."""
    facts = policy(name, sampling).plan().facts()  # type: ignore[attr-defined]
    differential = differential_of(derive(facts)).conclusion
    assert 1.5 < differential.epsilon <= 2.0
    assert differential.delta <= 1e-6
    (alone,) = facts.mechanisms
    assert alone.claim().conclusion.epsilon * ROWS <= 1.01 * np.log1p(np.expm1(2.0) / 0.2)
    document = to_json(facts)
    noise = next(iter(document["statistics"].values())) if name == "statistics" else document["mechanism"]
    noise["epsilon" if name == "outliers" else "noise_epsilon"] *= 2
    if name in ("table", "statistics"):
        with pytest.raises(DoesNotVerify):
            derive(read_facts(document))
    else:
        assert differential_of(derive(read_facts(document))).conclusion.epsilon > 2


@for_each("sampling", [cb.Poisson(0.5), STRATA, cb.Coins(0.5), cb.Everybody()])
def test_estimates_are_of_the_rows_that_count(sampling: Sampling, tmp_path: Path) -> None:
    """Statistics count at most three rows a person, and stay within their error: missed with a chance below 1e-9."""
    out = tmp_path / "published"
    cb.release(purchases(), policy("statistics", sampling), out=out, ledger=None, figures=False)
    cb.verify(out)
    ((value, low, high),) = cb.read(out).estimates().to_pandas()[["estimate", "low", "high"]].to_numpy()
    kept = 0.4 * (PEOPLE / 2) * (ROWS + 1) * (2 if isinstance(sampling, cb.Coins) else 1)
    # Which rows are of shop a is chance as well, with a deviation of 54.
    assert low - 400 < kept < high + 400
    assert low < value < high
    assert abs(value - kept) < 0.2 * kept


def test_cells_of_a_threshold_table_count_everybody_once(tmp_path: Path) -> None:
    out = tmp_path / "published"
    cb.release(purchases(), policy("table", cb.Poisson(0.5)), out=out, ledger=None, figures=False)
    cells = cb.read(out).estimates().to_pandas().set_index(["region", "shop"])
    south = purchases().query("region == 'south' and shop == 'a'")
    # A deviation of about 37 people; six of them are passed with a probability below 1e-8.
    assert abs(cells.loc[("south", "a"), "estimate"] - len(south)) < 6 * 37
    # In the north nobody counts twice in a class, though most bought twice in shop a.
    assert cells.loc[("north", "a"), "estimate"] < PEOPLE / 2 * 1.1


CROWDS: dict[str, tuple[Publication, Sampling]] = {
    "microdata": (cb.Microdata("region", "shop"), cb.Poisson(0.5)),
    "table": (cb.Table("region", "shop"), STRATA),
    "survey": (cb.Microdata("region", "shop"), cb.Survey(PEOPLE, of=2 * PEOPLE, thin=0.5)),
}


@for_each("name", list(CROWDS))
def test_crowds_throw_a_coin_for_every_row(name: str, tmp_path: Path) -> None:
    """Everybody counts once in at most three classes, by coins of their own; estimates are of these."""
    publish, sampling = CROWDS[name]
    made, out = policy("table", sampling, publish=publish, people=None), tmp_path / "published"
    done = cb.release(purchases(), made, out=out, ledger=None, figures=False)
    cb.verify(out)
    assert differential_of(done.certificate.derivations).conclusion.epsilon <= 2
    assert "at most 3 rows of each person" in " ".join(one.sentence() for one in done.certificate.assumptions()).lower()
    cells = cb.read(out).estimates().to_pandas().set_index(["region", "shop"])
    shops = purchases().query("region == 'north'").drop_duplicates().groupby("id")["shop"].transform("size").to_numpy()
    kept = np.minimum(1, ROWS / shops).sum() * (2 if name == "survey" else 1)
    # Every kept class is one of a binomial number, and of four classes one is left out at random.
    deviation = np.sqrt(kept / (0.25 if name == "survey" else 0.2))
    assert abs(cells.loc["north", "estimate"].sum() - kept) < 6 * deviation
    with pytest.raises(InvalidInput, match="in each of their classes"):
        cb.read(out).estimates(margin="shop")


@for_each("name", list(CROWDS))
def test_classes_of_the_same_people_are_sampled_apart(name: str, tmp_path: Path) -> None:
    """With one coin for all rows of a person their counts were equal, and a difference would be whoever has fewer rows.

    Apart, three counts of 1,200 and more rows at 0.2 and more are all equal with probability below 1e-3 by chance, in
    one region; the key is fixed.
    """
    publish, sampling = CROWDS[name]
    people = np.repeat(np.arange(PEOPLE), ROWS)
    bought = pd.DataFrame(
        {"id": people, "region": np.where(people % 2 == 0, "north", "south"), "shop": ["a", "b", "c"] * PEOPLE}
    )
    made = policy("table", sampling, publish=publish, people=None)
    cb.release(bought, made, out=tmp_path / "out", ledger=None, figures=False, key=bytes(32))
    cells = cb.read(tmp_path / "out").estimates().to_pandas().set_index(["region", "shop"])
    for region in ("north", "south"):
        assert len(set(cells.loc[region, "estimate"].dropna())) > 1


AXIS = {"region": ["north", "south"], "x": cb.axis(0, 10, resolution=1, width=5)}


def test_a_table_of_several_rows_is_not_compared_with_noise_for_one() -> None:
    planned = policy("table", cb.Poisson(0.2), publish=cb.Table("region", "shop"), people=None).plan()
    assert "compared" not in [about for about, _ in planned.describe()]
    once = policy("table", cb.Poisson(0.2), publish=cb.Table("region", "shop"), people=None, rows_per_person=None)
    assert "compared" in [about for about, _ in once.plan().describe()]


@for_each("name", ["survey", "table", "points"], daily=1)
def test_sentences_are_true_of_people_with_several_rows(name: str) -> None:
    """Nobody is told to add estimates up, that nothing is known of the sample, or a k for people with one row."""
    publish, sampling = CROWDS.get(name, (cb.Points("region", "x", noise_epsilon=1.0), CROWDS["survey"][1]))
    given = {"columns": AXIS} if name == "points" else {}
    planned = policy("table", sampling, publish=publish, people=None, **given).plan()
    facts = planned.facts()  # type: ignore[attr-defined]
    lines = " ".join(sentences(facts, facts.tables["data"]))
    assert "at most 3 random" in lines
    assert "in none of the numbers" in lines
    assert "half are left out, of one with 30 nine in ten" in lines
    assert not {part for part in ("--margin", "does not say how", "right on average") if part in lines}
    assert "compared" not in [about for about, _ in planned.describe()]


@for_each("change", [{"rows_per_person": 9}, {"design": {"design": "coins", "rate": 0.5}}])
def test_facts_of_more_rows_or_of_one_coin_are_refused(change: dict[str, Any]) -> None:
    publish, sampling = CROWDS["microdata"]
    facts = to_json(policy("table", sampling, publish=publish, people=None).plan().facts())  # type: ignore[attr-defined]
    derive(read_facts(facts))
    with pytest.raises(DoesNotVerify):
        derive(read_facts({**facts, **change}))


def test_a_survey_of_more_people_than_stated_is_refused_by_those_whom_a_coin_kept() -> None:
    made = policy("table", cb.Survey(PEOPLE * 3 // 4, of=2 * PEOPLE, thin=0.5), people=None)
    with pytest.raises(InvalidInput, match="more people than that"):
        cb.release(purchases(), made, ledger=None, figures=False)


def test_no_class_has_more_people_than_the_survey() -> None:
    """People may be in three classes, and are in none of them twice."""
    publish, sampling = CROWDS["survey"]
    facts = policy("table", sampling, publish=publish, people=None).plan().facts()  # type: ignore[attr-defined]
    law, design = facts.tables["data"].shown_by[0], cb_designs.ThinnedSurvey(1.0, PEOPLE, 2 * PEOPLE)

    def check(*counts: int) -> None:
        check_people([[ShownPeople(law, design, np.array(counts), each=ROWS)]])

    check(*[PEOPLE] * ROWS)
    for counts in ((*[PEOPLE] * ROWS, 1), (PEOPLE + 1,)):
        with pytest.raises(DoesNotVerify, match="more people than its survey"):
            check(*counts)


def test_a_survey_that_is_drawn_here_counts_one_row() -> None:
    with pytest.raises(InvalidInput, match="fixed number"):
        policy("statistics", cb.Survey(100, of=PEOPLE), people=None).plan()
