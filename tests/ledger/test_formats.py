"""Ledgers of every format, made by the versions that wrote them, open and add up the same for ever."""

from __future__ import annotations

import json
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pandas as pd
import pytest

from crowdblend.errors import DoesNotCompose, DoesNotVerify, InvalidInput
from crowdblend.kinds import plan
from crowdblend.ledger import Ledger, chain
from crowdblend.policies import parse_policy
from crowdblend.publishing.pending import pending_release
from tests.ledger.files import change
from tests.ledger.sources import policy, write
from tests.ledger.spendings import spending

KEPT = Path(__file__).parents[1] / "data" / "ledgers"
FORMATS = sorted(path.stem for path in KEPT.glob("format-*.sqlite"))


@pytest.fixture(params=FORMATS)
def kept(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[Path, dict]:
    path = tmp_path / "ledger.sqlite"
    shutil.copyfile(KEPT / f"{request.param}.sqlite", path)
    expected = json.loads((KEPT / f"{request.param}.json").read_text(encoding="utf-8"))
    return path, {**expected, "format": request.param}


def budgets(ledger: Ledger) -> list[dict]:
    return [{**budget.to_dict(), "assumptions": None} for budget in ledger.budgets()]


def assert_as_expected(ledger: Ledger, expected: dict) -> None:
    assert budgets(ledger) == [{**budget, "assumptions": None} for budget in expected["budgets"]]
    found = [[one.id, one.status, *(getattr(one.spending, name) for name in ("population", "sample", "fresh"))]
             for one in ledger.entries()]  # fmt: skip
    assert found == expected["entries"]
    assert ledger.sealed_key(2).hex() == expected["sealed"]
    ledger.check(expected["hash"])


def test_it_is_read_without_being_changed(kept: tuple[Path, dict]) -> None:
    path, expected = kept
    before = path.read_bytes()
    path.chmod(0o400)
    ledger = Ledger.open(path, make=False)
    assert_as_expected(ledger, expected)
    assert ledger.check() == expected["hash"]
    assert path.read_bytes() == before


def test_the_next_release_brings_it_to_the_present_format(kept: tuple[Path, dict]) -> None:
    path, expected = kept
    ledger = Ledger.open(path)
    ledger.abandon(ledger.begin(spending("new", population="others")))
    expected["entries"].append([len(expected["entries"]) + 1, "abandoned", "others", "new", True])
    assert_as_expected(Ledger.open(path), expected)
    with closing(sqlite3.connect(path)) as connection:
        assert chain.FORMAT in {name for (name,) in connection.execute("SELECT format FROM about")}
    with pytest.raises(DoesNotCompose):
        ledger.begin(ledger.entry(3).spending)


@pytest.mark.parametrize("written", [False, True])
@pytest.mark.parametrize(
    "statement", ["DELETE FROM keys", "UPDATE keys SET key = replace(key, 'f', 'e')"], ids=["deleted", "changed"]
)
def test_its_sealed_keys_are_checked(kept: tuple[Path, dict], statement: str, written: bool) -> None:
    path, _ = kept
    if written:
        Ledger.open(path).begin(spending("new", population="others"))
    change(path, statement)
    with pytest.raises(DoesNotVerify, match="key of release 2"):
        Ledger.open(path).check()


def test_a_later_format_is_refused(kept: tuple[Path, dict]) -> None:
    path, _ = kept
    change(path, "INSERT INTO about VALUES ('crowdblend ledger 99')")
    with pytest.raises(InvalidInput, match="crowdblend ledger 99"):
        Ledger.open(path)


@pytest.mark.parametrize("drawn", ["already_drawn = true", ""])
def test_its_samples_are_known_again(kept: tuple[Path, dict], drawn: str) -> None:
    """Also the first format's, which knew the files and no sketches: the same file, read by another policy."""
    path, _ = kept
    table = pd.read_csv(KEPT / "survey.csv")
    write(table.sample(frac=1, random_state=1), path.with_name("copy.parquet"))
    shutil.copyfile(KEPT / "survey.csv", path.with_name("survey.csv"))
    ledger = Ledger.open(path)
    sources = ["survey.csv"] if "format-1" in str(kept[1]["format"]) else ["survey.csv", "copy.parquet"]
    for source in sources:
        for who in ('person = "id"', "rows_are_people = true"):
            planned = plan(parse_policy(policy(source, who=who, drawn=drawn), path.parent))
            with pytest.raises(DoesNotCompose) as refused:
                pending_release(planned, path.parent / "out", ledger, bytes(32))
            assert refused.value.code == "same-sample"
