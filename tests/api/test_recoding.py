"""`Policy.recode`: every row with the label under which a release counts it."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

import crowdblend as cb
from crowdblend.errors import InvalidInput

COLUMNS = {
    "sex": cb.values("f", "m", other="another", missing="not said"),
    "age": cb.intervals(0, 100, width=10, top=True),
    "born": cb.date("quarter"),
    "code": cb.prefix(2),
}
PEOPLE = 500


def people() -> pd.DataFrame:
    draw = np.random.default_rng(5)
    sex = draw.choice(np.array(["f", "m", "x", None], dtype=object), PEOPLE)
    return pd.DataFrame(
        {
            "id": np.arange(PEOPLE),
            "sex": sex,
            "age": draw.integers(0, 120, PEOPLE),
            "born": pd.to_datetime("2020-01-01") + pd.to_timedelta(draw.integers(0, 700, PEOPLE), unit="D"),
            "code": draw.choice(["1010", "1020", "2030"], PEOPLE),
        },
        index=draw.permutation(PEOPLE) * 3,
    )


def policy(**changes: object) -> cb.Policy:
    given = {"person": "id", "sampling": cb.Everybody(), "epsilon": 1.0, "columns": COLUMNS, "publish": cb.Table("age")}
    return cb.Policy(**{**given, **changes})


def test_every_row_has_its_label_in_its_place() -> None:
    frame = people()
    found = policy().recode(frame)
    assert found.index.equals(frame.index)
    assert list(found.columns) == list(COLUMNS)
    known = {"f": "f", "m": "m", "x": "another"}
    assert found["sex"].tolist() == [known.get(one, "not said") for one in frame["sex"]]
    ages = [f"[{age // 10 * 10}, {age // 10 * 10 + 10})" if age < 100 else "≥ 100" for age in frame["age"]]
    assert found["age"].tolist() == ages
    assert found["age"].cat.ordered
    assert (
        found["born"].tolist() == frame["born"].dt.to_period("Q").map(lambda one: f"{one.year}-Q{one.quarter}").tolist()
    )
    assert found["code"].tolist() == frame["code"].str[:2].tolist()


def test_a_release_counts_the_same_labels() -> None:
    frame = people()
    done = cb.release(frame, policy(epsilon=9.0, publish=cb.Table("age", "sex")), ledger=None).data
    truth = policy().recode(frame).groupby(["age", "sex"], observed=False).size().rename("truth").reset_index()
    both = done.merge(truth, on=["age", "sex"])
    assert len(both) == len(done) == 44
    # Noise of 20 and more at ε = 9 has probability below 1e-20.
    assert (both["estimate"] - both["truth"]).abs().max() < 20


def test_other_frames_and_other_columns() -> None:
    frame = people()
    found = policy().recode(pl.from_pandas(frame[["age"]]))
    assert isinstance(found, pl.DataFrame)
    assert found["age"].to_list() == policy().recode(frame)["age"].tolist()
    assert policy().recode(pl.from_pandas(frame).to_arrow()).column_names == list(COLUMNS)
    with pytest.raises(InvalidInput, match="has none of the columns of the policy"):
        policy().recode(frame[["id"]])
    with pytest.raises(InvalidInput, match="outside its declared domain"):
        policy().recode(frame.assign(age=-1))
    choosing = cb.Choosing(epsilon=0.1, using="population")
    wide = {"age": cb.intervals(0, 120, width=[10, 20])}
    chosen = policy(sampling=cb.Poisson(0.5), delta=1e-6, columns=wide, recoding=choosing)
    with pytest.raises(InvalidInput, match="offers several recodings"):
        chosen.recode(frame)
