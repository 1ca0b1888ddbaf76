"""Statistics of a stratified sample and of a weighted survey: estimates, errors, refusals, and what a folder says.

Where a test compares with the truth, the policy's confidence leaves each statistic a chance of 1e-9 to be off by more.
"""

import hashlib
import io
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any, cast

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import crowdblend as cb
from crowdblend.errors import DoesNotVerify, InvalidInput
from crowdblend.kinds import Result
from crowdblend.kinds.shared.facts import read_facts
from crowdblend.kinds.shared.outputs import NumbersOutput
from crowdblend.kinds.statistics.statistic import Statistic
from crowdblend.kinds.statistics.values import values_of
from crowdblend.lab.auditing.statistical.subject import hard_sizes
from crowdblend.lab.rehearsal.made_up_people import Crowd, people_in_memory, publish_once
from crowdblend.lab.rehearsal.subject import subject_of
from crowdblend.methods import designs
from crowdblend.methods.designs import Stratum
from crowdblend.methods.mechanisms.mechanism import SampledClasses
from crowdblend.methods.mechanisms.statistics import count_in_copies
from crowdblend.methods.planning.statistics.strata_totals import own_weights, plan_strata_statistics, weights_of
from crowdblend.publishing.release import release
from crowdblend.reading.release import PublishedRelease
from crowdblend.reading.verification.consistency import check_data, verify_release
from crowdblend.trusted.calculus import Assumption, verify, verify_file
from tests.cases import for_each
from tests.kinds.grouped import group_of
from tests.plans import plan
from tests.publishing.test_verification import forged

RATES = {"north": 0.05, "south": 0.1, "west": 0.5}
STRATA = cb.Strata("region", RATES)
WEIGHTED = cb.Weights("weight")
SURE = 1 - 1e-9
COLUMNS = {
    "region": cb.values(*RATES),
    "sex": cb.values("F", "M"),
    "age": cb.intervals(0, 100, width=20),
    "income": cb.bounds(0, 1000, resolution=1),
    "change": cb.bounds(-50, 50, resolution=1),
}
STATISTICS = (
    Statistic(name="mean", average="income"),
    Statistic(name="women", fraction={"sex": ("F",)}),
    Statistic(name="mean by region", average="income", by=("region",)),
    Statistic(name="median", median="income", by=("sex",)),
    Statistic(name="ages", histogram="age"),
    Statistic(name="age of women by age", average="age", by=("age",), where={"sex": ("F",)}),
    Statistic(name="income", sum="income"),
    Statistic(name="change", sum="change"),
    Statistic(name="people in the west", count={"region": ("west",)}),
)


@pytest.fixture(scope="module")
def people() -> pd.DataFrame:
    chance = np.random.default_rng(5)
    size = 30_000
    return pd.DataFrame(
        {
            "id": np.arange(size),
            "region": chance.choice(list(RATES), size, p=[0.6, 0.3, 0.1]),
            "sex": chance.choice(["F", "M"], size),
            "age": chance.integers(0, 100, size),
            "income": np.round(np.minimum(1000, chance.lognormal(5, 0.6, size))),
            "change": np.round(np.clip(chance.normal(3, 15, size), -50, 50)),
            "weight": np.round(np.exp(chance.uniform(np.log(11), np.log(39), size)), 2),
        }
    )


def policy(sampling: Any = STRATA, **given: Any) -> cb.Policy:
    """A policy of statistics, with the columns that they and the design are about."""
    statistics, columns = given.pop("statistics", STATISTICS), given.pop("columns", COLUMNS)
    own = {"confidence": SURE, **{name: given.pop(name) for name in ("confidence", "group") if name in given}}
    used = {name for one in statistics for name in (one.column, *one.among, *one.groups)}
    used |= {sampling.stratum, sampling.weight}
    return cb.Policy(
        **{"person": "id", "people": 30_000, "epsilon": 4.0, **given},
        sampling=sampling,
        columns={name: domain for name, domain in columns.items() if name in used},
        publish=cb.Statistics(*statistics, **own),
    )


def truth(people: pd.DataFrame) -> dict[tuple[str, str | None], float]:
    ages = pd.cut(people.age, range(0, 101, 20), right=False, labels=[f"[{a}, {a + 20})" for a in range(0, 100, 20)])
    women = people[people.sex == "F"]
    return {
        ("mean", None): people.income.mean(),
        ("women", None): (people.sex == "F").mean(),
        **{("mean by region", name): mean for name, mean in people.groupby("region").income.mean().items()},
        **{("ages", str(name)): float(count) for name, count in ages.value_counts().items()},
        **{
            ("age of women by age", str(name)): mean
            for name, mean in women.age.groupby(ages[women.index], observed=True).mean().items()
        },
        ("income", None): people.income.sum(),
        ("change", None): people.change.sum(),
        ("people in the west", None): float((people.region == "west").sum()),
    }


