"""Stratified samples and weighted surveys, from policy to folder and reader."""

import io
import json
import re
from fractions import Fraction
from pathlib import Path
from typing import Any, cast

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from msgspec import structs
from scipy import stats

import crowdblend as cb
from crowdblend.cli.main import cli
from crowdblend.errors import DoesNotVerify, InvalidInput
from crowdblend.kinds import plan
from crowdblend.kinds.microdata.facts import MicrodataFacts
from crowdblend.kinds.points.facts import PointsFacts
from crowdblend.kinds.shared.facts import read_facts
from crowdblend.kinds.shared.outputs import CountsOutput
from crowdblend.kinds.table.facts import TableFacts
from crowdblend.kinds.table.plan import TablePlan
from crowdblend.lab.auditing.statistical.subject import hard_sizes
from crowdblend.lab.rehearsal.made_up import make_up_people
from crowdblend.lab.rehearsal.made_up_people import Crowd, people_in_memory, publish_once
from crowdblend.lab.rehearsal.subject import subject_of
from crowdblend.ledger import Ledger
from crowdblend.methods.designs import Biased, Strata, Stratum
from crowdblend.methods.mechanisms.histograms import SuppressedHistogram
from crowdblend.methods.planning.plan import plan as crowds
from crowdblend.reading.verification.consistency import verify_release
from crowdblend.trusted.calculus import Assumption
from crowdblend.trusted.calculus.profiles import profile_of
from crowdblend.trusted.calculus.rules import profiles
from crowdblend.trusted.randomness import ReleaseKey
from tests.cases import for_each
from tests.publishing.test_verification import forged

KEY = bytes(range(32))
RATES = {"north": 0.05, "south": 0.1, "west": 0.5}
REGIONS, AGES = cb.values(*RATES), cb.intervals(0, 100, width=20)
BORN = cb.date(["day", "month", "year"], start="2000-01-01", stop="2010-01-01")
STRATA = cb.Strata("region", RATES)
OF_TABLES = ("below_k", "flag", "show_from")


@pytest.fixture(scope="module")
def people() -> pd.DataFrame:
    chance = np.random.default_rng(5)
    size = 40_000
    return pd.DataFrame(
        {
            "id": np.arange(size),
            "region": chance.choice(list(RATES), size, p=[0.6, 0.3, 0.1]),
            "sex": chance.choice(["F", "M"], size),
            "age": chance.integers(0, 100, size),
            "x": np.round(chance.random(size) * 10, 3),
            "weight": np.round(np.exp(chance.uniform(np.log(11), np.log(95), size)), 2),
        }
    )


def table(sampling: Any = STRATA, **given: Any) -> Any:
    columns = given.pop("columns", {"region": REGIONS, "sex": cb.values("F", "M"), "age": AGES})
    parameters = {"person": "id", "population": "town", "epsilon": 1.0, "delta": 1e-6, **given}
    own = {name: parameters.pop(name) for name in OF_TABLES if name in parameters}
    return cb.Policy(columns=columns, sampling=sampling, publish=cb.Table(**own), **parameters)


def test_every_stratum_has_its_own_k_and_the_folder_says_so(people: pd.DataFrame, tmp_path: Path) -> None:
    done = cb.release(people, table(format="csv"), out=tmp_path / "out", ledger=None)
    shown = pd.read_csv(tmp_path / "out" / "data.csv")
    least = shown.groupby("region")["sampled"].min()
    assert all(least[region] >= k for region, k in (("north", 6), ("south", 8), ("west", 35)))
    rates = shown.region.map(RATES)
    assert np.allclose(shown.estimate, (shown["sampled"] / rates).round(1))
    assert ((shown.low <= shown.estimate) & (shown.estimate <= shown.high)).all()
    verify_release(tmp_path / "out")
    said = {(assumed.assumption, assumed.numbers) for assumed in done.certificate.assumptions()}
    for rate in RATES.values():
        assert (Assumption.STRATUM_AT_RATE, (("rate", rate),)) in said
    facts = read_facts(done.certificate.facts)
    assert isinstance(facts, TableFacts)
    assert isinstance(facts.design, Strata)
    assert facts.design.strata["west"] == Stratum(0.5, 0.5, 0.5)
    assert facts.strata["west"] == SuppressedHistogram(35)
    package = json.loads((tmp_path / "out" / "datapackage.json").read_text())["crowdblend"]
    assert {label: one["rate"] for label, one in package["sampling"]["strata"].items()} == RATES
    readme, page = ((tmp_path / "out" / name).read_text() for name in ("README.md", "report.html"))
    assert "north: 0.05, south: 0.1, west: 0.5" in readme
    assert "Strata of the sample" in page
    rows = [re.sub(r"<[^>]+>", " ", row).split() for row in page.split("<tr>")]
    assert [row[:5] for row in rows if row[:3] == ["west", "50", "%"]] == [["west", "50", "%", "2", "35"]]
    assert "Counts of different strata must not be added or compared" in page


