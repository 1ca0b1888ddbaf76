"""One sample is released once, whatever policy, person column, order, format or folder reads it."""

import io
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from decimal import Decimal
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import parquet

from crowdblend.errors import DoesNotCompose, Refused
from crowdblend.ledger import Ledger
from crowdblend.policies.load import parse_policy
from crowdblend.publishing.finished_release import Release
from crowdblend.publishing.release import release
from crowdblend.trusted.calculus import Assumption
from tests.ledger.sources import DRAWN, people, policy, shuffled, write

ROWS = "rows_are_people = true"
SSN = 'person = "ssn"'
HERE = 'population = "here"'


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    return Ledger.create(tmp_path / "ledger.sqlite")


@pytest.fixture
def publish(ledger: Ledger, tmp_path: Path) -> Callable[..., Release]:
    """A whole release."""

    def run(source: str, **named) -> Release:
        parsed = parse_policy(policy(source, **named), tmp_path)
        return release(parsed, tmp_path / f"out-{len(ledger.entries())}", ledger=ledger)

    return run


@contextmanager
def refused(code: str = "same-sample") -> Iterator[None]:
    with pytest.raises(DoesNotCompose) as found:
        yield
    assert found.value.code == code


@pytest.mark.parametrize("first", ['person = "id"', SSN, ROWS])
def test_another_person_column_is_the_same_sample(begin, tmp_path: Path, first: str) -> None:
    write(people(), tmp_path / "drawn.parquet")
    begin("drawn.parquet", who=first)
    for second in ('person = "id"', SSN, ROWS):
        with refused():
            begin("drawn.parquet", who=second)


