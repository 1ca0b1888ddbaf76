"""A starter policy knows names and types only, and is refused until it is filled in."""

import json
import re
import tomllib
from itertools import product
from pathlib import Path

import pytest

from crowdblend.errors import InvalidInput
from crowdblend.policies.key import keys_of
from crowdblend.policies.load import parse_policy
from crowdblend.policies.registry import KINDS, policy_class, publication_class
from crowdblend.policies.sampling import DESIGNS
from crowdblend.policies.starter import init_policy
from tests.cases import for_each

SECRET = "Zanzibar"


@pytest.fixture
def people(tmp_path):
    path = tmp_path / "people.csv"
    path.write_text(f'id;"a ""quoted"" name";age\n1;{SECRET};31337\n', encoding="utf-8")
    return path


def test_a_csv_header_is_all_it_reads(people):
    text = init_policy(people, person="id", design="poisson")
    assert SECRET not in text
    assert "31337" not in text
    parts = tomllib.loads(text)
    assert list(parts["columns"]) == ['a "quoted" name', "age"]
    assert (parts["data"]["person"], parts["data"]["delimiter"]) == ("id", ";")
    with pytest.raises(InvalidInput) as caught:
        parse_policy(text)
    assert caught.value.code == "policy.placeholder"


def test_filled_in_it_is_a_policy(people):
    text = filled(init_policy(people, person="id", design="poisson", folder=people.parent))
    policy = parse_policy(text, people.parent)
    assert policy.only.planned_parameter == "k"  # type: ignore[attr-defined]
    assert policy.data.source == str(people)


def test_it_has_six_keys_and_names_pages_that_are_there(people):
    text = init_policy(people, design="poisson")
    parts = tomllib.loads(text)
    said = {name for section in ("data", "sampling", "privacy") for name in parts[section]}
    assert said == {"source", "delimiter", "person", "population", "design", "rate", "epsilon", "delta"}
    assert not re.search(r"^# \w+ = …", text, re.MULTILINE)  # no keys as comments
    pages = set(re.findall(r"docs/[a-z]+\.md", text))
    assert pages == {"docs/release.md", "docs/policy.md"}
    assert all((Path(__file__).parents[2] / page).is_file() for page in pages)


@for_each("kind", ["statistics", "synopsis"])
def test_the_secret_size_of_a_sample_is_not_asked_for(people, kind):
    """Not by the starter of any design, nor where the number is missing: it is published."""
    asked = [str(keys_of(policy_class(kind))["people"].missing())]
    for design in sorted({"coins", "everybody", "strata", "weights"} & set(publication_class(kind).designs)):
        starter = init_policy(people, person="id", design=design, kind=kind)
        asked += [line for line in starter.splitlines() if line.startswith("people = ")]
    assert len(asked) == 5
    for text in asked:
        assert "or a sample is or was drawn from, and not how many are in the sample" in text


@pytest.mark.parametrize("source", [".", "*.csv"])
def test_a_folder_or_pattern_is_known_by_its_first_file(people, source):
    (people.parent / "people-2.csv").write_text(people.read_text(encoding="utf-8"), encoding="utf-8")
    text = filled(init_policy(people.parent / source, person="id", design="poisson", folder=people.parent))
    policy = parse_policy(text, people.parent)
    assert (policy.data.format, policy.data.delimiter) == ("csv", ";")
    assert policy.data.source == str(people.parent / source)


def test_a_folder_without_data_is_refused(tmp_path):
    with pytest.raises(InvalidInput, match="holds no CSV or Parquet file"):
        init_policy(tmp_path)


def test_without_a_person_it_proposes_one_by_its_name_or_asks(people):
    assert tomllib.loads(init_policy(people, design="poisson"))["data"]["person"] == "id"
    for name in ("Kennung", "personenkennziffer", "Identifiant", "personnummer"):
        people.write_text(f"{name};sex;area;age\nP1;f;north;31337\n", encoding="utf-8")
        parts = tomllib.loads(init_policy(people, design="poisson"))
        assert parts["data"]["person"] == name
        assert name not in parts["columns"]
        assert not any(name in one["columns"] for one in parts["publish"])
    people.write_text("number;age\n1;31337\n", encoding="utf-8")
    assert "which is deleted below" in init_policy(people, design="poisson")
    with pytest.raises(InvalidInput) as caught:
        parse_policy(init_policy(people, design="poisson"))
    assert (caught.value.code, caught.value.where) == ("policy.placeholder", "data.person")


