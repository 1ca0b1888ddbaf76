"""The ledger from Python: on by default, the same sample known again, nothing released that is not recorded."""

from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pytest
from pyarrow import csv, parquet

import crowdblend as cb
from crowdblend.errors import InvalidInput
from crowdblend.publishing.resuming import resume as resume_in_folder
from crowdblend.trusted.calculus import Assumption
from tests.api.survey import KEY, survey, table
from tests.refusals import refuses

DRAWN = {"sampling": cb.Coins(0.5)}


def test_the_users_own_ledger_is_the_default(own_ledger: Path) -> None:
    with pytest.warns(UserWarning, match="No ledger at"):
        done = cb.release(survey(), table())
    assert done.entry == 1
    assert own_ledger.is_file()
    assert cb.Ledger().budget("residents").releases == (1,)
    assert cb.release(survey(), table()).entry == 2
    assert [entry.status for entry in cb.Ledger().entries()] == ["finished", "finished"]


def test_nothing_is_recorded_only_where_that_is_written(own_ledger: Path) -> None:
    done = cb.release(survey(), table(), ledger=None)
    assert done.entry is None
    assert not own_ledger.exists()
    assert Assumption.SAMPLE_NOT_COMPARED in done.certificate.stated


def test_a_ledger_by_its_name(tmp_path: Path) -> None:
    path = tmp_path / "ledger.db"
    missing = cb.Ledger(path)
    for look in (missing.entries, missing.check, lambda: missing.budget("residents")):
        with refuses("ledger.missing"):
            look()
    assert not path.exists()
    with pytest.warns(UserWarning, match="No ledger at"):
        cb.release(survey(), table(), ledger=str(path))
    assert len(missing.entries()) == 1  # the same value finds it now
    head = cb.Ledger(path).head()
    assert cb.Ledger(path).check(head) == head.hash
    with refuses("ledger.type"):
        cb.release(survey(), table(), ledger=7)  # type: ignore[arg-type]


def holders(folder: Path) -> dict[str, Any]:
    rows = survey()
    parquet.write_table(rows, folder / "rows.parquet")
    csv.write_csv(rows, folder / "rows.csv")
    return {
        "pandas": rows.to_pandas(),
        "polars": pl.from_arrow(rows),
        "reader": rows.to_reader(),
        "shuffled": rows.to_pandas().sample(frac=1, random_state=2).set_index("person_id"),
        "parquet": folder / "rows.parquet",
        "csv": folder / "rows.csv",
    }


@pytest.mark.filterwarnings("ignore:No ledger at")
@pytest.mark.parametrize("people", [{}, {"person": None, "rows_are_people": True}], ids=["persons", "rows"])
def test_one_sample_whoever_holds_it(people: dict[str, Any], tmp_path: Path) -> None:
    policy = table(**DRAWN, **people)
    ledger = cb.Ledger(tmp_path / "ledger.db")
    cb.release(survey(), policy, ledger=ledger)
    for name, held in holders(tmp_path).items():
        if people and name == "shuffled":
            continue  # an index is a column among others where rows are people
        with refuses("same-sample"):
            cb.release(held, policy, ledger=ledger)
    assert len(ledger.entries()) == 1


@pytest.mark.filterwarnings("ignore:No ledger at")
def test_other_people_are_another_sample(tmp_path: Path) -> None:
    frame: pd.DataFrame = survey().to_pandas()
    others = frame.assign(person_id=frame.person_id + 10_000)
    ledger = cb.Ledger(tmp_path / "ledger.db")
    cb.release(frame, table(**DRAWN), ledger=ledger)
    with pytest.warns(UserWarning, match="No id and no row of this table is in that of release 1"):
        assert cb.release(others, table(**DRAWN, population="others"), ledger=ledger).entry == 2


def stopped(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, out: Path | None) -> cb.Ledger:
    """A ledger with a release from a frame that was stopped after it was recorded."""
    ledger = cb.Ledger(tmp_path / "ledger.db")

    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr("crowdblend.kinds.table.plan.TablePlan.publish", stop)
        with pytest.raises(KeyboardInterrupt) as interrupted:
            cb.release(survey(), table(), ledger=ledger, out=out, key=KEY)
    assert f"crowdblend.resume(1, data, policy, ledger='{tmp_path / 'ledger.db'}')" in interrupted.value.__notes__[0]
    assert [entry.status for entry in ledger.entries()] == ["unfinished"]
    return ledger


@pytest.mark.filterwarnings("ignore:No ledger at")
@pytest.mark.parametrize("kept", [True, False], ids=["memory", "folder"])
def test_a_stopped_release_is_resumed_with_the_same_bytes(
    kept: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = None if kept else tmp_path / "out"
    ledger = stopped(monkeypatch, tmp_path, out)
    other: pd.DataFrame = survey().to_pandas()
    other.loc[0, "age"] += 1
    with refuses("other-data"):
        cb.resume(1, other, table(), ledger=ledger)
    done = cb.resume(1, survey().to_pandas(), table(), ledger=ledger)
    assert done.folder == out
    assert done.data == cb.release(survey(), table(), ledger=None, key=KEY).data
    assert [entry.status for entry in ledger.entries()] == ["finished"]


@pytest.mark.filterwarnings("ignore:No ledger at")
def test_the_command_line_says_what_it_cannot_resume(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ledger = stopped(monkeypatch, tmp_path, None)
    with pytest.raises(InvalidInput) as refused:
        resume_in_folder(ledger, 1, table())
    assert refused.value.code == "cannot-resume"
    assert "crowdblend.resume(1, data, policy)" in refused.value.remedy
    cb.resume(1, survey(), table(), ledger=ledger)
    with refuses("cannot-resume"):
        cb.resume(1, survey(), table(), ledger=ledger)


@pytest.mark.filterwarnings("ignore:No ledger at")
def test_a_folder_is_not_resumed_without_the_data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ledger = stopped(monkeypatch, tmp_path, tmp_path / "out")
    with refuses("policy.no-source"):
        resume_in_folder(ledger, 1, table())


def test_keys_and_engines_are_checked_first() -> None:
    for wrong in (b"short", "x" * 32):
        with refuses("key.length"):
            cb.release(survey(), table(), ledger=None, key=wrong)  # type: ignore[arg-type]
    with refuses("engine.unknown"):
        cb.release(survey(), table(), ledger=None, engine="abacus")