def test_margins_over_strata_add_estimates_and_cover(people: pd.DataFrame, tmp_path: Path) -> None:
    cb.release(people, table(), out=tmp_path / "out", ledger=None)
    read = cb.read(tmp_path / "out")
    for margin in (["sex"], ["region"], []):
        found = read.estimates(margin=margin).to_pandas()
        truth = people.groupby(margin).size() if margin else pd.Series([len(people)])
        # Each of six intervals misses with probability 0.05 at most; all of them are ten times as wide here.
        wide = 10 * (found.high - found.low)
        assert (np.abs(found.estimate.to_numpy() - truth.to_numpy()) < wide.to_numpy()).all()
    whole = read.estimates(margin=[]).to_pandas().iloc[0]
    assert whole.estimate == pytest.approx(read.estimates(margin=["region"]).to_pandas().estimate.sum(), abs=0.5)
    # The ends of three strata hold together when each holds with a third of the probability to fail.
    each = read.estimates(margin=["region"], confidence=1 - 0.05 / 3).to_pandas()
    assert (whole.low, whole.high) == (each.low.sum(), each.high.sum())
    assert whole.low < read.estimates(margin=["region"]).to_pandas().low.sum()


def test_estimates_are_unbiased_over_5000_releases() -> None:
    """Noise below k, so that every cell is shown: the mean estimate of everybody and of one sex is the truth.

    Cells are drawn and noised independently, so one release of 250 copies of the town is 250 releases of it.
    """
    copies = [str(number) for number in range(250)]
    columns = {"region": REGIONS, "sex": cb.values("F", "M"), "copy": cb.values(*copies)}
    policy = table(below_k="noise", person=None, rows_are_people=True, columns=columns)
    sizes = {("north", "F"): 90, ("north", "M"): 40, ("south", "F"): 30, ("south", "M"): 55, ("west", "M"): 21}
    crowds = tuple(Crowd((*values, copy), size) for values, size in sizes.items() for copy in copies)
    engine = people_in_memory(list(columns), crowds)
    planned, rates = plan(policy), np.array(list(RATES.values()))
    found = np.zeros((2, 20, len(copies)))
    for run in range(20):
        (output,) = publish_once(planned, engine, run.to_bytes(32, "big")).outputs
        assert isinstance(output, CountsOutput)
        published = output.published
        region, sex, copy = published.codes.T
        assert len(region) == 3 * 2 * len(copies)
        np.add.at(found[0, run], copy, published.counts / rates[region])
        np.add.at(found[1, run], copy[sex == 0], (published.counts / rates[region])[sex == 0])
    for values, truth in zip(found.reshape(2, 5_000), (sum(sizes.values()), 120), strict=True):
        # False alarm: 1e-6 for each of the two.
        assert stats.ttest_1samp(values, truth).pvalue > 1e-6
        # One rate for all would be far off, so the test can fail.
        assert abs(truth - values.mean()) < 0.03 * truth


@pytest.mark.parametrize("kind", ["microdata", "points"])
def test_rows_and_points_of_strata_verify(kind: str, people: pd.DataFrame, tmp_path: Path) -> None:
    given: dict[str, Any] = {"person": "id", "population": "town", "epsilon": 1.0, "delta": 1e-6, "sampling": STRATA}
    if kind == "microdata":
        columns: Any = {"region": REGIONS, "sex": cb.values("F", "M")}
        policy = cb.Policy(columns=columns, publish=cb.Microdata(), **given)
    else:
        columns = {"region": REGIONS, "x": cb.axis(0, 10, resolution=0.1, width=5)}
        policy = cb.Policy(columns=columns, publish=cb.Points(noise_epsilon=1.0), **given)
    done = cb.release(people, policy, out=tmp_path / "out", ledger=None)
    verify_release(tmp_path / "out")
    sizes = cb.read(tmp_path / "out").data.to_pandas().groupby("region", observed=True).size()
    truth = people.groupby("region").size()
    for region, rate in RATES.items():
        assert stats.binomtest(int(sizes[region]), int(truth[region]), rate).pvalue > 1e-7
    facts = read_facts(done.certificate.facts)
    assert isinstance(facts, MicrodataFacts | PointsFacts)
    ks = [mechanism.k for mechanism in facts.mechanisms]
    assert list(facts.strata) == list(RATES)
    assert ks == sorted(set(ks))