def assert_near(found: pd.DataFrame, known: dict[tuple[str, str | None], float]) -> None:
    rows = {(row["statistic"], group_of(row)): row for row in found.replace({np.nan: None}).to_dict("records")}
    for place, value in known.items():
        assert abs(rows[place]["value"] - value) <= rows[place]["error"], place


def test_every_number_is_within_its_error_and_the_folder_verifies(people: pd.DataFrame, tmp_path: Path) -> None:
    folder = tmp_path / "out"
    done = cb.release(people, policy(), out=folder, ledger=None)
    verify_release(folder)
    found = pd.read_parquet(folder / "data.parquet")
    assert_near(found, truth(people))
    for row in found[found.statistic == "median"].to_dict("records"):
        group = people[people.sex == row["sex"]].income
        below, upto = (group < row["value"]).mean(), (group <= row["value"]).mean()
        assert below - row["rank_error"] <= 0.5 <= upto + row["rank_error"]
    # The error of a mean depends on how many people there are, which the plan knows.
    planned = values_of(cast("Any", read_facts(done.certificate.facts)), 0).error
    assert planned == pytest.approx(found[found.statistic == "mean"].error.item(), rel=0.1)
    zero_knowledge, one, replaced = (made.conclusion for made in done.certificate.derivations)
    assert one.epsilon <= 4.0 < replaced.epsilon <= 8.0
    assert (zero_knowledge.aggregate.low, zero_knowledge.aggregate.high) == (0.05, 0.5)
    assert zero_knowledge.delta == one.delta == 0
    # All of epsilon is used: nothing is noisier than it has to be.
    assert one.epsilon > 4.0 * (1 - 1e-9)
    assert "stratified sample" in (folder / "report.html").read_text()


def test_the_same_key_gives_the_same_bytes_whatever_the_order_and_format(people: pd.DataFrame, tmp_path: Path) -> None:
    found = []
    for order, ending in ((1, "parquet"), (2, "csv")):
        shuffled, path = people.head(3000).sample(frac=1, random_state=order), tmp_path / f"people.{ending}"
        shuffled.to_parquet(path) if ending == "parquet" else shuffled.to_csv(path, index=False)
        done = release(policy(source=str(path)), tmp_path / f"out-{ending}", key=bytes(32), ledger=None)
        found.append((done.folder / "data.parquet").read_bytes())
    assert found[0] == found[1]


def small_town() -> tuple[Any, Any]:
    """Five crowds in three strata, in memory, with a policy whose people are rows."""
    statistics = (
        Statistic(name="people", count={"sex": ("F", "M")}),
        Statistic(name="income", sum="income"),
        Statistic(name="women", count={"sex": ("F",)}),
    )
    given = policy(person=None, rows_are_people=True, people=400, statistics=statistics)
    sizes = {("north", "F", "10"): 120, ("north", "M", "30"): 60, ("south", "F", "50"): 90, ("west", "M", "900"): 30}
    crowds = tuple(Crowd(values, size) for values, size in sizes.items())
    return plan(given.only), people_in_memory(["region", "sex", "income"], crowds)


def numbers_of(publication: Result) -> Mapping[str, Sequence[Any]]:
    """The columns of what is published."""
    output = publication.outputs[0]
    assert isinstance(output, NumbersOutput)
    return output.values


@pytest.mark.parametrize("releases", [200, pytest.param(5_000, marks=pytest.mark.slow)])
def test_estimates_are_unbiased(releases: int) -> None:
    """The noise is symmetric and clipping at 0 never matters here, so the mean of many releases is the truth."""
    planned, engine = small_town()
    found = np.array(
        [numbers_of(publish_once(planned, engine, number.to_bytes(32, "big")))["value"] for number in range(releases)]
    )
    # A t-test of each column: false alarm 1e-7 each. Weights of one rate for all would be off by a fifth and more.
    for values, true in zip(found.T, (300, 1200 + 1800 + 4500 + 27_000, 210), strict=True):
        assert stats.ttest_1samp(values, true).pvalue > 1e-7


def test_an_estimate_is_no_surer_than_in_its_least_sampled_stratum() -> None:
    weights = weights_of([Stratum(rate, rate, rate) for rate in RATES.values()])
    assert weights.spread == max(weights.of([place]).spread for place in range(3)) == weights.of([0]).spread
    assert weights.spread >= 10 * 0.95