@for_each("content", [b"", b"\xff\n", b"a,a\n", b"a,,b\n", b"\n"])
def test_no_header_is_refused(tmp_path, content):
    (tmp_path / "x.csv").write_bytes(content)
    with pytest.raises(InvalidInput, match=r"x\.csv"):
        init_policy(tmp_path / "x.csv")


def test_no_file_is_refused(tmp_path):
    with pytest.raises(InvalidInput, match=r"none\.csv"):
        init_policy(tmp_path / "none.csv")


def test_a_broken_parquet_file_is_refused(tmp_path):
    (tmp_path / "x.parquet").write_bytes(b"PAR1 no")
    for name in ("x.parquet", "none.parquet"):
        with pytest.raises(InvalidInput, match=name):
            init_policy(tmp_path / name)


@pytest.mark.parametrize("packing", ["gz", "zst"])
def test_a_packed_file_is_read_as_what_it_packs(people, packing):
    import gzip

    packed = people.parent / f"people.csv.{packing}"
    if packing == "gz":
        packed.write_bytes(gzip.compress(people.read_bytes()))
    else:
        import pyarrow

        with pyarrow.output_stream(str(packed), compression="zstd") as stream:
            stream.write(people.read_bytes())
    parts = tomllib.loads(init_policy(packed, person="id", design="poisson", folder=people.parent))
    assert list(parts["columns"]) == ['a "quoted" name', "age"]
    assert "format" not in parts["data"]
    packed.write_bytes(b"\x1f\x8b not packed")
    with pytest.raises(InvalidInput) as caught:
        init_policy(packed)
    assert caught.value.code == "init.file"


HEADERLESS = {
    "numbers": "17,female,31337\n18,male,2\n",
    "a date": "Zanzibar,2001-02-03\nPemba,2001-02-04\n",
    "a time": "Zanzibar,12:30\nPemba,12:31\n",
    "an address": "z@zanzibar.tz,x\np@pemba.tz,y\n",
    "a blank": "Zanzibar,,x\nPemba,y,z\n",
    "a value twice": "Zanzibar,zanzibar\nPemba,Pemba\n",
    "a value again": "Zanzibar,female\nPemba,male\nMafia,female\n",
    "a decimal": 'Zanzibar;"1,5"\nPemba;2\n',
    "true": "Zanzibar,true\nPemba,false\n",
}


@for_each("case", HEADERLESS)
def test_a_first_record_is_not_taken_for_names(tmp_path, case):
    """The whole record would stand in the policy, and the policy is published with the release or sent around."""
    (tmp_path / "x.csv").write_text(HEADERLESS[case], encoding="utf-8")
    with pytest.raises(InvalidInput) as caught:
        init_policy(tmp_path / "x.csv")
    assert caught.value.code == "init.header"
    assert not re.search("(?i)zanzibar|31337|female|2001|12:30", str(caught.value))


def test_usual_names_are_names(tmp_path):
    (tmp_path / "x.csv").write_text("No,q12,2nd address,Geschlecht,名前,in %\n1,2,3,4,5,6\n", encoding="utf-8")
    assert len(tomllib.loads(init_policy(tmp_path / "x.csv", design="poisson"))["columns"]) == 6


def filled(text):
    text = text.replace('["FILL_IN"], whole', "[0, 50, 100], whole").replace('["FILL_IN"]', '["known"]')
    return text.replace('rate = "FILL_IN"', "rate = 0.2")


@pytest.mark.parametrize("design", ["poisson", "coins"])
def test_a_survey_starts_with_one_table_of_all_columns(people, design):
    text = init_policy(people, person="id", design=design)
    assert tomllib.loads(text)["publish"] == [{"kind": "table"}]
    policy = parse_policy(filled(text), people.parent)
    assert [column.name for column in policy.columns] == ['a "quoted" name', "age"]
    assert policy.sampling.design == design
    assert policy.sampling.already_drawn == (design == "coins")


ROWS = "id,sex,age,zip,income,wt\n" + "".join(f"{at},f,{30 + at},0{at},{at}.5,1.5\n" for at in range(1, 6))


