"""A key is for one release: a ledger refuses it a second time, and another ledger's release draws other randomness."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import crowdblend as cb
from crowdblend.errors import DoesNotCompose, Refused
from crowdblend.ledger import Ledger
from crowdblend.ledger.chain import sample_name
from crowdblend.policies.load import parse_policy
from crowdblend.publishing.policy_digest import plan_secret
from crowdblend.publishing.release import release
from crowdblend.publishing.resuming import resume
from tests.cases import for_each
from tests.ledger.spendings import DATA, DIGEST, shared, spending
from tests.policies.policies import policy_text

KEY = bytes(range(32))
ROWS = 2_000
NOISY = policy_text(
    data='source = "people.csv"\nperson = "id"\npopulation = "residents"',
    sampling='design = "coins"\nrate = 0.1',
    columns="code = { from = 0, to = 100, width = 1 }",
    release='format = "csv"',
    privacy="epsilon = 1.0\ndelta = 1e-6",
    publish='kind = "table"\nbelow_k = "noise"',
)
DRAWN_HERE = NOISY.replace("coins", "poisson").replace('below_k = "noise"\n', "")
REGISTER = NOISY.replace('"coins"\nrate = 0.1', '"everybody"').replace('below_k = "noise"\n', "")
REGISTER = REGISTER.replace("delta = 1e-6\n", "")


def people(folder: Path, first: int = 0) -> Path:
    """A table in which nobody has a code below 50: of these cells only the noise is seen."""
    folder.mkdir(exist_ok=True)
    draw = np.random.default_rng(first)
    frame = pd.DataFrame({"id": np.arange(first, first + ROWS), "code": draw.integers(50, 100, ROWS)})
    frame.to_csv(folder / "people.csv", index=False)
    return folder


def counts(text: str, data: Path, out: Path, ledger: Ledger | None = None) -> pd.Series:
    done = release(parse_policy(text, data), out, key=KEY, ledger=ledger, figures=False)
    return pd.read_csv(done.folder / "data.csv").set_index("code").iloc[:, 0]


def test_one_key_for_two_tables_that_were_drawn_already_is_refused(tmp_path: Path) -> None:
    """Where the same cells are empty, the noise of both was the same in 50 of 50 cells."""
    ledger = Ledger.create(tmp_path / "ledger.sqlite")
    counts(NOISY, people(tmp_path / "first"), tmp_path / "a", ledger)
    with pytest.raises(DoesNotCompose, match="Release 1 was begun with this key") as refused:
        counts(NOISY.replace("residents", "others"), people(tmp_path / "second", ROWS), tmp_path / "b", ledger)
    assert refused.value.code == "key.used"
    assert KEY.hex() not in str(refused.value)
    assert len(ledger.entries()) == 1
    assert not (tmp_path / "b").exists()


@for_each(
    ("first", "second"),
    [
        (spending(sample_name(KEY)), shared("survey")),
        (shared("survey"), spending("another draw")),
        (shared("survey"), shared("another survey", "others")),
        (spending("a draw"), spending("another draw", "others")),
    ],
)
def test_a_key_is_refused_whatever_the_design(first, second, tmp_path: Path) -> None:
    for finished in (True, False):
        ledger = Ledger.create(tmp_path / f"{finished}.sqlite")
        entry = ledger.begin(first, key=KEY)
        if finished:
            ledger.finish(entry, certificate_digest=DIGEST, data_sha256=DATA)
        for call in (ledger.begin, ledger.preview):
            with pytest.raises(DoesNotCompose) as refused:
                call(second, key=KEY)
            assert refused.value.code == "key.used"
            assert ("Resume release 1" in str(refused.value)) != finished
        ledger.begin(second, key=KEY[::-1])
        ledger.begin(replace(second, sample="without a key", population="nobody"))
        assert len(ledger.entries()) == 3


def test_a_release_that_stopped_uses_its_key_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ledger, data = Ledger.create(tmp_path / "ledger.sqlite"), people(tmp_path / "data")
    whole = counts(NOISY, data, tmp_path / "whole")
    monkeypatch.setattr("crowdblend.publishing.steps.describe", None)
    with pytest.raises(Refused, match="recorded and not published yet"):
        counts(NOISY, data, tmp_path / "out", ledger)
    monkeypatch.undo()
    (entry,) = ledger.unfinished_entries()
    done = resume(ledger, entry.id, parse_policy(NOISY, data))
    assert pd.read_csv(done.folder / "data.csv").set_index("code").iloc[:, 0].equals(whole)


@for_each("text", [NOISY, REGISTER])
def test_another_population_has_other_noise(text: str, tmp_path: Path) -> None:
    """Of the 50 empty cells of another table, in another ledger, hardly more agree than noise agrees by chance."""
    first = counts(text, people(tmp_path / "first"), tmp_path / "a")
    second = counts(text.replace("residents", "others"), people(tmp_path / "second", ROWS), tmp_path / "b")
    empty = [cell for cell in first.index if int(cell.strip("[").split(",")[0]) < 50]
    assert len(empty) == 50
    assert first[empty].ne(0).any()
    assert (first[empty] == second[empty]).sum() < 45


def test_another_plan_draws_another_sample(tmp_path: Path) -> None:
    """Two tables from one sample could single somebody out, and another ledger does not know of the first."""
    data = people(tmp_path / "data")
    text = DRAWN_HERE.replace("width = 1 ", "width = 50 ").replace("rate = 0.1", "rate = 0.5")
    first = counts(text, data, tmp_path / "a")
    finer = text.replace("width = 50 ", "width = 25 ")
    second = counts(finer, data, tmp_path / "b")
    assert first.sum() != second.sum()
    assert counts(text, data, tmp_path / "c").equals(first)


def secret(text: str, **changes: object) -> bytes:
    return plan_secret(parse_policy(text).only.replace(**changes), KEY)


def test_what_randomness_depends_on() -> None:
    alike = {
        "source": "elsewhere.parquet", "format": "parquet", "memory": "1GB", "threads": 2, "accept_epsilon": True,
        "delimiter": ";", "encoding": "latin-1", "decimal": ",",
    }  # fmt: skip
    for name, value in alike.items():
        assert secret(NOISY, **{name: value}) == secret(NOISY), name
    others = {
        "population": "others", "epsilon": 0.5, "delta": 1e-7, "k": 40, "person": "name", "releases": 2, "flag": True,
        "columns": {"code": cb.intervals(0, 100, width=2)}, "duplicates": "one",
    }  # fmt: skip
    found = [secret(NOISY), *(secret(NOISY, **{name: value}) for name, value in others.items())]
    found += [secret(text) for text in (DRAWN_HERE, REGISTER, NOISY.replace("code =", "age ="))]
    found.append(plan_secret(parse_policy(NOISY), KEY[::-1]))
    database = NOISY.replace('"people.csv"', '"people.duckdb"\nquery = "SELECT * FROM people WHERE code < 70"')
    found += [secret(database), secret(database.replace("70", "80"))]
    assert len(set(found)) == len(found)
    assert KEY not in found