COPIES = {
    "csv": lambda table, folder: write(shuffled(table), folder / "copy.csv").name,
    "parquet": lambda table, folder: write(shuffled(table), folder / "copy.parquet").name,
    "columns": lambda table, folder: write(shuffled(table)[sorted(table, reverse=True)], folder / "copy.parquet").name,
    "folder": lambda table, folder: _in_parts(shuffled(table), folder),
    "one less": lambda table, folder: write(shuffled(table).iloc[1:], folder / "copy.csv").name,
    "a twentieth less": lambda table, folder: write(shuffled(table).iloc[len(table) // 20 :], folder / "copy.csv").name,
    "as texts": lambda table, folder: write(shuffled(table).astype({"id": str}), folder / "copy.parquet").name,
    "as floats": lambda table, folder: write(shuffled(table).astype({"id": float}), folder / "copy.parquet").name,
}


def _in_parts(table: pd.DataFrame, folder: Path) -> str:
    for part, start in enumerate(range(0, len(table), 200)):
        write(table.iloc[start : start + 200], folder / "copy" / f"deep-{part % 2}" / f"part-{part}.parquet")
    return "copy"


SOME = ("csv", "folder", "a twentieth less")


@pytest.mark.parametrize(
    ("first", "second", "copies"), [(DRAWN, DRAWN, tuple(COPIES)), (DRAWN, "", SOME), ("", DRAWN, SOME)]
)
@pytest.mark.parametrize("who", ['person = "id"', ROWS])
def test_a_copy_is_the_same_sample(
    begin, tmp_path: Path, who: str, first: str, second: str, copies: tuple[str, ...]
) -> None:
    """Every copy with both tables drawn already, and some where one of them is drawn from."""
    write(people(), tmp_path / "drawn.parquet")
    begin("drawn.parquet", who=who, drawn=first)
    for copy in copies:
        again = COPIES[copy](people(), tmp_path)
        with refused():
            begin(again, who=who, drawn=second, more='format = "parquet"' if again == "copy" else "")


@pytest.mark.parametrize("length", [17, 19, 25])
def test_long_ids_are_the_same_people_in_every_type(begin, tmp_path: Path, length: int) -> None:
    """Of the first table nothing but the ids is in the second, as decimals, which Oracle exports every number as."""
    ids = [10 ** (length - 1) + 7919 * at for at in range(600)]
    write(people().assign(id=[str(one) for one in ids]), tmp_path / "drawn.csv")
    begin("drawn.csv", more=HERE)
    others = people(seed=2).assign(id=[Decimal(one) for one in ids])
    for kind in (pa.decimal128(38, 0), pa.decimal128(length, 0), pa.decimal128(length + 2, 2)):
        table = pa.Table.from_pandas(others[["id", "sex", "age"]], preserve_index=False)
        parquet.write_table(table.set_column(0, "id", table["id"].cast(kind)), tmp_path / "copy.parquet")
        with refused():
            begin("copy.parquet", more=HERE)


def test_the_second_release_does_not_appear(publish, tmp_path: Path) -> None:
    write(people(), tmp_path / "drawn.parquet")
    write(shuffled(people()), tmp_path / "copy.csv")
    publish("drawn.parquet")
    with refused():
        publish("copy.csv", who=SSN)
    assert not (tmp_path / "out-1").exists()
    assert len(Ledger.open(tmp_path / "ledger.sqlite").entries()) == 1


def test_a_row_that_is_written_twice_makes_no_other_sample(publish, tmp_path: Path) -> None:
    table = people()
    write(table, tmp_path / "drawn.csv")
    write(pd.concat([table, table.iloc[:1]]), tmp_path / "again.csv")
    publish("drawn.csv")
    with refused():
        publish("again.csv", more='duplicates = "one"')


@pytest.mark.parametrize("who", ['person = "id"', ROWS])
def test_a_file_that_is_not_read_makes_no_other_sample(begin, tmp_path: Path, who: str) -> None:
    _in_parts(people(), tmp_path)
    begin("copy", who=who, more='format = "parquet"')
    for stray in ("notes.md", "_SUCCESS", ".hidden.parquet", "_tmp/part.parquet"):
        (tmp_path / "copy" / stray).parent.mkdir(exist_ok=True)
        (tmp_path / "copy" / stray).write_text("not read")
        with refused():
            begin("copy", who=who, more='format = "parquet"')
        (tmp_path / "copy" / stray).unlink()


def test_independent_samples_are_not_taken_for_one(begin, tmp_path: Path) -> None:
    """Two samples at rate 0.5 have a third of their people in common. False alarms: 2e-9 by the theorem in overlap."""
    table, chance = people(8_000), np.random.default_rng(5)
    for name in ("one", "two"):
        write(table[chance.random(len(table)) < 0.5], tmp_path / f"{name}.parquet")
    write(table, tmp_path / "register.parquet")
    begin("one.parquet", rate=0.5, more='population = "residents"')
    begin("two.parquet", rate=0.5, more='population = "residents"')
    begin("register.parquet", rate=0.5, drawn="", more='population = "residents"')


def test_an_understated_rate_is_refused(begin, tmp_path: Path) -> None:
    table, chance = people(8_000), np.random.default_rng(5)
    for name in ("one", "two"):
        write(table[chance.random(len(table)) < 0.5], tmp_path / f"{name}.parquet")
    begin("one.parquet", rate=0.1)
    with refused():
        begin("two.parquet", rate=0.1)


def test_a_table_that_holds_a_published_sample_beside_others_is_not_drawn_from(begin, tmp_path: Path) -> None:
    """A register of the whole population would hold ten times as many as were sampled at a rate of 0.1."""
    table = people(2_000)
    write(table[:1_000], tmp_path / "drawn.parquet")
    write(table, tmp_path / "more.parquet")
    begin("drawn.parquet", rate=0.1)
    with refused():
        begin("more.parquet", drawn="", rate=0.1)


def test_every_earlier_entry_is_compared(begin, tmp_path: Path) -> None:
    for seed in (1, 2, 3):
        write(people(seed=seed), tmp_path / f"{seed}.csv")
        begin(f"{seed}.csv")
    for seed in (1, 2, 3):
        write(shuffled(people(seed=seed)), tmp_path / f"copy-{seed}.csv")
        with refused():
            begin(f"copy-{seed}.csv")


def test_the_exact_content_is_all_of_the_content(tmp_path: Path) -> None:
    """Not the first block, the size or the ends of a file."""
    from crowdblend.policies.source import DataSource
    from crowdblend.sources.engines.identity import source_name

    data, names = DataSource(str(tmp_path / "x.csv"), "csv", rows_are_people=True), []
    for place in (None, 0, 150_000, 299_999):
        content = bytearray(300_000)
        if place is not None:
            content[place] = 1
        (tmp_path / "x.csv").write_bytes(content)
        names.append(source_name(data, bytes(32)))
    assert len(set(names)) == 4
    assert names[0] != source_name(data, bytes(31) + b"1")


def test_outputs_in_the_folder_of_the_data_are_no_data(tmp_path: Path) -> None:
    ledger = Ledger.create(tmp_path / "ledger.sqlite")
    write(people(), tmp_path / "data" / "people.parquet")
    text = policy("data", drawn="", more='format = "parquet"')
    for number in range(3):
        done = release(parse_policy(text, tmp_path), tmp_path / "data" / f"out-{number}", ledger=ledger)
        assert done.certificate.facts
    (budget,) = ledger.budgets()
    assert budget.releases == (1, 2, 3)
    assert budget.differential.epsilon == pytest.approx(3.0)


def test_an_unnamed_population_is_that_of_an_earlier_release(begin, tmp_path: Path) -> None:
    table = people()
    write(table, tmp_path / "register.csv")
    write(shuffled(table).iloc[15:], tmp_path / "later.parquet")
    begin("register.csv", drawn="", more='population = "residents"')
    begin("later.parquet", drawn="")
    begin("register.csv", drawn="", who=ROWS)
    (budget,) = Ledger.open(tmp_path / "ledger.sqlite").budgets()
    assert (budget.population, budget.releases) == ("residents", (1, 2, 3))


def test_another_name_for_the_same_people_is_refused(begin, tmp_path: Path) -> None:
    table = people()
    write(table, tmp_path / "register.csv")
    write(shuffled(table).iloc[15:], tmp_path / "later.parquet")
    begin("register.csv", drawn="", more='population = "residents"')
    with refused("another-population"):
        begin("later.parquet", drawn="", more='population = "inhabitants"')
    write(people(seed=2), tmp_path / "others.csv")
    begin("others.csv", drawn="", more='population = "inhabitants"')


@pytest.mark.parametrize("own", ["one", "two"])
def test_people_who_are_nearly_those_of_two_populations_are_of_one_of_them(begin, tmp_path: Path, own: str) -> None:
    """Whichever was released first; that some are in the other one as well is said."""
    table = people(1_100)
    for name, start in (("one", 0), ("two", 100), ("both", 50)):
        write(table[start : start + 1_000], tmp_path / f"{name}.parquet")
    said = pytest.warns(UserWarning, match="Some of these people are also in the population")
    begin("one.parquet", drawn="", more='population = "one"')
    with said:
        begin("two.parquet", drawn="", more='population = "two"')
    with said:
        begin("both.parquet", drawn="", more=f'population = "{own}"')
    with refused("another-population"):
        begin("both.parquet", drawn="", more='population = "three"')


def test_what_cannot_be_compared_is_said_and_certified(publish, tmp_path: Path) -> None:
    """A table of other columns without persons has nothing in common with a table of persons, whoever they are."""
    table = people()
    write(table, tmp_path / "drawn.csv")
    write(table[["sex", "age"]], tmp_path / "bare.csv")
    certified = publish("drawn.csv").certificate
    assert Assumption.SAMPLE_NOT_COMPARED not in certified.stated
    with pytest.warns(UserWarning, match="No id and no row of this table is in that of release 1"):
        certified = publish("bare.csv", who=ROWS).certificate
    assert Assumption.SAMPLE_NOT_COMPARED in certified.stated
    assert Ledger.open(tmp_path / "ledger.sqlite").entry(2).not_compared == (1,)


@pytest.mark.parametrize(("who", "name"), [('person = "id"', ""), (ROWS, 'population = "patients"')])
def test_people_of_a_population_with_a_limit_are_declared_first(
    begin, ledger: Ledger, tmp_path: Path, who: str, name: str
) -> None:
    """Four of five rows are no copy, and get round the limit unless both are added up."""
    table = people()
    write(table, tmp_path / "register.csv")
    write(pd.concat([shuffled(table).iloc[120:], people(120, seed=2)]), tmp_path / "most.csv")
    begin("register.csv", drawn="", who=who, more='population = "residents"')
    with pytest.warns(UserWarning, match="also in the population 'residents'"):
        begin("most.csv", drawn="", who=who, more=name)
    ledger.limit("residents", epsilon=0.1, delta=1e-6)
    with refused("limit.overlap"):
        begin("most.csv", drawn="", who=who, more=name)
    ledger.overlap("patients", "residents")
    with pytest.raises(Refused) as full:
        begin("most.csv", drawn="", who=who, more='population = "patients"')
    assert full.value.code in ("limit.exceeded", "another-population")


def test_another_hash_function_cannot_be_compared(begin, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from crowdblend.sources.engines.duckdb.identity import DuckDBHashes

    write(people(), tmp_path / "drawn.csv")
    write(shuffled(people()), tmp_path / "copy.csv")
    begin("drawn.csv")
    monkeypatch.setattr(DuckDBHashes, "hashing", property(lambda self: "duckdb of the future"))
    with pytest.warns(UserWarning, match="release 1"):
        begin("copy.csv")


def test_a_stream_is_known_again(publish, monkeypatch: pytest.MonkeyPatch) -> None:
    for who, table in (('person = "id"', people()), (ROWS, shuffled(people()))):
        given = io.TextIOWrapper(io.BytesIO(table.to_csv(index=False).encode()))
        monkeypatch.setattr("sys.stdin", given)
        if who == ROWS:
            with refused():
                publish("-", who=who, more='format = "csv"')
        else:
            publish("-", who=who, more='format = "csv"')
