"""The example policies release the real tables, where that data folder lies beside the checkout."""

from pathlib import Path

import pandas as pd
import pytest

from crowdblend.calculus import verify_file
from crowdblend.policies.load import load_policy
from crowdblend.publishing.release import release
from crowdblend.publishing.verification.consistency import verify_release

EXAMPLES = Path(__file__).parents[2] / "examples"
DATA = EXAMPLES.parents[1] / "shared" / "data"


def released(name: str, tmp_path: Path) -> Path:
    if not DATA.is_dir():
        pytest.skip("the folder with the real tables does not lie beside the checkout")
    policy = load_policy(EXAMPLES / f"{name}.toml")
    folder = release(policy, tmp_path / name).folder
    assert folder is not None
    verify_file(folder)
    return folder


def test_adult_with_its_hierarchies(tmp_path: Path) -> None:
    rows = pd.read_parquet(released("adult", tmp_path) / "data.parquet")
    assert len(rows.columns) == 9
    assert rows.groupby(list(rows.columns), observed=True).size().min() >= 8
    assert 1_000 < len(rows) < 3_500


@pytest.mark.slow  # the others of these releases go the same way
def test_census_income_as_two_tables(tmp_path: Path) -> None:
    folder = released("census_income", tmp_path)
    by_age = pd.read_parquet(folder / "income-by-age.parquet")
    work = pd.read_parquet(folder / "work.parquet")
    # One in ten is drawn and the noise is small beside that: both add up to everybody, to within far less than 5 %.
    assert all(abs(table["estimate"].sum() / 299_285 - 1) < 0.05 for table in (by_age, work))
    assert set(by_age["income"]) == {"<=50K", ">50K"}


def test_accidents_as_points(tmp_path: Path) -> None:
    points = pd.read_parquet(released("uk_accidents", tmp_path) / "data.parquet")
    assert list(points.columns) == ["lng", "lat", "estimate", "low", "high"]
    # Folded into blocks inside the bounds; of 140,029 accidents few lie where no town is near.
    assert points["lng"].between(-7.68, 2.56).all()
    assert points["lat"].between(48.9, 61.7).all()
    assert 0.99 * 140_029 < len(points) < 140_029


def test_adult_as_an_outlier_table(tmp_path: Path) -> None:
    table = pd.read_parquet(released("adult-outliers", tmp_path) / "data.parquet")
    assert list(table.columns) == ["education", "marital-status", "count", "estimate", "low", "high"]
    # Ten bins of hundreds and thousands, each off by 5 on average.
    assert abs(table["count"].sum() - 30_162) < 1_000


def test_statistics_of_adult_are_near_the_truth(tmp_path: Path) -> None:
    """Stated errors may be missed in 5 % of releases; three times as much is reached with probability below 1e-6."""
    found = pd.read_parquet(released("adult-statistics", tmp_path) / "data.parquet")
    people = pd.read_csv(DATA / "adult" / "adult.csv", sep=";")
    true = {
        "mean age": people["age"].clip(0, 90).mean(),
        "women with a high salary": ((people["sex"] == "Female") & (people["salary-class"] == ">50K")).mean(),
        "people in their thirties": people["age"].between(30, 39).sum(),
    }
    single = found[found["group"].isna()].set_index("statistic")
    assert set(single.index) == set(true)
    for name, value in true.items():
        assert abs(single.loc[name, "value"] - value) <= 3 * single.loc[name, "error"]
    levels = found[found["statistic"] == "education"]
    assert abs(levels["value"].sum() - len(people)) <= 3 * levels["error"].sum()


@pytest.mark.slow
@pytest.mark.parametrize("name", ["census_weights", "census_survey", "census_survey_rows", "census_statistics"])
def test_other_examples_are_released_and_verified(name: str, tmp_path: Path) -> None:
    assert verify_release(released(name, tmp_path)).uncovered == ()