@pytest.mark.slow
def test_stated_errors_are_kept_in_95_of_100_of_2000_runs() -> None:
    planned, engine = small_town()
    planned = plan(planned.policy.replace(confidence=0.95))
    true = np.array([300, 34_500, 210])
    kept = np.zeros(3)
    for number in range(2_000):
        columns = numbers_of(publish_once(planned, engine, number.to_bytes(32, "little")))
        kept += np.abs(np.array(columns["value"]) - true) <= np.array(columns["error"])
    # 2,000 runs that keep their error with probability 0.95 have fewer than 1,850 with probability below 1e-6.
    assert (kept >= 1_850).all()


def counted_high(planned: Any, crowds: tuple[Crowd, ...], releases: int, salt: str) -> int:
    """How often a published count is 20 people or more: the weight of one person of the north."""
    engine = people_in_memory(["region", "sex"], crowds)
    keys = (hashlib.sha256(f"{salt} {number}".encode()).digest() for number in range(releases))
    return sum(numbers_of(publish_once(planned, engine, key))["value"][0] >= 20 for key in keys)


@pytest.mark.slow
@pytest.mark.parametrize("broken", [False, True])
def test_one_person_more_changes_no_probability_beyond_epsilon(broken: bool) -> None:
    """The whole way from rows to numbers, with and without the only woman of the north; keys are fixed.

    If e bounds the ratio, of all hits at most e/(1 + e) are from the releases with her; noise that forgets how often
    she counts has far more. Chance of a false alarm over all keys 1e-7, of missing the broken one below 1e-12.
    """
    women = Statistic(name="women", count={"sex": ("F",)})
    planned = plan(policy(person=None, rows_are_people=True, epsilon=1.0, statistics=(women,)).only)
    if broken:
        way = planned.parameters.way_of(0)
        louder = replace(way, noise_epsilons=(10 * way.noise_epsilons[0],))
        planned = replace(planned, parameters=replace(planned.parameters, ways=(((0,), louder),)))
    others = Crowd(("west", "M"), 3)
    without = counted_high(planned, (others,), 6_000, f"without {broken}")
    more = counted_high(planned, (others, Crowd(("north", "F"), 1)), 6_000, f"with {broken}")
    found = stats.binomtest(more, more + without, np.e / (1 + np.e), alternative="greater").pvalue
    assert (found < 1e-7) == broken


def test_weights_of_a_survey_are_private_and_give_estimates(people: pd.DataFrame, tmp_path: Path) -> None:
    """Everybody counts with their own weight, which is not published; the classes bound it and add no error."""
    columns = {"weight": cb.breaks(10, 14, 20, 28, 40), **COLUMNS}
    statistics = (Statistic(name="women", count={"sex": ("F",)}), Statistic(name="mean", average="income"))
    made = policy(WEIGHTED, columns=columns, statistics=statistics, people=600_000)
    folder = tmp_path / "out"
    done = cb.release(people, made, out=folder, ledger=None)
    verify_release(folder)
    assert Assumption.ASSUMED_RATE in done.certificate.stated
    found = pd.read_parquet(folder / "data.parquet").set_index("statistic")
    women = people[people.sex == "F"].weight.sum()
    assert abs(found.value["women"] / women - 1) < 0.005
    assert abs(found.value["women"] - women) <= found.error["women"] < 0.15 * women
    mean = np.average(people.income, weights=people.weight)
    assert abs(found.value["mean"] - mean) <= found.error["mean"] < 60
    assert str(people.weight.max()) not in (folder / "certificate.json").read_text()
    assert "survey weight in column weight, which is not published" in (folder / "report.html").read_text()


def test_weights_that_are_not_declared_are_one_class(people: pd.DataFrame, tmp_path: Path) -> None:
    women = Statistic(name="women", fraction={"sex": ("F",)})
    made = policy(cb.Weights("weight", low=0.025, high=0.1), statistics=(women,), people=600_000)
    cb.release(people, made, out=tmp_path / "out", ledger=None)
    verify_release(tmp_path / "out")
    found = pd.read_parquet(tmp_path / "out" / "data.parquet").iloc[0]
    share = people[people.sex == "F"].weight.sum() / people.weight.sum()
    assert abs(found.value - share) <= found.error < 0.2


