"""Which rows of people with several a release leaves out: what can be, for everybody, and what was, for the steward."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import crowdblend as cb
from crowdblend.policies.publication import Publication
from crowdblend.policies.sampling_section import Sampling
from tests.cases import for_each
from tests.commands import crowdblend

# One of 50 people has 160 visits, and the others four.
VISITS = pd.DataFrame({"id": np.repeat(np.arange(1_000), np.where(np.arange(1_000) % 50 == 0, 160, 4))})
VISITS["shop"] = [f"s{at % 4}" for at in range(len(VISITS))]
LEFT_OUT = 20 * 158 + 980 * 2
TOLD = "of a person with 4 {rows} half are left out, with 20 nine in ten"
KINDS: list[tuple[Publication, Sampling, dict[str, Any], int | None]] = [
    (cb.Table("shop"), cb.Everybody(), {}, LEFT_OUT),
    (cb.Table("shop", count="people"), cb.Everybody(), {}, None),
    (cb.Table("shop", below_k="threshold"), cb.Everybody(), {"delta": 1e-6}, None),
    (cb.Table("shop"), cb.Poisson(0.5), {"delta": 1e-6}, None),
    (cb.Microdata("shop"), cb.Poisson(0.5), {"delta": 1e-6}, None),
    (cb.OutlierTable("shop", limit=300), cb.Poisson(0.5), {"delta": 1e-6}, None),
    (cb.Statistics(cb.count({"shop": "s0"})), cb.Everybody(), {"people": 1_000}, LEFT_OUT),
    (cb.Synopsis("shop", conjunctions=1), cb.Everybody(), {"people": 1_000}, LEFT_OUT),
]


@for_each(("publication", "sampling", "more", "dropped"), KINDS)
def test_plan_and_folder_say_what_may_be_left_out_and_the_steward_learns_what_was(
    publication: Publication, sampling: Sampling, more: dict[str, Any], dropped: int | None, tmp_path: Path
) -> None:
    """The policy says it, and nothing of the data: of two persons' rows the sentences are the same."""
    source = tmp_path / "visits.parquet"
    VISITS.to_parquet(source)
    policy = cb.Policy(
        **{"person": "id", "rows_per_person": 2, "sampling": sampling, "epsilon": 2.0, **more},
        columns={"shop": ["s0", "s1", "s2", "s3"]},
        publish=publication,
        source=str(source),
    )
    policy.save(tmp_path / "policy.toml")
    by_class = dropped is None
    said = TOLD.format(rows="classes" if by_class else "rows")
    assert any(what == "would count" and said in how for what, how in policy.plan().describe())  # type: ignore[attr-defined]
    assert said in crowdblend("release", tmp_path / "policy.toml", "--dry-run").stdout
    ledger = tmp_path / "ledger.db"
    crowdblend("ledger", "init", ledger)
    done = crowdblend(
        "release", tmp_path / "policy.toml", "--yes", "--no-figures", "--out", tmp_path / "out", "--ledger", ledger
    )
    assert said in done.stdout
    assert "rows_dropped" not in done.stdout
    for page in ("README.md", "report.html"):
        text = (tmp_path / "out" / page).read_text(encoding="utf-8")
        assert "half are left out, of one with 20 nine in ten; how many that is in all is not published" in text
    shown = crowdblend("ledger", "show", "1", "--internal", "--ledger", ledger).stdout
    assert " were dropped: of people with several rows" in shown
    if dropped is not None:
        assert f"{dropped:,} rows of {len(VISITS):,} (71.9 %) were dropped" in shown


@pytest.mark.filterwarnings("ignore:No ledger at")
def test_one_row_of_each_is_said_as_well_for_every_publication(tmp_path: Path) -> None:
    tables = [cb.Table("shop", name=name, below_k="threshold") for name in ("one", "other")]
    policy = cb.Policy(
        **{"person": "id", "duplicates": "one", "sampling": cb.Everybody(), "epsilon": 2.0, "delta": 1e-6},
        columns={"shop": ["s0", "s1", "s2", "s3"]},
        publish=tables,
        split="budget",
    )
    ledger = cb.Ledger(tmp_path / "ledger.db")
    assert (
        "would count",
        "one random row of each person; of a person with 2 rows half are left out, with 10 nine in ten",
    ) in (
        policy.plan().describe()  # type: ignore[attr-defined]
    )
    cb.release(VISITS, policy, out=tmp_path / "out", ledger=ledger, figures=False)
    (entry,) = ledger.entries()
    assert {said.partition(" were")[0] for said in entry.steward_sentences()} == {
        f"{name}: {len(VISITS) - 1_000:,} rows of {len(VISITS):,} (86 %)" for name in ("one", "other")
    }


ONE_OF_EACH: list[tuple[Publication, dict[str, Any]]] = [
    (cb.Table("shop"), {"sampling": cb.Everybody()}),
    (cb.Microdata("shop"), {"sampling": cb.Poisson(0.5), "delta": 1e-6}),
    (cb.OutlierTable("shop", limit=300), {"sampling": cb.Everybody(), "delta": 1e-6}),
]


@for_each(("publication", "terms"), ONE_OF_EACH)
def test_a_folder_says_that_one_row_of_each_person_counts(
    publication: Publication, terms: dict[str, Any], tmp_path: Path
) -> None:
    columns = {"shop": ["s0", "s1", "s2", "s3"]}
    policy = cb.Policy(person="id", duplicates="one", epsilon=2.0, columns=columns, publish=publication, **terms)
    cb.release(VISITS, policy, out=tmp_path / "out", ledger=None, figures=False)
    cb.verify(tmp_path / "out")
    for page in ("README.md", "report.html"):
        assert "one random row counts, and the others are in none" in (tmp_path / "out" / page).read_text(
            encoding="utf-8"
        )


def test_a_check_says_what_would_be_left_out() -> None:
    policy = cb.Policy(
        **{"person": "id", "rows_per_person": 2, "sampling": cb.Everybody(), "epsilon": 2.0},
        columns={"shop": ["s0", "s1", "s2", "s3"]},
        publish=cb.Table("shop"),
    )
    found = cb.check(VISITS, policy)
    assert found.person.left_out == LEFT_OUT
    assert f"at most {LEFT_OUT:,} rows (71.9 %) left out of all numbers" in found.describe()
    assert f"{LEFT_OUT}" not in repr(found)