@pytest.fixture(scope="module")
def as_csv(people: pd.DataFrame, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("strata") / "out"
    cb.release(people, table(format="csv"), out=folder, ledger=None)
    return folder


def test_forged_strata_do_not_verify(as_csv: Path, tmp_path: Path) -> None:
    def west(**changed: Any) -> Any:
        return lambda facts: facts["design"]["strata"]["west"].update(changed)

    def k_of_west(k: Any) -> Any:
        return lambda facts: facts["strata"]["west"].update(k=k)

    def lower(text: str) -> str:
        head, *lines = text.splitlines()
        at = next(at for at, line in enumerate(lines) if "west" in line)
        cells = lines[at].split(",")
        count = cells.index(next(cell for cell in cells if cell.isdigit()))
        cells[count : count + 2] = ["20", "40"]
        cells[-2:] = ["30", "60"]
        lines[at] = ",".join(cells)
        return "\n".join([head, *lines]) + "\n"

    def summed(text: str) -> str:
        rows = pd.read_csv(io.StringIO(text)).drop(columns="region")
        return rows.groupby("sex", as_index=False).sum().to_csv(index=False)

    def one_percent_less(text: str) -> str:
        rows = pd.read_csv(io.StringIO(text))
        return rows.assign(estimate=(0.99 * rows.estimate).round(1)).to_csv(index=False)

    cases = {
        "k": (lambda text: text, k_of_west(34)),
        "rate": (lambda text: text, west(rate=0.4)),
        "low": (lambda text: text, west(low=0.4)),
        "rates": (lambda text: text, west(rate=0.4, low=0.4, high=0.4)),
        "cell": (lower, None),
        "estimates": (one_percent_less, None),
        "none": (lambda text: text, lambda facts: facts.__setitem__("strata", None)),
        "without": (lambda text: text, lambda facts: facts.pop("strata")),
        "fewer": (lambda text: text, lambda facts: facts["strata"].pop("west")),
        "no rates": (lambda text: text, lambda facts: facts["design"].__setitem__("strata", {})),
        "one for all": (
            lambda text: text,
            lambda facts: facts.update(mechanism={"mechanism": "suppressed", "k": 35}, strata={}),
        ),
        "text": (lambda text: text, k_of_west("35")),
        "list": (lambda text: text, west(rate=[0.5])),
        "column": (lambda text: text, lambda facts: facts["design"].__setitem__("column", ["region"])),
        "other column": (lambda text: text, lambda facts: facts["design"].__setitem__("column", "sex")),
        "sums over strata": (summed, lambda facts: facts["columns"].pop("region")),
    }
    for name, (edit, facts) in cases.items():
        with pytest.raises(DoesNotVerify):
            verify_release(forged(as_csv, tmp_path / name, edit, facts))


@pytest.mark.parametrize("count", [34, 20, 7])
def test_a_cell_below_the_k_of_its_stratum_is_refused_with_the_right_interval(
    count: int, as_csv: Path, tmp_path: Path
) -> None:
    """Another stratum's k would allow it, and its estimate is its count divided by its rate."""
    laws = cb.read(as_csv).tables["data"].laws
    own = laws.intervals(np.array([count]), None, np.array(["west"], object))

    def lower(text: str) -> str:
        rows = pd.read_csv(io.StringIO(text))
        at = rows.index[rows.region == "west"][0]
        rows.loc[at, ["sampled", "estimate", "low", "high"]] = [count, own.estimate[0], own.low[0], own.high[0]]
        whole = dict.fromkeys(("sampled", "low", "high"), int)
        return rows.astype(whole).to_csv(index=False)

    with pytest.raises(DoesNotVerify, match="below the k of its stratum"):
        verify_release(forged(as_csv, tmp_path / "forged", lower))


def test_classes_that_span_strata_are_sampled_with_bias(people: pd.DataFrame, tmp_path: Path) -> None:
    sampling = cb.Strata("region", {"north": 0.05, "south": 0.1, "west": 0.2})
    policy = table(sampling, columns={"sex": cb.values("F", "M")})
    done = cb.release(people, policy, out=tmp_path / "out", ledger=None)
    verify_release(tmp_path / "out")
    facts = read_facts(done.certificate.facts)
    assert isinstance(facts, TableFacts)
    assert isinstance(facts.design, Biased)
    assert (facts.design.stratum, facts.design.rates) == ("region", sampling.rates)
    assert (facts.parameters["low"], facts.parameters["high"]) == (0.05, 0.2)
    found = cb.read(tmp_path / "out").estimates(margin=["sex"]).to_pandas()
    truth = people.groupby("sex").size().to_numpy()
    assert found.estimate.isna().all()
    assert ((found.low <= truth) & (truth <= found.high)).all()
    assert "which is not published" in (tmp_path / "out" / "README.md").read_text()
    with pytest.raises(InvalidInput, match="'region' is not published"):
        table(sampling, columns={"sex": cb.values("F", "M")}, below_k="noise")


def test_private_weights_bound_the_rates_and_are_checked(people: pd.DataFrame, tmp_path: Path) -> None:
    sampling = cb.Weights("weight", low=0.01, high=0.1)
    policy = table(sampling, columns={"sex": cb.values("F", "M")})
    done = cb.release(people, policy, out=tmp_path / "out", ledger=None)
    verify_release(tmp_path / "out")
    assert Assumption.ASSUMED_RATE in done.certificate.stated
    readme = (tmp_path / "out" / "README.md").read_text()
    assert "The survey has weights, which differ between people. They are not published" in readme
    assert cb.read(tmp_path / "out").estimates(margin=["sex"]).to_pandas().estimate.isna().all()
    for outside in (9.99, 100.01, -3.0, None):
        wrong = people.assign(weight=people.weight.where(people.id != 7, outside))
        with pytest.raises(
            InvalidInput, match="A weight of column 'weight' is blank, no number, or outside"
        ) as refused:
            cb.release(wrong, policy, out=tmp_path / "no", ledger=None)
        assert str(outside) not in str(refused.value)
    for inside in (10.0, 100.0):
        edge = people.assign(weight=people.weight.where(people.id != 7, inside))
        cb.release(edge, policy, out=None, ledger=None)


def test_weight_bands_are_strata_whose_rates_lie_between_two_ends(people: pd.DataFrame, tmp_path: Path) -> None:
    columns = {"weight": cb.breaks(10, 20, 40, 100), "sex": cb.values("F", "M")}
    policy = table(cb.Weights("weight"), columns=columns, below_k="noise")
    first = policy.only.strata.by_label["[10, 20)"]
    assert first.rate == pytest.approx(np.log(2) / 10)
    assert Fraction(first.low) <= Fraction(1, 20) < Fraction(first.low) * (1 + Fraction(1, 10**15))
    assert Fraction(first.high) >= Fraction(1, 10) > Fraction(first.high) * (1 - Fraction(1, 10**15))
    cb.release(people, policy, out=tmp_path / "out", ledger=None)
    verify_release(tmp_path / "out")
    found = cb.read(tmp_path / "out").estimates(margin=["sex"]).to_pandas()
    truth = people.groupby("sex").weight.sum().to_numpy()
    assert (np.abs(found.estimate - truth) < 0.03 * truth).all()
    assert ((found.low < truth) & (truth < found.high)).all()
    assert "middle weight" in (tmp_path / "out" / "README.md").read_text()


def test_rates_come_from_a_file_and_policies_make_the_round_trip(tmp_path: Path) -> None:
    (tmp_path / "rates.csv").write_text("region,rate\nnorth,0.05\nsouth,0.1\nwest,0.5\n")
    in_file = table(cb.Strata("region", str(tmp_path / "rates.csv")))
    assert in_file.only.strata.by_label == table().only.strata.by_label
    for policy in (table(), table(cb.Weights("w", low=0.1, high=0.2)), in_file):
        policy.save(tmp_path / "policy.toml", force=True)
        assert cb.load_policy(tmp_path / "policy.toml") == policy
    assert 'rates = "rates.csv"' in (tmp_path / "policy.toml").read_text()


@for_each(
    ("sampling", "given", "message"),
    [
        ({"rates": {"north": 0.1}}, {}, "no rate for 'south'"),
        ({"rates": {**RATES, "east": 0.1}}, {}, "a rate for 'east', which is no label"),
        ({"rates": {**RATES, "west": 1.0}}, {}, "rates lie above 0 and below 1"),
        (
            {"rates": RATES},
            {"below_k": "noise", "flag": True},
            "sampling=Strata.* and flag=True exclude each other: they are not certified together",
        ),
        (
            {"rates": RATES},
            {"below_k": "noise", "show_from": 3},
            "sampling=Strata.* and show_from exclude each other: they are not certified together",
        ),
        (
            {"rates": RATES},
            {"columns": {"region": REGIONS, "born": BORN}, "recoding": cb.Choosing(epsilon=0.1, using="population")},
            "a choice by everybody needs one rate",
        ),
        ({"weight": "w"}, {}, "Nothing bounds the weights"),
        ({"weight": "age"}, {}, "do not bound the weights from both sides"),
        ({"rates": "nowhere.csv"}, {}, "cannot be read"),
    ],
)
def test_what_does_not_fit_is_refused_with_the_reason(sampling: Any, given: Any, message: str) -> None:
    with pytest.raises(InvalidInput, match=message) as refused:
        table(cb.Weights(sampling["weight"]) if "weight" in sampling else cb.Strata("region", **sampling), **given)
    assert refused.value.remedy
    assert refused.value.code.startswith("policy.")


def test_a_series_of_strata_keeps_to_its_totals_though_people_move(people: pd.DataFrame, tmp_path: Path) -> None:
    one, ten = (cast(TablePlan, plan(table(releases=releases).only)) for releases in (1, 10))
    alone = {"north": 7, "south": 9, "west": 111}
    assert [crowds(rate=rate, epsilon=1.0, delta=1e-6, releases=10).k for rate in RATES.values()] == [*alone.values()]
    series = {label: mechanism.k for label, mechanism in ten.facts().strata.items()}
    # Who moves from stratum to stratum meets the worst of each release, so that no crowd may be smaller than alone.
    assert all(k <= series[label] <= 1.15 * k + 1 for label, k in alone.items())

    def together(planned: Any) -> float:
        once = profile_of(planned.facts().derivations()[1])
        composed = profiles.repeated_releases_compose(once, releases=10)
        return float(profiles.profile_at_epsilon(composed, epsilon=1.0).conclusion.delta)

    assert together(ten) <= 1e-6 < together(one)
    cb.release(people, table(releases=10), out=tmp_path / "out", ledger=None)
    verify_release(tmp_path / "out")
    smaller = structs.replace(ten.facts(), strata=one.facts().strata)
    with pytest.raises(DoesNotVerify, match="guarantee less together"):
        smaller.derivations()


@pytest.mark.filterwarnings("ignore:No ledger at")
def test_the_ledger_adds_stratified_releases_up(people: pd.DataFrame, tmp_path: Path) -> None:
    ledger = tmp_path / "ledger.db"
    for number in range(2):
        cb.release(people, table(), out=tmp_path / str(number), ledger=cb.Ledger(ledger))
    by_profile = Ledger.open(str(ledger)).total("town", 2e-6)
    assert by_profile.epsilon is not None
    # Adding ε up would come to 2; the profiles of both releases come to little more than one of them.
    assert by_profile.epsilon < 1.2


def test_a_dry_run_lists_the_strata_and_the_audit_and_made_up_people_know_them(tmp_path: Path) -> None:
    policy = table(source=str(tmp_path / "people.csv"))
    policy.save(tmp_path / "policy.toml")
    (tmp_path / "people.csv").write_text("id,region,sex,age\n1,north,F,30\n")
    shown = CliRunner().invoke(cli, ["release", str(tmp_path / "policy.toml"), "--dry-run"])
    assert shown.exit_code == 0, shown.output
    assert "west: rate 0.5, k = 35" in shown.output
    sizes = {pair.name: pair.more[0].size for pair in subject_of(policy.only, hard_sizes, name="strata").pairs()}
    assert sizes["stratum west, just a crowd (35)"] == sizes["stratum north, just a crowd of west (35)"] == 35
    spanning = table(cb.Strata("county", {"a": 0.1, "b": 0.2}), columns={"sex": cb.values("F", "M")}).only
    with pytest.raises(InvalidInput, match="one sampling rate"):
        subject_of(spanning, hard_sizes, name="spanning")
    assert set(make_up_people(spanning, 50).column_names) == {"id", "sex", "county"}


def test_every_stratum_has_randomness_of_its_own() -> None:
    first, second = (ReleaseKey(KEY).part(label).source(b"x").bytes(8) for label in (b"stratum 0", b"stratum 1"))
    assert first != second
