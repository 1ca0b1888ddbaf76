"""Whatever is wrong with a policy is refused by name, with a remedy, as wrong use."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crowdblend.errors import CrowdblendError, InvalidInput
from crowdblend.policies import Release, Sampling, load_policy, parse_policy

from .policies import SOUND, bent

RATE, KIND, SEX = "rate = 0.1", 'kind = "table"', '{ values = ["Female", "Male"] }'
AGE = "{ from = 0, to = 100, width = 10 }"
NOISE = 'kind = "table"\nbelow_k = "noise"'
TABLE = '[[tables]]\nname = "{}"\ncolumns = {}\n'

WRONG = {
    # the file
    "not TOML": ("a b", "must be TOML"),
    "empty": ("", r"section \[data\]"),
    "unknown section": (bent(add="[colums]\n"), "Did you mean columns"),
    "recoding": (bent(add="[recoding]\n"), "key epsilon"),
    "section is a value": ('data = 1\n[columns]\nx = 1\n[release]\nkind = "table"\n', r"\[data\] must be a table"),
    # data
    "unknown key": (bent(("person =", "persn =")), "Did you mean person"),
    "wrong type": (bent(('"id"', "5")), r"person in \[data\] must be a text"),
    "no source": (bent(('source = "people.csv"\n', "")), "key source"),
    "blank source": (bent(("people.csv", " ")), "source"),
    "unknown format": (bent(("people.csv", "people.xlsx")), "format"),
    "bad format": (bent(('"people.csv"', '"people.csv"\nformat = "xlsx"')), "must be one of"),
    "nobody": (bent(('person = "id"\n', "")), "either person or rows_are_people"),
    "two units": (bent(('"id"', '"id"\nrows_are_people = true')), "either person or rows_are_people"),
    "one of none": (bent(('person = "id"', 'rows_are_people = true\nduplicates = "one"')), "duplicates"),
    "no table": (bent(("people.csv", "people.duckdb")), "table in"),
    "table in csv": (bent(('"id"', '"id"\ntable = "t"')), "table in"),
    "delimiter in parquet": (bent(('"people.csv"', '"p.parquet"\ndelimiter = ";"')), "delimiter"),
    "long delimiter": (bent(('"people.csv"', '"p.csv"\ndelimiter = ";;"')), "delimiter"),
    "password": (bent(('"people.csv"', '"postgresql://a:b@h/d"\ntable = "t"')), "password"),
    # sampling
    "rate too large": (bent((RATE, "rate = 1.2")), "rate must be a number between 0 and 1"),
    "rate is text": (bent((RATE, 'rate = "0.1"')), "rate in"),
    "rate is true": (bent((RATE, "rate = true")), "rate in"),
    "rate nan": (bent((RATE, "rate = nan")), "rate must"),
    "rate huge": (bent((RATE, "rate = 1e400")), "rate in"),
    "no rate drawn": (bent((RATE, "already_drawn = true")), "rate"),
    "low alone": (bent((RATE, "low = 0.1")), "low and high"),
    "exceptions alone": (bent((RATE, "rate = 0.1\nexceptions = 2")), "low and high"),
    "low above high": (bent((RATE, "rate = 0.1\nlow = 0.2\nhigh = 0.1")), "low in"),
    "rate outside": (bent((RATE, "rate = 0.1\nlow = 0.2\nhigh = 0.3")), "between low and high"),
    "bias without rate": (bent((RATE, "low = 0.2\nhigh = 0.3")), "rate"),
    "max below high": (bent((RATE, "rate = 0.2\nlow = 0.2\nhigh = 0.3\nmax_rate = 0.25")), "max_rate"),
    "many exceptions": (bent((RATE, "rate = 0.2\nlow = 0.2\nhigh = 0.3\nexceptions = 19")), "exceptions must be below"),
    "key": (bent((RATE, 'rate = 0.1\nkey = "publish"')), '"destroy", "seal"'),
    # columns
    "no columns": (bent((f"sex = {SEX}\nage = {AGE}", "")), "at least one column"),
    "no domain": (bent((SEX, "{ }")), "column 'sex' must declare its domain"),
    "only other": (bent((SEX, '{ other = "x" }')), "column 'sex' must declare its domain"),
    "domain is text": (bent((SEX, '"Female"')), "column 'sex'"),
    "two ways": (bent((SEX, '{ values = ["a"], prefix = 3 }')), "in one way"),
    "misspelt": (bent((SEX, '{ value = ["a"] }')), "Did you mean values"),
    "foreign key": (bent((SEX, '{ values = ["a"], width = 3 }')), "in one way"),
    "wrong key": (bent((SEX, '{ values = ["a"], top = true }')), "no key 'top'"),
    "no width": (bent((AGE, "{ from = 0, to = 100 }")), "width"),
    "no to": (bent((AGE, "{ from = 0, width = 10 }")), "key to"),
    "uneven": (bent((AGE, "{ from = 0, to = 100, width = 30 }")), "whole number of widths"),
    "backwards": (bent((AGE, "{ from = 9, to = 0, width = 3 }")), "from must be below to"),
    "zero width": (bent((AGE, "{ from = 0, to = 9, width = 0 }")), "width above 0"),
    "infinite": (bent((AGE, "{ from = 0, to = inf, width = 1 }")), "finite"),
    "not a number": (bent((AGE, "{ from = nan, to = 9, width = 1 }")), "finite"),
    "too many": (bent((AGE, "{ from = 0, to = 1e9, width = 1 }")), "at most 1000000"),
    "too fine": (bent((AGE, "{ from = 0, to = 1e-10, width = 1e-16 }")), "at most"),
    "both ends": (bent((AGE, "{ from = 0, to = 9, width = 1, top = true, include_to = true }")), "include_to and top"),
    "no values": (bent((SEX, "{ values = [] }")), "values must list"),
    "blank value": (bent((SEX, '{ values = ["a", " "] }')), "missing"),
    "value twice": (bent((SEX, '{ values = ["a", "a"] }')), "'a' twice"),
    "other is a value": (bent((SEX, '{ values = ["a"], other = "a" }')), "'a' twice"),
    "other is missing": (bent((SEX, '{ values = ["a"], other = "o", missing = "o" }')), "two different labels"),
    "values of floats": (bent((SEX, "{ values = [1.5] }")), "list of texts"),
    "falling breaks": (bent((AGE, "{ breaks = [0, 5, 5] }")), "breaks must rise"),
    "one break": (bent((AGE, "{ breaks = [0] }")), "at least two"),
    "no breaks": (bent((AGE, "{ breaks = [], top = true, bottom = true }")), "at least two"),
    "prefix 0": (bent((SEX, "{ prefix = 0 }")), "prefix"),
    "prefix with other": (bent((SEX, '{ prefix = 2, other = "o" }')), "no key 'other'"),
    "date": (bent((SEX, '{ date = "decade" }')), '"year", "quarter"'),
    "date half bounded": (bent((SEX, '{ date = "year", from = 2000-01-01 }')), "together"),
    "date of text": (bent((SEX, '{ date = "year", from = "2000-01-01", to = 2001-01-01 }')), "without quotes"),
    "date backwards": (bent((SEX, '{ date = "year", from = 2000-01-01, to = 2000-01-01 }')), "before"),
    "no hierarchy file": (bent((SEX, '{ hierarchy = "none.csv", level = 1 }')), "'none.csv'"),
    "choose": (bent((SEX, '{ hierarchy = "h.csv", level = "chose" }')), 'or "choose"'),
    "candidates": (bent((SEX, "[{ prefix = 1 }, { prefix = 2 }]")), "one declaration"),
    "same but case": (bent(("age =", "SEX =")), "case only"),
    "publishes the person": (bent(("sex =", "ID =")), "must not be published"),
    "count": (bent(("sex =", "Count =")), "another name"),
    "left to fill in": (bent((SEX, '{ values = ["FILL_IN"] }')), "columns.sex.values must be filled in"),
    # release
    "no kind": (bent((KIND, "")), "key kind"),
    "kind": (bent((KIND, 'kind = "tabel"')), "must be one of"),
    "k": (bent(("k = 20", "k = 0")), "k must be a whole number"),
    "k is real": (bent(("k = 20", "k = 20.5")), "k in"),
    "k huge": (bent(("k = 20", "k = 1" + "0" * 400)), "k in"),
    "epsilon": (bent(("epsilon = 1.0", "epsilon = -1")), "epsilon must"),
    "delta": (bent(("delta = 1e-6", "delta = 2")), "delta must"),
    "two left out": (bent(("k = 20\n", ""), ("rate = 0.1\n", "")), "k, rate are"),
    "noisy microdata": (bent((KIND, 'kind = "microdata"\nbelow_k = "noise"')), "microdata"),
    "flag": (bent((KIND, KIND + "\nflag = true")), "flag in"),
    "noise epsilon": (bent((KIND, KIND + "\nnoise_epsilon = 1")), "noise_epsilon in"),
    "noise epsilon 0": (bent((KIND, NOISE + "\nnoise_epsilon = 0")), "noise_epsilon must"),
    "memory": (bent((KIND, KIND + '\nmemory = "lots"')), "memory"),
    "threads": (bent((KIND, KIND + "\nthreads = 0")), "threads"),
    # tables
    "tables of microdata": (bent((KIND, 'kind = "microdata"'), add=TABLE.format("a", '["sex"]')), 'kind = "table"'),
    "table twice": (bent(add=TABLE.format("a", '["sex"]') + TABLE.format("A", '["age"]')), "twice"),
    "table path": (bent(add=TABLE.format("../a", '["sex"]')), "file name"),
    "table without columns": (bent(add=TABLE.format("a", "[]")), "at least one column"),
    "table of strangers": (bent(add=TABLE.format("a", '["sexx"]')), "Did you mean sex"),
    "tables in one bracket": (bent(add='[tables]\nname = "a"\n'), "double brackets"),
}


@pytest.mark.parametrize("case", WRONG)
def test_refused_by_name(case):
    text, words = WRONG[case]
    with pytest.raises(InvalidInput, match=words) as caught:
        parse_policy(text)
    message = str(caught.value)
    assert "\n" not in message
    assert len(message) < 400
    assert message.rstrip().endswith((".", "?"))


def test_files_that_cannot_be_read(tmp_path):
    (tmp_path / "latin.toml").write_bytes(b"# \xe9\n")
    for name in ("none.toml", "latin.toml", "."):
        with pytest.raises(InvalidInput, match="policy"):
            load_policy(tmp_path / name)


def test_a_password_is_never_repeated():
    with pytest.raises(InvalidInput) as caught:
        parse_policy(WRONG["password"][0].replace("a:b@", "a:hunter2@"))
    assert "hunter2" not in str(caught.value)


def test_values_made_in_python_are_checked_too():
    with pytest.raises(InvalidInput, match="rate must"):
        Sampling(rate=1.5)
    with pytest.raises(InvalidInput, match="k must"):
        Release("table", k=0)


junk = st.recursive(
    st.sampled_from(
        ["true", "1", "-1", "0.5", "nan", "inf", '""', '"x"', "1e400", "2020-01-01", "2020-01-01T00:00:00", "{}"]
    ),
    lambda inner: st.lists(inner, max_size=3).map(lambda items: f"[{', '.join(items)}]"),
    max_leaves=4,
)


@settings(max_examples=300, deadline=None)
@given(line=st.sampled_from([n for n, t in enumerate(SOUND.splitlines()) if "=" in t]), value=junk)
def test_any_junk_is_read_or_refused_never_a_crash(line, value):
    lines = SOUND.splitlines()
    lines[line] = lines[line].split("=")[0] + "= " + value
    try:
        parse_policy("\n".join(lines))
    except CrowdblendError as error:
        assert isinstance(error, InvalidInput)  # noqa: PT017 - anything else would pass through and fail


@settings(max_examples=200, deadline=None)
@given(
    key=st.sampled_from(
        ["values", "from", "to", "width", "breaks", "prefix", "date", "hierarchy", "level", "other", "top"]
    ),
    value=junk,
    more=st.sampled_from(["", ", to = 5, width = 1", ', date = "year"', ", level = 0", ', missing = "m"']),
)
def test_any_junk_in_a_column_too(key, value, more):
    try:
        parse_policy(bent((SEX, f"{{ {key} = {value}{more} }}")))
    except CrowdblendError as error:
        assert isinstance(error, InvalidInput)  # noqa: PT017