def test_a_programme_is_proposed_from_the_columns(tmp_path):
    (tmp_path / "p.csv").write_text(ROWS, encoding="utf-8")
    text = init_policy(tmp_path / "p.csv", design="poisson", folder=tmp_path)
    assert "# wt is left out: it may be design weights" in text
    parts = tomllib.loads(text)
    assert (parts["data"]["person"], parts["data"]["ids"]) == ("id", "table")  # 1, 2, 3, …
    assert parts["columns"]["age"] == {"breaks": ["FILL_IN"], "whole": True}
    assert parts["columns"]["zip"] == {"values": ["FILL_IN"]}  # digits after a zero
    assert list(parts["columns"]["income"]) == ["from", "to", "resolution", "outside"]
    assert [one["kind"] for one in parts["publish"]] == ["table", "microdata", "statistics"]
    text = filled(text)
    for gap, value in (("people", "1000"), ("from", "0"), ("to", "100"), ("resolution", "1")):
        text = text.replace(f'{gap} = "FILL_IN"', f"{gap} = {value}")
    policy = parse_policy(text, tmp_path)
    assert [one.columns for one in policy.publish[:2]] == [("sex", "age"), ("sex", "age", "zip")]
    assert policy.plan().guarantees


def test_medians_are_proposed_of_amounts_and_not_of_coordinates(tmp_path):
    rows = "".join(f"{at},f,{30 + at},{at}00,{at}.5,{at}.25\n" for at in range(1, 6))
    (tmp_path / "p.csv").write_text(f"id,sex,age,income,east,north\n{rows}", encoding="utf-8")
    text = init_policy(tmp_path / "p.csv", design="poisson", folder=tmp_path)
    assert "# north is left out: it says where people are; see --kind points." in text
    parts = tomllib.loads(text)
    assert list(parts["columns"]) == ["sex", "age", "income"]
    assert [one["median"] for each in parts["publish"] for one in each.get("statistics", [])] == ["income"]
    assert "east" in tomllib.loads(init_policy(tmp_path / "p.csv", kind="points", design="poisson"))["columns"]


def test_a_register_of_several_columns_starts_with_tables_of_two(tmp_path):
    (tmp_path / "p.csv").write_text(ROWS, encoding="utf-8")
    parts = tomllib.loads(init_policy(tmp_path / "p.csv", design="everybody"))
    assert [one["columns"] for one in parts["publish"]] == [["sex", "age"], ["age", "zip"]]
    assert "income" not in parts["columns"]


def test_weights_are_named_where_the_design_is_theirs(tmp_path):
    (tmp_path / "p.csv").write_text(ROWS, encoding="utf-8")
    parts = tomllib.loads(init_policy(tmp_path / "p.csv", design="weights"))
    assert parts["sampling"]["column"] == "wt"
    assert parts["sampling"]["thin"] == 0.8
    assert "wt" in parts["columns"]


@for_each("design", publication_class("table").designs)
def test_every_design_has_a_proposal(design, tmp_path):
    (tmp_path / "p.csv").write_text(ROWS, encoding="utf-8")
    parts = tomllib.loads(init_policy(tmp_path / "p.csv", design=design))
    assert (parts["sampling"]["design"], parts["publish"][0]["kind"]) == (design, "table")


def test_register_or_sample_has_no_default(people):
    with pytest.raises(InvalidInput, match=r"a register, or a sample\? Use --design poisson or everybody or coins"):
        init_policy(people)


def test_a_register_starts_with_everybody(people):
    text = filled(init_policy(people, person="id", design="everybody"))
    policy = parse_policy(text, people.parent)
    assert policy.sampling.everybody
    assert (policy.delta, policy.sampling.rate) == (None, None)


@for_each("kind", KINDS)
def test_every_design_of_a_kind_has_a_starter_with_its_keys(kind, tmp_path):
    (tmp_path / "p.csv").write_text("id,age\n1,2\n", encoding="utf-8")
    for design in publication_class(kind).designs:
        parts = tomllib.loads(init_policy(tmp_path / "p.csv", kind=kind, design=design))
        required = {name for name, key in keys_of(DESIGNS[design]).items() if key.required}
        assert required <= set(parts["sampling"])
        assert parts["sampling"]["design"] == design


@pytest.mark.parametrize(
    ("given", "code"),
    [
        ({"kind": "microdata", "design": "everybody"}, "init.design"),
        ({"kind": "points", "design": "everybody"}, "init.design"),
        ({"kind": "graph", "design": "poisson"}, "init.design"),
        ({"design": "census"}, "init.design"),
        ({"kind": "sculpture"}, "init.kind"),
        ({"person": "nobody"}, "init.person"),
    ],
)
def test_what_there_is_not_is_refused(people, given, code):
    with pytest.raises(InvalidInput) as caught:
        init_policy(people, **given)
    assert caught.value.code == code
    assert repr(list(given.values())[-1]) in str(caught.value)


