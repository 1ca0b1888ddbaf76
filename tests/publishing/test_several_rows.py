"""People with several rows, and households: what counts, and what only the steward is told."""

from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

import crowdblend as cb
from crowdblend.cli.main import cli
from crowdblend.errors import InvalidInput
from crowdblend.ledger import Ledger
from crowdblend.methods.designs.draw import Coin, Everybody
from crowdblend.policies.load import parse_policy
from crowdblend.publishing.release import release
from crowdblend.reading.verification.consistency import verify_release
from crowdblend.sources.engines.choice import count_classes
from crowdblend.trusted.randomness import DrawKey
from tests.policies.policies import policy_text

KEY = bytes(range(32))
WARDS = cb.values("a", "b", "c")
VISITS = policy_text(
    data='source = "visits.parquet"\nperson = "id"\nrows_per_person = {rows}',
    sampling='design = "everybody"',
    columns='ward = {{ values = ["a", "b", "c"] }}',
    privacy="epsilon = 1.0",
    publish='kind = "table"\ncount = "people"',
)


def write(folder: Path, wards: dict[int, str]) -> None:
    rows = [(person, ward) for person, visited in wards.items() for ward in visited]
    pd.DataFrame(rows, columns=["id", "ward"]).to_parquet(folder / "visits.parquet")


def counts(folder: Path, rows: int) -> tuple[Counter[str], int | None, int | None]:
    policy = parse_policy(VISITS.format(rows=rows), folder)
    found = count_classes(policy, Everybody(row_key=DrawKey(KEY)))
    named = [found.classes.labels[0][code] for code in found.classes.codes[:, 0]]
    return Counter(dict(zip(named, found.classes.counts.tolist(), strict=True))), found.people, found.dropped


def test_distinct_people_are_counted_once_in_a_class(tmp_path: Path) -> None:
    write(tmp_path, {1: "aaaab", 2: "aac", 3: "b", 4: "abc"})
    whole = counts(tmp_path, 3)
    assert whole == (Counter(a=3, b=3, c=2), 4, 4)
    kept, people, dropped = counts(tmp_path, 1)
    assert (sum(kept.values()), people, dropped) == (4, 4, 8)


def test_nobody_counts_in_more_classes_than_the_policy_allows_and_all_of_them_are_equally_likely(
    tmp_path: Path,
) -> None:
    """Everybody was nine times in a and once in b and c: by classes, not rows, each is kept by two people of three."""
    people = 3_000
    write(tmp_path, dict.fromkeys(range(people), "aaaaaaaaabc"))
    found, _, _ = counts(tmp_path, 2)
    assert sum(found.values()) == 2 * people
    # Six standard deviations: a false alarm of 1e-8 in all.
    for count in found.values():
        assert abs(count - 2 * people / 3) < 6 * np.sqrt(people * 2 / 9)


def test_a_register_of_people_says_what_it_counts(tmp_path: Path) -> None:
    write(tmp_path, dict.fromkeys(range(2_000), "aab"))
    done = release(parse_policy(VISITS.format(rows=2), tmp_path), tmp_path / "out", key=KEY, ledger=None)
    verify_release(done.folder)
    shown = pd.read_parquet(done.folder / "data.parquet").set_index("ward")["count"]
    assert abs(shown["a"] - 2_000) < 100
    assert abs(shown["b"] - 2_000) < 100
    assert abs(shown["c"]) < 100
    found = done.certificate.differential()
    assert found is not None
    assert (found.epsilon, found.delta) == (1.0, 0.0)
    readme = (done.folder / "README.md").read_text()
    assert "Counts are people: everybody counts once in each of at most 2 random classes of theirs" in readme
    assert "The other classes of a person are in none of the numbers" in readme
    page = (done.folder / "report.html").read_text(encoding="utf-8")
    assert "sums of cells are not numbers of people" in page
    assert "people in the published data" not in page
    assert "The other classes of a person are in none of the numbers" in page
    # Everybody has two classes, so that the sum of cells is twice as many as there are: nothing says or gives it.
    assert "right on average" not in page
    assert "right on average" not in (done.folder / "README.md").read_text()
    assert "margin=" not in (done.folder / "README.md").read_text()
    with pytest.raises(InvalidInput) as refused:
        cb.read(done.folder).estimates(margin=[])
    assert refused.value.code == "reading.repeated-people"
    cells = cb.read(done.folder).estimates().to_pandas().set_index("ward")
    assert cells.loc["a", "low"] <= shown["a"] <= cells.loc["a", "high"]


