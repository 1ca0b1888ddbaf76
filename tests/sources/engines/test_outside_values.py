"""What went to `other` is listed for the steward, and nowhere else; a column that is nothing but `other` is refused."""

import json

import pyarrow as pa
import pytest

import crowdblend as cb
from crowdblend.errors import InvalidInput
from crowdblend.methods.designs.draw import Everybody
from crowdblend.sources.engines.choice import count_classes
from crowdblend.sources.engines.outside_values import OutsideCounter
from tests.commands import crowdblend

pytestmark = pytest.mark.filterwarnings("ignore:No ledger")
_COLUMNS = {
    "race": cb.values("White", "Black", other="Other"),
    "age": cb.intervals(0, 100, width=10, other="?", missing="none"),
    "born": cb.date("year", other="unknown"),
}
_SECRET = "Martian-5521"


def _people(number=400, race="White"):
    return pa.table(
        {
            "id": list(range(number)),
            "race": [_SECRET if n % 10 == 0 else "" if n % 10 == 1 else race for n in range(number)],
            "age": ["x1" if n % 20 == 0 else "" if n % 20 == 1 else "44" for n in range(number)],
            "born": ["soon" if n % 4 == 0 else "1980-01-01" for n in range(number)],
        }
    )


def _policy(**more):
    given = {"columns": _COLUMNS, "person": "id", "population": "town", "epsilon": 1.0, "delta": 1e-6, **more}
    return cb.Policy(sampling=cb.Coins(0.5), publish=cb.Table(), **given)


def test_values_rows_and_shares_are_in_the_entry_alone(tmp_path):
    ledger = cb.Ledger(tmp_path / "ledger.db")
    done = cb.release(_people(), _policy(), out=tmp_path / "published", ledger=ledger)
    outside = ledger.entry(1).internal["outside_domain"]
    assert outside["race"] == {
        "rows": 80,
        "share": 0.2,
        "values": [{"value": None, "rows": 40}, {"value": _SECRET, "rows": 40}],
        "further_rows": 0,
    }
    assert outside["age"]["values"] == [{"value": "x1", "rows": 20}], "blanks have a class of their own"
    assert outside["born"]["values"] == [{"value": "soon", "rows": 100}]
    files = b"".join(file.read_bytes() for file in (tmp_path / "published").rglob("*"))
    assert _SECRET.encode() not in files
    assert b"outside_domain" not in files
    assert _SECRET not in repr(done)
    show = ("ledger", "show", "1", "--json", "--ledger", tmp_path / "ledger.db")
    told = {internal: crowdblend(*show, *internal).stdout for internal in ((), ("--internal",))}
    assert "population" in told[()]
    assert _SECRET not in told[()]
    assert json.loads(told["--internal",])["internal"]["outside_domain"]["race"]["rows"] == 80


def test_a_column_that_goes_wholly_to_other_is_refused_and_nothing_is_spent(tmp_path):
    ledger = cb.Ledger(tmp_path / "ledger.db")
    policy = _policy(columns={**_COLUMNS, "race": cb.values("white", "black", other="Other")})
    with pytest.raises(InvalidInput) as caught:
        cb.release(_people(), policy, out=tmp_path / "published", ledger=ledger)
    assert (caught.value.code, caught.value.where) == ("data.only-other", "column 'race'")
    assert _SECRET not in str(caught.value)
    assert not (tmp_path / "published").exists()
    assert not (tmp_path / "ledger.db").exists()
    # the remedy: the values as the data spell them
    cb.release(_people(), _policy(), out=tmp_path / "published", ledger=ledger)


def test_statistics_list_them_too(tmp_path):
    (tmp_path / "policy.toml").write_text(
        '[data]\nperson = "id"\npopulation = "town"\n[sampling]\ndesign = "survey"\npeople = 100\nof = 400\n'
        '[privacy]\nepsilon = 1.0\n[columns]\nrace = { values = ["White"], other = "Other" }\n'
        '[[publish]]\nkind = "statistics"\n[[publish.statistics]]\nname = "white"\ncount = { race = "White" }\n'
    )
    ledger = cb.Ledger(tmp_path / "ledger.db")
    cb.release(_people(), tmp_path / "policy.toml", ledger=ledger)
    assert {one["value"] for one in ledger.entry(1).internal["outside_domain"]["race"]["values"]} == {None, _SECRET}


def test_a_notation_shows_what_the_file_says(tmp_path):
    (tmp_path / "p.csv").write_text("id;pay\n" + "".join(f"{n};{'1.5' if n % 2 else '2,5'}\n" for n in range(10)))
    columns = {"pay": cb.intervals(0, 10, width=5, other="?")}
    policy = _policy(source=str(tmp_path / "p.csv"), columns=columns, delimiter=";", decimal=",")
    assert count_classes(policy, Everybody()).outside["pay"].values == (("1.5", 5),)
    grouped = _policy(source=str(tmp_path / "p.csv"), columns=columns, delimiter=";", decimal=",", thousands=".")
    assert count_classes(grouped, Everybody()).outside["pay"].values == (("1.5", 5),)


def test_the_list_is_bounded_and_says_what_is_not_in_it():
    counter = OutsideCounter()
    counter.add(50_000, ((f"v{n:05}", 1 + (n == 7)) for n in range(20_000)))
    found = counter.counts()
    assert (found.rows, found.among, len(found.values), found.further) == (20_001, 50_000, 100, 20_001 - 101)
    assert found.values[0] == ("v00007", 2)
