"""A copy under new ids: recognized by its rows although a column was recoded, or said not to have been compared."""

import hashlib
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from crowdblend.errors import DoesNotCompose
from crowdblend.ledger import Ledger
from crowdblend.policies.load import parse_policy
from crowdblend.publishing.release import release
from crowdblend.trusted.calculus import Assumption
from tests.ledger.sources import policy, shuffled, write

ID, PID, ROWS = 'person = "id"', 'person = "pid"', "rows_are_people = true"
NOBODY_SHARED = "No id and no row of this table is in that of release"
NONE, ONE, TWO = ("", ""), ('population = "patients"',) * 2, ('population = "patients"', 'population = "pupils"')
ONE_OF_BOTH = ('population = "patients"', "")
Change = Callable[[pd.DataFrame], pd.DataFrame]


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    return Ledger.create(tmp_path / "ledger.sqlite")


def patients(number: int = 900, seed: int = 1) -> pd.DataFrame:
    """People with incomes unlike all others, and texts, of which no column but `income` tells people apart."""
    chance = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "id": [f"P{one:07d}" for one in chance.permutation(10**6)[:number] + seed * 10**6],
            "sex": chance.choice(["Female", "Male"], number),
            "age": chance.integers(0, 100, number),
            "zip": [f"Zip {one}" for one in chance.integers(0, 50, number)],
            "hiv": chance.random(number) < 0.1,
            "income": np.round(chance.normal(30_000, 9_000, number), 2),
        }
    )


def hashed(table: pd.DataFrame, column: str = "id") -> pd.DataFrame:
    pseudonyms = [hashlib.md5(one.encode(), usedforsecurity=False).hexdigest() for one in table.id]
    return table.drop(columns="id").assign(**{column: pseudonyms})


def capitals(table: pd.DataFrame) -> pd.DataFrame:
    return table.assign(sex=table.sex.str.upper())


def without_ids(table: pd.DataFrame) -> pd.DataFrame:
    return table.drop(columns="id")


EXTRACTS: list[tuple[Change, str, tuple[str, str]]] = [
    *((lambda table: hashed(table)[["id", "zip", "hiv"]], ID, names) for names in (NONE, TWO)),
    (lambda table: hashed(table, "pid")[["pid", "zip", "hiv"]], PID, NONE),
    *((lambda table: hashed(table)[["id", "zip", "hiv"]], ID, names) for names in (ONE, ONE_OF_BOTH)),
]


@pytest.mark.parametrize(("extract", "who", "names"), EXTRACTS)
def test_an_extract_under_new_ids_is_said_not_to_be_compared(
    begin, ledger: Ledger, tmp_path: Path, extract: Change, who: str, names: tuple[str, str]
) -> None:
    write(patients(), tmp_path / "drawn.csv")
    write(extract(patients()), tmp_path / "extract.csv")
    begin("drawn.csv", more=names[0])
    with pytest.warns(UserWarning, match=NOBODY_SHARED):
        begin("extract.csv", who=who, more=names[1])
    assert ledger.entry(2).not_compared == (1,)


COPIES: list[tuple[Change, Change, str, tuple[str, str]]] = [
    *((lambda table: table, lambda table: capitals(hashed(table)), ID, names) for names in (NONE, ONE)),
    (without_ids, lambda table: capitals(without_ids(table)), ROWS, NONE),
    (without_ids, lambda table: without_ids(table).assign(hiv=table.hiv.astype(int)), ROWS, NONE),
    # An extract whose columns tell most people apart, and each other column that is recoded.
    (lambda table: table, lambda table: hashed(table).drop(columns="income"), ID, TWO),
    *(
        (lambda table: table, lambda table, name=name: hashed(table).assign(**{name: "as told"}), ID, NONE)
        for name in ("zip", "hiv", "income")
    ),
]


@pytest.mark.parametrize(("first", "second", "who", "names"), COPIES)
@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_a_copy_of_which_one_column_was_recoded_is_the_same_sample(
    begin, tmp_path: Path, first: Change, second: Change, who: str, names: tuple[str, str], kind: str
) -> None:
    write(first(patients()), tmp_path / "drawn.csv")
    write(shuffled(second(patients())), tmp_path / f"copy.{kind}")
    begin("drawn.csv", who=who, more=names[0])
    with pytest.raises(DoesNotCompose) as refused:
        begin(f"copy.{kind}", who=who, more=names[1])
    assert refused.value.code == "same-sample"


@pytest.mark.parametrize("column", ["sex", "age", "zip"])
def test_columns_that_all_tell_rows_apart_together_are_left_out_in_turn(begin, tmp_path: Path, column: str) -> None:
    """No other columns are left for a second sketch: then each of three may be recoded."""
    chance = np.random.default_rng(4)
    table = pd.DataFrame({name: chance.integers(0, 60, 1000) for name in ("sex", "age", "zip")})
    write(table, tmp_path / "drawn.csv")
    write(shuffled(table.assign(**{column: table[column] // 7})), tmp_path / "copy.csv")
    begin("drawn.csv", who=ROWS)
    with pytest.raises(DoesNotCompose) as refused:
        begin("copy.csv", who=ROWS)
    assert refused.value.code == "same-sample"


def test_a_recoded_copy_does_not_get_round_a_limit(begin, ledger: Ledger, tmp_path: Path) -> None:
    write(patients(), tmp_path / "register.csv")
    copy = hashed(patients())
    write(copy.assign(zip=copy.zip.str.lower()), tmp_path / "copy.csv")
    begin("register.csv", drawn="", more='population = "patients"')
    ledger.limit("patients", epsilon=2.0, delta=1e-5)
    with pytest.raises(DoesNotCompose) as refused:
        begin("copy.csv", drawn="", more='population = "pupils"')
    assert refused.value.code in ("another-population", "limit.overlap")


def test_the_certificate_assumes_it_and_a_shared_person_makes_it_compared(ledger: Ledger, tmp_path: Path) -> None:
    def publish(name: str, table: pd.DataFrame) -> bool:
        write(table, tmp_path / f"{name}.csv")
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            done = release(parse_policy(policy(f"{name}.csv"), tmp_path), tmp_path / name, ledger=ledger)
        stated = Assumption.SAMPLE_NOT_COMPARED in done.certificate.stated
        assert stated == any(NOBODY_SHARED in str(one.message) for one in said)
        return stated

    assert not publish("first", patients())
    assert publish("others", patients(seed=2)[["id", "sex", "age"]])
    some = pd.concat([patients(seed=3).iloc[20:], patients().iloc[:10], patients(seed=2).iloc[:10]])
    assert not publish("both", some[["id", "sex", "age"]])


def test_other_people_with_such_columns_are_others(begin, tmp_path: Path) -> None:
    """Two tables of one form, with other people and a numbering each: published, however they are called."""
    for seed in (1, 2):
        table = without_ids(patients(seed=seed))
        write(table.assign(line=range(len(table)), number=range(10**6, 10**6 + len(table))), tmp_path / f"{seed}.csv")
    begin("1.csv", who=ROWS)
    begin("2.csv", who=ROWS)