def test_a_register_of_rows_does_not_call_them_people(tmp_path: Path) -> None:
    write(tmp_path, dict.fromkeys(range(2_000), "aab"))
    rows = VISITS.format(rows=2).replace('count = "people"\n', "")
    done = release(parse_policy(rows, tmp_path), tmp_path / "out", key=KEY, ledger=None)
    verify_release(done.folder)
    page = (done.folder / "report.html").read_text(encoding="utf-8")
    assert "Counts of rows by ward" in page
    assert "Rows that were left out are in none of the numbers, and in no interval" in page
    assert "people of the population" not in page
    assert "rows that were kept, 95 % interval" in page
    assert "of everybody" not in page
    readme = (done.folder / "README.md").read_text()
    assert "how many rows were kept in all" in readme
    assert "Rows that were left out are in none of the numbers, and in no interval" in readme
    assert "people in the published data" not in page


def test_counting_people_needs_a_bound() -> None:
    given: dict[str, Any] = {"sampling": cb.Everybody(), "epsilon": 1.0, "publish": cb.Table(count="people")}
    cb.Policy(person="id", columns={"ward": WARDS}, rows_per_person=2, **given)
    with pytest.raises(InvalidInput, match="needs rows_per_person"):
        cb.Policy(person="id", columns={"ward": WARDS}, **given)


@pytest.mark.filterwarnings("ignore:No ledger at")
def test_what_duplicates_one_dropped_is_for_the_steward_alone(tmp_path: Path) -> None:
    chance = np.random.default_rng(1)
    ids = np.repeat(np.arange(4_000), chance.integers(1, 4, 4_000))
    visits = pd.DataFrame({"id": ids, "ward": chance.choice(list("abc"), len(ids))})
    policy = cb.Policy(
        person="id",
        population="town",
        columns={"ward": WARDS},
        sampling=cb.Coins(0.5),
        duplicates="one",
        epsilon=1.0,
        delta=1e-6,
        publish=cb.Table(),
    )
    ledger = tmp_path / "ledger.db"
    cb.release(visits, policy, out=tmp_path / "out", ledger=cb.Ledger(ledger))
    dropped = len(visits) - 4_000
    (entry,) = Ledger.open(str(ledger)).entries()
    assert entry.internal["rows_dropped"] == dropped
    shown = CliRunner().invoke(cli, ["ledger", "show", "1", "--internal", "--ledger", str(ledger)])
    assert f"{dropped:,} rows of {len(visits):,} ({100 * dropped / len(visits):.3g} %) were dropped" in shown.output
    for file in (tmp_path / "out").iterdir():
        assert b"rows_dropped" not in file.read_bytes()
    assert replace(entry, internal={}).steward_sentences() == []
    assert replace(entry, internal={"rows_dropped": 0}).steward_sentences()[0].startswith("No row was dropped")


def test_the_coin_of_a_household_decides_about_all_of_it(tmp_path: Path) -> None:
    """With person = "household_id" households are drawn, each counts once, and members share one coin."""
    sizes = np.random.default_rng(2).integers(1, 6, 1_000)
    households = pd.DataFrame({"household_id": np.repeat(np.arange(1_000), sizes), "member": range(sizes.sum())})
    households["ward"] = np.where(households.household_id % 2, "a", "b")
    households.to_parquet(tmp_path / "homes.parquet")
    policy = cb.Policy(
        source=str(tmp_path / "homes.parquet"),
        person="household_id",
        duplicates="one",
        columns={"ward": WARDS},
        sampling=cb.Poisson(0.5),
        epsilon=1.0,
        delta=1e-6,
        publish=cb.Table(),
    )
    found = count_classes(policy, Coin(DrawKey(KEY), 0.5))
    drawn = found.classes.people
    # Six standard deviations of Bin(1,000, 1/2); one row a household, so the others' rows are the dropped ones.
    assert abs(drawn - 500) < 95
    assert found.dropped is not None
    assert found.dropped + drawn <= sizes.sum()
    with pytest.raises(InvalidInput, match="several rows in person column 'household_id'"):
        count_classes(policy.replace(duplicates="refuse"), Coin(DrawKey(KEY), 0.5))
