"""ids = "table": unrelated tables that number their rows stand beside each other; one sample stays one sample."""

from collections.abc import Callable
from decimal import Decimal
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import crowdblend
from crowdblend.errors import DoesNotCompose
from crowdblend.kinds import plan
from crowdblend.ledger import Ledger
from crowdblend.ledger.identity import identity_of
from crowdblend.policies.load import parse_policy
from crowdblend.publishing.pending import pending_release
from crowdblend.publishing.release import release
from crowdblend.sources.engines.choice import default_engine
from crowdblend.trusted.calculus import Assumption, verify_file
from tests.ledger.databases import DATABASES, place
from tests.ledger.sources import NUMBER, people, policy, shuffled, write

PEOPLE, TABLE = 'person = "id"', 'person = "id"\nids = "table"'
SSN, ROWS = 'person = "ssn"', "rows_are_people = true"


@pytest.fixture
def ledger(request: pytest.FixtureRequest, tmp_path: Path) -> Ledger:
    """In SQLite, unless the test says `in_every_database`."""
    return Ledger.create(place(getattr(request, "param", "sqlite"), tmp_path))


in_every_database = pytest.mark.parametrize("ledger", DATABASES, indirect=True)


def numbered(seed: int = 1, number: int = NUMBER) -> pd.DataFrame:
    """People called 1 to n."""
    return people(number, seed).drop(columns="ssn").assign(id=range(1, number + 1))


def refusal(begin: Callable[..., None], *arguments, **named) -> DoesNotCompose:
    with pytest.raises(DoesNotCompose) as refused:
        begin(*arguments, **named)
    return refused.value


@in_every_database
def test_unrelated_numberings_are_refused_and_the_refusal_names_the_key(begin, tmp_path: Path) -> None:
    write(numbered(1), tmp_path / "one.parquet")
    write(numbered(2), tmp_path / "two.csv")
    begin("one.parquet", who=PEOPLE)
    problem = refusal(begin, "two.csv", who=PEOPLE)
    assert problem.code == "same-sample"
    assert problem.message == "Release 1 has the same ids, and may have used the same sample."
    assert str(problem.remedy).startswith('Add ids="table"')
    begin("two.csv", who=TABLE)


def test_another_name_of_the_population_names_the_key_too(begin, ledger: Ledger, tmp_path: Path) -> None:
    for seed, name in enumerate(("one.parquet", "two.csv", "three.parquet"), 1):
        write(numbered(seed), tmp_path / name)
    begin("one.parquet", who=PEOPLE, drawn="", more='population = "patients"')
    problem = refusal(begin, "two.csv", who=PEOPLE, drawn="", more='population = "pupils"')
    assert problem.code == "another-population"
    assert problem.message.startswith("Release 1 has nearly the same ids, under another name of the population")
    assert str(problem.remedy).startswith('Add ids="table"')
    begin("two.csv", who=TABLE, drawn="", more='population = "pupils"')
    begin("three.parquet", who=TABLE, drawn="")
    assert [budget.releases for budget in ledger.budgets()] == [(1,), (2,), (3,)]


def test_the_key_is_not_named_where_it_would_not_help(begin, tmp_path: Path) -> None:
    """Ids that are no numbering of the table, and a table whose rows are the same too."""
    write(people(), tmp_path / "one.parquet")
    write(shuffled(people()), tmp_path / "copy.parquet")
    begin("one.parquet", who=PEOPLE, drawn="", more='population = "patients"')
    problem = refusal(begin, "copy.parquet", who=PEOPLE, drawn="", more='population = "pupils"')
    assert "ids" not in str(problem.remedy)
    write(numbered(), tmp_path / "numbers.parquet")
    write(shuffled(numbered()), tmp_path / "copy.parquet")
    begin("numbers.parquet", who=PEOPLE, drawn="", more='population = "patients"')
    problem = refusal(begin, "copy.parquet", who=PEOPLE, drawn="", more='population = "pupils"')
    assert "ids" not in str(problem.remedy)


def renumbered(table: pd.DataFrame) -> pd.DataFrame:
    return shuffled(table).assign(id=np.random.default_rng(9).permutation(len(table)) + 1)


