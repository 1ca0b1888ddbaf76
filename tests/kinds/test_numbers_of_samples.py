"""Numbers of a fixed number of people, or of everybody, are those that some whole noisy total gives, and no others."""

from __future__ import annotations

import hashlib
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import crowdblend as cb
from crowdblend.errors import DoesNotVerify
from crowdblend.kinds.shared.facts import derive, read_facts
from crowdblend.kinds.statistics.facts import StatisticsFacts
from crowdblend.kinds.statistics.values import SampleValues, values_of
from crowdblend.policies.sampling_section import Sampling
from crowdblend.reading.verification.consistency import verify_release
from crowdblend.trusted.calculus import Certificate, verify
from crowdblend.trusted.calculus.encoding import read_text
from tests.cases import for_each

ASKED, ALL = 4_000, 12_000
COLUMNS = {
    "sex": cb.values("f", "m"),
    "region": cb.values("a", "b", "c"),
    "income": cb.bounds(0, 5_000, resolution=10, outside="clamp"),
    "balance": cb.bounds(-0.7, 1.1, resolution=0.1, outside="clamp"),
}
NUMBERS = (
    cb.count({"sex": "f"}, name="women"),
    cb.fraction({"sex": "m"}, name="men"),
    cb.histogram("region", name="regions"),
    cb.total("income", name="incomes"),
    cb.total("income", by="region", name="incomes by region"),
    cb.total("balance", name="balances"),
    cb.average("balance", name="balance"),
    cb.average("income", by="region", name="income by region"),
    cb.median("income", name="median income"),
)
SAMPLES: dict[str, tuple[Sampling, int]] = {
    "drawn here": (cb.Survey(ASKED, of=ALL), ALL),
    "drawn before": (cb.Survey(ASKED, of=ALL, thin=1), ASKED),
}


def publish(name: str, seed: int, folder: Path) -> Path:
    """Statistics of a survey, of incomes of which some are at a bound."""
    sampling, rows = SAMPLES[name]
    chance = np.random.default_rng(seed)
    table = pd.DataFrame(
        {
            "id": range(rows),
            "sex": chance.choice(["f", "m"], rows),
            "region": chance.choice(["a", "b"], rows, p=[0.9, 0.1]),
            "income": chance.integers(-100, 700, rows) * 10,
            "balance": chance.integers(-7, 12, rows) / 10,
        }
    )
    made = cb.Policy(
        **{"person": "id", "people": ALL, "sampling": sampling, "columns": COLUMNS, "epsilon": 3.0},
        publish=cb.Statistics(*NUMBERS),
    )
    cb.release(table, made, out=folder / f"{name}-{seed}", ledger=None, figures=False)
    return folder / f"{name}-{seed}"


def stated(facts: Any, asked: int) -> Any:
    """Facts in which the survey asked another number of people."""
    if not isinstance(facts, dict):
        return facts
    found = {name: stated(value, asked) for name, value in facts.items()}
    if facts.get("design") == "survey":
        found["people"] = asked
    return found | ({"samples": asked} if "samples" in facts else {})


def forge(folder: Path, asked: int, out: Path) -> Path:
    """The same numbers under a certificate that follows from facts with another number of people, with its errors."""
    made = verify(read_text(folder / "certificate.json"))
    facts = stated({**made.facts, "files": {}}, asked)
    found = read_facts(facts)
    assert isinstance(found, StatisticsFacts)
    table = pq.read_table(folder / "data.parquet")
    errors = {"error": table.column("error").to_pylist(), "rank_error": table.column("rank_error").to_pylist()}
    for row, name in enumerate(table.column("statistic").to_pylist()):
        place = [one.name for one in found.statistics].index(name)
        column = "rank_error" if found.statistics[place].is_quantile else "error"
        values = values_of(found, place)
        errors[column][row] = min(values.error, 1) if column == "rank_error" else values.error
    for name, column in errors.items():
        table = table.set_column(table.column_names.index(name), name, pa.array(column, pa.float64()))
    out.mkdir(parents=True)
    pq.write_table(table, out / "data.parquet")
    facts["files"] = {"data.parquet": hashlib.sha256((out / "data.parquet").read_bytes()).hexdigest()}
    forged = Certificate(derive(read_facts(facts)), made.stated, facts)
    (out / "certificate.json").write_text(forged.to_json(), encoding="utf-8")
    return out


@for_each("name", SAMPLES)
def test_numbers_of_another_number_of_people_are_refused(name: str, tmp_path: Path) -> None:
    """Fifteen numbers would all have to fit, each of them with a probability of at most a half."""
    honest = publish(name, 1, tmp_path)
    verify_release(honest)
    verify_release(forge(honest, ASKED, tmp_path / "as it is"))
    for asked in (40, 399, 1_000, 2_000, 3_999):
        with pytest.raises(DoesNotVerify, match="numbers that its grid"):
            verify_release(forge(honest, asked, tmp_path / f"forged {asked}"))


@pytest.mark.slow
def test_every_honest_number_is_one_of_a_total(tmp_path: Path) -> None:
    for seed in range(20):
        for name in SAMPLES:
            verify_release(publish(name, seed, tmp_path))


def test_every_total_is_found_again_from_its_number(tmp_path: Path) -> None:
    """Also where it is beyond what is possible, and moved there; the next double is none of a total."""
    facts = read_facts(verify(read_text(publish("drawn here", 1, tmp_path) / "certificate.json")).facts)
    assert isinstance(facts, StatisticsFacts)
    for place, made in enumerate(facts.statistics):
        values = values_of(facts, place)
        assert isinstance(values, SampleValues)
        if made.is_quantile or made.name == "income by region":
            assert values.has_total(0.123)
            continue
        for total in (-5, 0, 1, 3, 1_234, 1_235, ASKED - 1, ASKED, 400_001, 10**7):
            value = values.value(Fraction(total, ASKED))
            assert values.has_total(value)
            assert not values.has_total(value * (1 + 1e-9) + 1e-9)