def test_nobody_counts_more_often_than_their_class_of_weights_allows() -> None:
    """What the certificate relies on holds whatever was read: copies beyond those of the stratum are cut."""
    codes = np.array([[0, 10], [0, 99], [1, 7]], np.int32)
    sample = SampledClasses(("weight", "weight"), (("a", "b"), ("0",) * 100), codes, np.array([2, 1, 3]))
    assert count_in_copies(sample, "weight", (20, 30), own=True).counts.tolist() == [20, 20, 21]


@pytest.fixture(scope="module")
def numbers(people: pd.DataFrame, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("numbers") / "out"
    statistics = (
        Statistic(name="mean", average="income", by=("sex",)),
        Statistic(name="share", fraction={"sex": ("F",)}),
        Statistic(name="middle", median="income"),
        Statistic(name="sum", sum="income"),
    )
    cb.release(people, policy(statistics=statistics, format="csv"), out=folder, ledger=None)
    return folder


@for_each(("name", "column"), [("mean", "error"), ("share", "error"), ("middle", "rank_error"), ("sum", "error")])
def test_errors_smaller_than_all_people_could_have_are_refused(
    name: str, column: str, numbers: Path, tmp_path: Path
) -> None:
    """The noisy sizes of groups are not published, but no group has more people than there are."""

    def data(text: str) -> str:
        read = pd.read_csv(io.StringIO(text))
        read.loc[read.statistic == name, column] /= 50
        return read.to_csv(index=False)

    verify_release(forged(numbers, tmp_path / "same", lambda text: text))
    folder = forged(numbers, tmp_path / "forged", data)
    with pytest.raises(DoesNotVerify, match=r"an error that was not planned|its noise does not give"):
        check_data(PublishedRelease(folder, verify_file(folder)))


def test_far_more_people_than_the_policy_says_are_published_with_the_errors_of_those(
    people: pd.DataFrame, tmp_path: Path
) -> None:
    for sampling in (STRATA, cb.Poisson(0.5)):
        given = [one for one in STATISTICS if one.name in ("mean", "women", "median")]
        cb.release(people, policy(sampling, people=20, statistics=given), out=tmp_path / sampling.design, ledger=None)
        verify_release(tmp_path / sampling.design)


def test_the_audit_refuses_strata_of_statistics_too() -> None:
    with pytest.raises(InvalidInput, match="one sampling rate"):
        subject_of(policy().only, hard_sizes, name="strata")


REFUSED: dict[str, tuple[Any, dict[str, Any], str]] = {
    "group": (STRATA, {"group": 3}, "sampling=Strata.* and group exclude each other"),
    "error": (
        STRATA,
        {"statistics": (Statistic(name="x", average="income", error=3.0),)},
        "sampling=Strata.* and error exclude each other",
    ),
    "numbers": (cb.Strata("income", {"a": 0.1}), {}, "no fixed list of labels"),
    "duplicates": (STRATA, {"duplicates": "one"}, "everybody counts once"),
}


@for_each("name", REFUSED)
def test_what_is_not_proved_is_refused_before_any_row_is_read(name: str) -> None:
    sampling, given, message = REFUSED[name]
    with pytest.raises(InvalidInput, match=message) as refused:
        policy(sampling, **given)
    assert refused.value.remedy
    assert refused.value.where


def test_weights_are_exact_where_a_unit_divides_them_and_the_bias_is_counted_elsewhere() -> None:
    exact = weights_of([Stratum(rate, rate, rate) for rate in (0.3, 0.05, 0.2)])
    assert [copies * exact.unit for copies in exact.copies] == [
        1 / one for one in map(Fraction, ("0.3", "0.05", "0.2"))
    ]
    assert exact.share_bias < 1e-9
    odd = weights_of([Stratum(rate, rate, rate) for rate in (0.123457, 0.987653, 0.314159)])
    assert 1 - 1e-3 < odd.bias[0] < odd.bias[1] < 1 + 1e-3
    each = [odd.unit * copies * Fraction(low) for copies, (low, _) in zip(odd.copies, odd.rates, strict=True)]
    assert Fraction(odd.bias[0]) < min(each) <= max(each) < Fraction(odd.bias[1])
    own = own_weights([40, 60, 90], [Stratum(0.02, 1 / 60, 1 / 40), Stratum(0.013, 1 / 90, 1 / 60)])
    assert 1 - 1e-3 < own.bias[0] < own.bias[1] < 1 + 1e-3


def test_the_noise_is_the_least_that_the_worst_stratum_allows() -> None:
    """All of ε is used in the stratum whose people count most; with one rate it is sampling's own amplification."""
    planned = plan(policy(statistics=(Statistic(name="women", count={"sex": ("F",)}),)).only)
    (noise,) = planned.parameters.way_of(0).noise_epsilons
    copies = planned.parameters.way_of(0).weights.copies
    losses = [np.log1p(rate * np.expm1(noise * one)) for rate, one in zip(RATES.values(), copies, strict=True)]
    assert max(losses) == pytest.approx(4.0, rel=1e-9)
    assert losses[0] == max(losses)


def test_the_most_rates_fit_a_certificate_and_more_statistics_are_refused() -> None:
    rates = {str(number): 0.01 + 0.013 * number for number in range(50)}
    given = {"columns": {"sex": COLUMNS["sex"], "r": cb.values(*rates)}}
    sampling = cb.Strata("r", rates)
    some = [Statistic(name=str(number), count={"sex": ("F",)}) for number in range(120)]
    verify(plan(policy(sampling, statistics=some[:1], **given).only).certificate().to_json())
    with pytest.raises(InvalidInput, match="fit one certificate") as refused:
        plan(policy(sampling, statistics=some, **given).only)
    assert (refused.value.code, bool(refused.value.remedy)) == ("plan.steps", True)
    rates["50"] = 0.9
    with pytest.raises(InvalidInput, match="at most 50 different rates"):
        policy(cb.Strata("r", rates), statistics=some[:1], columns={"r": cb.values(*rates), **COLUMNS})


def test_an_empty_group_claims_nothing() -> None:
    made = plan(policy(statistics=(Statistic(name="m", median="income", by=("sex",)), STATISTICS[2])).only)
    way = made.parameters.way_of(0)
    assert way.rank(0, 0) == 1.0
    (north, *_) = made.values(1).of_totals([0, 0] * 3, 0)
    assert (north.value, north.error) == (500.0, pytest.approx(500.0))
    each = {"a": Stratum(1e-9, 1e-9, 1e-9), "b": Stratum(0.5, 0.5, 0.5)}
    rare = designs.Strata("region", each)
    with pytest.raises(InvalidInput, match="does not fit numbers of 64 bits"):
        plan_strata_statistics(rare, weights_of(list(each.values())), way.shapes, 1e-9, 0.05)


def test_nothing_about_the_sample_is_said(people: pd.DataFrame, tmp_path: Path) -> None:
    """The folder says parameters and noisy numbers: neither how many were drawn nor how many a stratum has."""
    folder = tmp_path / "out"
    cb.release(people, policy(statistics=STATISTICS[:1]), out=folder, ledger=None)
    facts = json.loads((folder / "certificate.json").read_text())["facts"]
    assert set(facts["design"]) == {"design", "column", "strata", "already_drawn", "thin"}
    assert set(facts["design"]["strata"]["west"]) == {"rate", "low", "high"}
    text = "".join(path.read_text() for path in folder.iterdir() if path.suffix != ".parquet")
    # Whole numbers that stand alone: a hash or a fraction may hold any digits.
    said = {number.replace(",", "") for number in re.findall(r"(?<![\w.])\d[\d,]*(?![\w.])", text)}
    assert "30000" in said
    assert not said & set(map(str, people.region.value_counts()))


ROW = {"id": 1, "region": "north", "sex": "F", "age": 3, "income": 5, "change": 0, "weight": 12}


@for_each(
    ("given", "edit", "code"),
    [
        ({}, {"region": "east"}, "data.outside-domain"),
        ({}, {"income": 2000}, "data.outside-bounds"),
        ({}, {"income": None}, "data.outside-bounds"),
        ({}, {"id": 1, "region": "west"}, "data.repeated-person"),
        ({"sampling": WEIGHTED}, {"weight": 1.5}, "data.outside-weights"),
        ({"sampling": WEIGHTED}, {"weight": 40}, "data.outside-weights"),
        ({"sampling": WEIGHTED}, {"weight": None}, "data.outside-weights"),
    ],
)
def test_rows_that_do_not_fit_are_refused_with_a_remedy_that_works(given: Any, edit: Any, code: str) -> None:
    """Also where nobody would draw them; the message names a column and never a value."""
    rows = pd.DataFrame([ROW, {**ROW, "id": 2, **edit}])
    made = policy(given.get("sampling", STRATA), columns={**COLUMNS, "weight": cb.breaks(10, 20, 40)})
    with pytest.raises(InvalidInput) as refused:
        cb.release(rows, made, ledger=None)
    assert refused.value.code == code
    assert "2000" not in str(refused.value)
    assert "other" not in str(refused.value.remedy) or code == "data.outside-domain"