COPIES: dict[str, Callable[[pd.DataFrame], pd.DataFrame]] = {
    "as it is": lambda table: table,
    "shuffled": shuffled,
    "renumbered": renumbered,
    "renumbered, a twentieth less": lambda table: renumbered(table).iloc[len(table) // 20 :],
    "renumbered, a column more": lambda table: renumbered(table).assign(note="x"),
}


@pytest.mark.parametrize("whose", [(PEOPLE, TABLE), (TABLE, PEOPLE), (TABLE, TABLE)], ids=["people", "table", "both"])
def test_the_key_makes_no_second_sample(begin, tmp_path: Path, whose: tuple[str, str]) -> None:
    write(numbered(), tmp_path / "drawn.parquet")
    begin("drawn.parquet", who=whose[0])
    for copy, change in COPIES.items():
        write(change(numbered()), tmp_path / "copy.csv")
        assert refusal(begin, "copy.csv", who=whose[1]).code == "same-sample", copy
    assert refusal(begin, "copy.csv", who=whose[1], drawn="").code == "same-sample"


@pytest.mark.parametrize("whose", [(PEOPLE, TABLE), (TABLE, PEOPLE)])
def test_a_table_that_was_drawn_from_is_no_new_sample(begin, tmp_path: Path, whose: tuple[str, str]) -> None:
    write(numbered(), tmp_path / "register.parquet")
    write(renumbered(numbered()), tmp_path / "copy.csv")
    begin("register.parquet", who=whose[0], drawn="")
    assert refusal(begin, "copy.csv", who=whose[1]).code == "same-sample"


@pytest.mark.parametrize("whose", [(PEOPLE, PEOPLE), (ROWS, TABLE), (TABLE, ROWS), (SSN, TABLE), (TABLE, SSN)])
def test_new_numbers_make_no_second_sample(begin, tmp_path: Path, whose: tuple[str, str]) -> None:
    write(people(), tmp_path / "drawn.csv")
    write(renumbered(people()), tmp_path / "copy.parquet")
    begin("drawn.csv", who=whose[0])
    assert refusal(begin, "copy.parquet", who=whose[1]).code == "same-sample"


def test_unrelated_rows_with_a_numbering_are_no_copy(begin, tmp_path: Path) -> None:
    """A column that numbers the rows is no evidence, whoever the persons are."""
    for seed, name in enumerate(("one", "two", "three"), 1):
        write(people(seed=seed).assign(id=range(1, NUMBER + 1)), tmp_path / f"{name}.parquet")
    begin("one.parquet", who=PEOPLE)
    begin("two.parquet", who=SSN)
    begin("three.parquet", who=ROWS)


def test_a_renumbered_register_adds_up(begin, ledger: Ledger, tmp_path: Path) -> None:
    write(numbered(), tmp_path / "register.csv")
    write(renumbered(numbered()), tmp_path / "later.parquet")
    begin("register.csv", who=PEOPLE, drawn="", more='population = "residents"')
    begin("later.parquet", who=TABLE, drawn="")
    (budget,) = ledger.budgets()
    assert (budget.population, budget.releases) == ("residents", (1, 2))
    problem = refusal(begin, "later.parquet", who=TABLE, drawn="", more='population = "others"')
    assert problem.code == "another-population"


def test_independent_samples_with_the_same_classes_are_two(begin, tmp_path: Path) -> None:
    """Tables of 2 × 4 classes with independent people: refused with probability below 1e-4 (0.22⁸ in overlap)."""
    for seed in (1, 2):
        table = numbered(seed, 4_000)[["id", "sex", "age"]]
        write(table.assign(age=table["age"] // 25 * 25), tmp_path / f"{seed}.parquet")
    begin("1.parquet", who=TABLE)
    begin("2.parquet", who=TABLE)


def test_other_columns_cannot_be_compared_and_that_is_said(begin, tmp_path: Path) -> None:
    write(numbered(1), tmp_path / "one.parquet")
    write(numbered(2)[["id", "sex", "age"]], tmp_path / "two.parquet")
    begin("one.parquet", who=TABLE)
    with pytest.warns(UserWarning, match="release 1"):
        begin("two.parquet", who=TABLE)


def test_an_entry_of_an_older_version_is_compared_by_ids(begin, ledger: Ledger, tmp_path: Path) -> None:
    """It has nothing but its people: there the key is no way out."""
    write(numbered(), tmp_path / "drawn.parquet")
    write(renumbered(numbered()), tmp_path / "copy.parquet")
    planned = plan(parse_policy(policy("drawn.parquet", who=PEOPLE), tmp_path))
    prospect = pending_release(planned, "/out", ledger, bytes(32), default_engine())
    old = type(prospect.identity)("source:x", prospect.identity.hashing, prospect.identity.of("person"))
    ledger.begin(prospect.spending, identity=old)
    assert refusal(begin, "copy.parquet", who=TABLE).code == "same-sample"


def test_ids_of_a_table_are_not_kept(begin, ledger: Ledger, tmp_path: Path) -> None:
    write(numbered(), tmp_path / "drawn.parquet")
    planned = plan(parse_policy(policy("drawn.parquet", who=TABLE), tmp_path))
    identity = pending_release(planned, "/out", ledger, bytes(32), default_engine()).identity
    assert {one.kind for one in identity.sketches} == {"numbering", "rows"}
    assert not any("id" in one.anchor.columns for one in identity.of("rows"))
    assert {one.kind for one in identity_of(identity.to_json()).sketches} == {"rows"}
    assert ledger.fingerprint_request().columns == ()
    begin("drawn.parquet", who=TABLE)
    assert ledger.fingerprint_request().columns == ()
    assert ledger.fingerprint_request().rows == tuple(one.anchor for one in identity.of("rows"))


@pytest.mark.parametrize(("who", "stated"), [(TABLE, True), (PEOPLE, False)])
def test_the_certificate_says_so(tmp_path: Path, who: str, stated: bool) -> None:
    write(numbered(), tmp_path / "drawn.csv")
    release(parse_policy(policy("drawn.csv", who=who), tmp_path), tmp_path / "out")
    assert (Assumption.IDS_OF_THE_TABLE in verify_file(tmp_path / "out").stated) is stated
    said = "number the rows of this table only" in (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert said is stated


def stamped(number: int = 600) -> pd.DataFrame:
    """People with days, moments and amounts, which formats spell differently."""
    chance = np.random.default_rng(5)
    days, seconds = chance.integers(0, 20_000, number), chance.integers(0, 10**7, number)
    return numbered(3, number)[["id", "sex", "age"]].assign(
        born=pd.Timestamp("1950-01-01") + pd.to_timedelta(days, "D"),
        seen=pd.Timestamp("2020-01-01 10:00:00.5") + pd.to_timedelta(seconds, "s"),
        amount=[Decimal(int(cents)) / 100 for cents in chance.integers(0, 10**6, number)],
    )


def test_days_moments_and_amounts_are_known_again_in_every_format(ledger: Ledger, tmp_path: Path) -> None:
    frame = stamped()
    shown = frame.assign(amount=frame["amount"].astype(float))
    write(shown, tmp_path / "pandas.csv")
    write(shown.assign(seen=shown["seen"].dt.strftime("%Y-%m-%dT%H:%M:%S.%f000")), tmp_path / "others.csv")
    write(frame, tmp_path / "copy.parquet")
    declared = parse_policy(policy("pandas.csv", who=TABLE), tmp_path)
    crowdblend.release(frame, declared, ledger=ledger)
    for copy in ("pandas.csv", "others.csv", "copy.parquet"):
        with pytest.raises(DoesNotCompose) as refused:
            crowdblend.release(str(tmp_path / copy), declared, ledger=ledger)
        assert refused.value.code == "same-sample"


@pytest.mark.parametrize("share", [0.85, 0.5, 0.2])
def test_a_piece_of_a_sample_is_known_again_by_its_rows(begin, tmp_path: Path, share: float) -> None:
    whole = stamped(1000)
    piece = whole.sample(frac=share, random_state=1).assign(id=lambda rows: range(1, len(rows) + 1))
    write(whole, tmp_path / "whole.parquet")
    write(piece, tmp_path / "piece.parquet")
    begin("whole.parquet", who=TABLE)
    assert refusal(begin, "piece.parquet", who=TABLE).code == "same-sample"


@pytest.mark.parametrize("rate", [0.1, 0.5])
@pytest.mark.parametrize("columns", [["id", "sex", "age", "born"], ["id", "sex", "age", "amount"]], ids=str)
def test_independent_samples_of_one_population_stand_beside_each_other(
    begin, tmp_path: Path, rate: float, columns: list[str]
) -> None:
    everybody, chance = stamped(4000)[columns], np.random.default_rng(2)
    for name in ("one.parquet", "two.parquet"):
        drawn = everybody[chance.random(len(everybody)) < rate]
        write(drawn.assign(id=range(1, len(drawn) + 1)), tmp_path / name)
        begin(name, who=TABLE, rate=rate, more='population = "residents"')