@pytest.fixture
def town(tmp_path):
    path = tmp_path / "town.csv"
    path.write_text("person_id,gender,district,age\n1,f,north,31\n", encoding="utf-8")
    return path


@for_each(
    ("preset", "design", "columns"),
    [
        ("yearly-counts", "poisson", ["district", "gender", "age"]),
        ("yearly-counts", "everybody", ["district", "gender", "age"]),
        ("microdata", "poisson", None),
        ("survey-strata", None, None),
        ("register-by-district", None, ["district", "gender"]),
    ],
)
def test_a_preset_is_a_policy_once_it_is_filled_in(town, preset, design, columns):
    text = init_policy(town, preset=preset, design=design)
    parts = tomllib.loads(text)
    assert parts["publish"][0].get("columns") == columns
    assert parts["sampling"]["design"] == {"survey-strata": "strata", "register-by-district": "everybody"}.get(
        preset, design
    )
    assert parts["privacy"].get("releases") == (10 if preset == "yearly-counts" else None)
    rates = text.replace('rates = "FILL_IN"', "rates = { a = 0.1, b = 0.2 }")
    policy = parse_policy(filled(rates.replace('values = ["FILL_IN"]', 'values = ["a", "b"]')))
    assert policy.plan().guarantees


def test_presets_leave_register_or_sample_to_the_steward(town):
    for preset in ("yearly-counts", "microdata"):
        with pytest.raises(InvalidInput, match="not said: a register, or a sample"):
            init_policy(town, preset=preset)
    with pytest.raises(InvalidInput, match="Did you mean microdata"):
        init_policy(town, preset="micro-data", design="poisson")


def test_domains_come_from_a_list_or_an_earlier_policy_and_never_from_the_data(town):
    listed = town.parent / "districts.csv"
    listed.write_text("district\n" + "".join(f"district {n}\n" for n in range(87)), encoding="utf-8")
    text = init_policy(town, design="poisson", codebook=listed)
    assert tomllib.loads(text)["columns"]["district"]["values"] == [f"district {n}" for n in range(87)]
    earlier = town.parent / "earlier.toml"
    said = re.sub(r"district = .*", 'district = { values = ["north", "south"], other = "elsewhere" }', text)
    said = re.sub(r"age = .*", "age = { from = 0, to = 100, width = 25 }", said)
    earlier.write_text(filled(said), encoding="utf-8")
    again = tomllib.loads(init_policy(town, design="everybody", codebook=earlier))["columns"]
    assert again["district"] == {"values": ["north", "south"], "other": "elsewhere"}
    assert again["age"] == {"from": 0, "to": 100, "width": 25}
    with pytest.raises(InvalidInput, match="is the data"):
        init_policy(town, design="poisson", codebook=town)


SIGNS = "\x1b[2J\x9b31m\x7f\u202e\u2028"


def test_what_a_code_book_holds_reaches_no_terminal_and_is_no_toml_of_its_own(tmp_path):
    """Labels are escaped, and the ends of a range are numbers or days."""
    (tmp_path / "p.csv").write_text("id,sex,age,income\n1,f,3,400\n2,m,4,500\n", encoding="utf-8")
    book = tmp_path / "book.json"
    label = f"a{SIGNS}"
    hostile = ("9\n[release]\nproposes = true", "NaN", "٩", f"1 }} # {SIGNS}")
    for kind, high in product(("integer", "number", "date"), hostile):
        ends = [
            {"name": name, "type": kind, "constraints": {"minimum": "1", "maximum": high}} for name in ("age", "income")
        ]
        fields = [*ends, {"name": "sex", "constraints": {"enum": [label]}}]
        book.write_text(json.dumps({"fields": fields}), encoding="utf-8")
        text = init_policy(tmp_path / "p.csv", design="poisson", codebook=book)
        assert all(sign.isprintable() for sign in text.replace("\n", "")), repr(text)
        parts = tomllib.loads(text)
        assert "release" not in parts
        assert parts["columns"]["sex"]["values"] == [label]
        assert all(high not in str(parts["columns"][name]) for name in ("age", "income"))
