"""Many tables under one budget: Laplace or Gaussian noise, by which makes the smaller error, and what is said of it."""

import statistics
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest

import crowdblend as cb
from crowdblend.errors import CrowdblendError
from crowdblend.kinds.programme.shared_budget import gaussian_sigmas, largest_deviation
from crowdblend.lab.demo import town
from crowdblend.methods.mechanisms.everywhere import GaussianEverywhere, NoiseEverywhere
from tests.cases import for_each

COLUMNS = {
    "sex": cb.values("female", "male"),
    "age": cb.intervals(0, 120, width=20),
    "education": cb.values("none", "school", "vocational", "bachelor", "master", "doctorate"),
}
PAIRS = list(combinations(COLUMNS, 2))


def tables(count: int, **keys: Any) -> list[cb.Table]:
    return [cb.Table(*PAIRS[number % 3], name=f"t{number}", **keys) for number in range(count)]


def plan_of(count: int, sampling: Any = None, **terms: Any) -> Any:
    keys = {} if sampling is None else {"below_k": "noise"}
    given = {"epsilon": 1.0, "delta": 1e-6, "split": "budget", "publish": tables(count, **keys), **terms}
    return cb.Policy(person="person_id", sampling=sampling or cb.Everybody(), columns=COLUMNS, **given).plan()


@for_each(
    ("count", "terms", "kind"),
    [
        (3, {}, NoiseEverywhere),
        (18, {}, GaussianEverywhere),
        (18, {"delta": None}, NoiseEverywhere),
        (6, {"releases": 10}, GaussianEverywhere),
        (18, {"sampling": cb.Poisson(0.1)}, GaussianEverywhere),
    ],
    daily=3,
)
def test_the_plan_takes_the_noise_with_the_smaller_error(count: int, terms: Any, kind: type) -> None:
    made = plan_of(count, **terms)
    assert {type(one) for one in made.mechanisms} == {kind}
    said = "\n".join(f"{what}: {how}" for what, how in made.describe())
    assert ("smaller than that of Laplace noise" in said) == (kind is GaussianEverywhere)
    differential = next(one for one in made.derived_guarantees if type(one.conclusion).__name__ == "Differential")
    assert differential.conclusion.epsilon <= 1.0
    assert differential.conclusion.delta <= 1e-6


def test_gaussian_noise_is_close_to_what_a_normal_loss_would_need() -> None:
    """Two in a hundred is what the proof may cost."""
    found = [one.sigma for one in plan_of(18).mechanisms]
    assert 1.0 <= sum(1 / sigma**2 for sigma in found) ** -0.5 * largest_deviation(1.0, 1e-6) <= 1.02


def test_gaussian_noise_that_cannot_be_drawn_is_not_taken() -> None:
    few = {"delta": 1e-6, "rate": 1.0}
    assert gaussian_sigmas([100] * 36, [1.0] * 36, epsilon=1.0, **few) is not None
    assert gaussian_sigmas([100] * 36, [1.0] * 36, epsilon=1e-6, **few) is None
    assert gaussian_sigmas([100] * 36, [1.0] * 36, epsilon=1e4, **few) is None


def test_larger_tables_and_weights_get_less_noise() -> None:
    sigmas = gaussian_sigmas([8] * 30 + [1_000] * 30, [1.0] * 59 + [2.0], epsilon=1.0, delta=1e-6, rate=1.0)
    assert sigmas is not None
    assert [round(sigmas[0] / sigma, 9) for sigma in (sigmas[1], *sigmas[-2:])] == [1.0, 5.0, 10.0]


def test_what_is_gained_is_the_difference_of_the_planned_errors() -> None:
    what, how = plan_of(18).gain or ("", "")
    assert what == "with Gaussian noise"
    assert "smaller than that of Laplace noise" in how
    gain = int(how.split()[3])
    assert 3 <= gain <= 30


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("gaussian") / "out"
    policy = cb.Policy(
        person="person_id", sampling=cb.Everybody(), epsilon=1.0, delta=1e-6, columns=COLUMNS, publish=tables(18)
    )
    cb.release(town(20_000), policy, out=folder, ledger=None, figures=False)
    return folder


def test_it_is_published_verified_and_read(published: Path) -> None:
    cb.verify(published)
    read = cb.read(published)
    one = read.table("t0").to_pandas()
    assert list(one.columns) == ["sex", "age", "count", "estimate", "low", "high"]
    widths = (one["high"] - one["low"]).tolist()
    sigma = next(iter(read.certificate.facts["published"].values()))["facts"]["mechanism"]["sigma"]
    assert statistics.median(widths) == pytest.approx(2 * 1.96 * sigma, rel=0.1)


def test_tables_are_made_to_agree_and_rows_are_made_from_them(published: Path) -> None:
    read = cb.read(published)
    agreed = [read.estimates(table=name, consistent=True).to_pandas() for name in ("t0", "t1", "t2", "t3")]
    sums = [float(one["estimate"].sum()) for one in agreed]
    assert max(sums) - min(sums) < 1e-3 * max(sums)
    made = cb.synthesize(published, rows=2_000)
    assert made.data.num_rows == 2_000
    assert cb.verify(made).differential() == cb.verify(published).differential()


def test_one_of_them_has_no_noise_of_its_own() -> None:
    made = plan_of(18)
    with pytest.raises(CrowdblendError) as refused:
        made.planned[0].alone()
    assert refused.value.code == "policy.publication"
