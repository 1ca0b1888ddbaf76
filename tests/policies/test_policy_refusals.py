"""Whatever is wrong with a policy is refused by name, with a remedy, as wrong use.

Mistakes whose remedy can be followed are in tests/test_remedies.py.
"""

import pytest

from crowdblend.errors import InvalidInput
from crowdblend.policies.load import load_policy, parse_policy
from tests.cases import for_each

from .policies import assert_refused, bent

RATE, KIND, SEX = "rate = 0.1", 'kind = "table"', '{ values = ["Female", "Male"] }'
AGE = "{ from = 0, to = 100, width = 10 }"
NOISE = 'kind = "table"\nbelow_k = "noise"'
ROWS = ('person = "id"', 'person = "id"\nrows_per_person = 2')
DESIGN = 'design = "poisson"\nrate = 0.1'
BIASED = 'design = "biased"\n'
ENGINE = "[privacy]"
REGISTER = bent((DESIGN, 'design = "everybody"'), ("k = 20\n", ""), ("delta = 1e-6\n", ""))

WRONG = {
    # the file
    "not TOML": ("a b", "toml"),
    "empty": ("", "missing-section"),
    "recoding": (bent(add="[recoding]\n"), "missing-key"),
    "sections of before": (bent(add="[synopsis]\nrows = 3\n"), "unknown-section"),
    "section is a value": ('data = 1\n[columns]\nx = 1\n[[publish]]\nkind = "table"\n', "section"),
    # data
    "unknown key": (bent(("person =", "persn =")), "unknown-key"),
    "blank source": (bent(("people.csv", " ")), "value"),
    "bad format": (bent(('"people.csv"', '"people.csv"\nformat = "xlsx"')), "choice"),
    "two units": (bent(('"id"', '"id"\nrows_are_people = true')), "person"),
    "one of none": (bent(('person = "id"', 'rows_are_people = true\nduplicates = "one"')), "duplicates"),
    "ids of none": (bent(('person = "id"', 'rows_are_people = true\nids = "table"')), "ids"),
    "ids of whom": (bent(('person = "id"', 'person = "id"\nids = "rows"')), "choice"),
    "no table": (bent(("people.csv", "people.duckdb")), "table-of-source"),
    "table in csv": (bent(('"id"', '"id"\ntable = "t"')), "table-of-source"),
    "password": (bent(('"people.csv"', '"postgresql://a:b@h/d"\ntable = "t"')), "password"),
    # sampling
    "rate is text": (bent((RATE, 'rate = "0.1"')), "type"),
    "rate is true": (bent((RATE, "rate = true")), "type"),
    "rate nan": (bent((RATE, "rate = nan")), "value"),
    "rate huge": (bent((RATE, "rate = 1e400")), "value"),
    "no rate drawn": (bent((DESIGN, 'design = "coins"')), "missing-key"),
    "low alone": (bent((DESIGN, BIASED + "low = 0.1")), "missing-key"),
    "exceptions alone": (bent((RATE, "rate = 0.1\nexceptions = 2")), "unknown-key"),
    "low above high": (bent((DESIGN, BIASED + "rate = 0.1\nlow = 0.2\nhigh = 0.1")), "biased-sampling"),
    "rate outside": (bent((DESIGN, BIASED + "rate = 0.1\nlow = 0.2\nhigh = 0.3")), "biased-sampling"),
    "bias without rate": (bent((DESIGN, BIASED + "low = 0.2\nhigh = 0.3")), "biased-sampling"),
    "max below high": (
        bent((DESIGN, BIASED + "rate = 0.2\nlow = 0.2\nhigh = 0.3\nmax_rate = 0.25")),
        "biased-sampling",
    ),
    "max for nobody": (
        bent((DESIGN, BIASED + "rate = 0.2\nlow = 0.2\nhigh = 0.3\nmax_rate = 0.5")),
        "biased-sampling",
    ),
    "many exceptions": (bent((DESIGN, BIASED + "rate = 0.2\nlow = 0.2\nhigh = 0.3\nexceptions = 19")), "exceptions"),
    "key": (bent((RATE, 'rate = 0.1\nkey = "publish"')), "choice"),
    # columns
    "no domain": (bent((SEX, "{ }")), "column-domain"),
    "only other": (bent((SEX, '{ other = "x" }')), "column-domain"),
    "domain is text": (bent((SEX, '"Female"')), "column-domain"),
    "misspelt": (bent((SEX, '{ value = ["a"] }')), "unknown-key"),
    "foreign key": (bent((SEX, '{ values = ["a"], width = 3 }')), "column-domain"),
    "wrong key": (bent((SEX, '{ values = ["a"], top = true }')), "unknown-key"),
    "no to": (bent((AGE, "{ from = 0, width = 10 }")), "missing-key"),
    "infinite": (bent((AGE, "{ from = 0, to = inf, width = 1 }")), "value"),
    "not a number": (bent((AGE, "{ from = nan, to = 9, width = 1 }")), "value"),
    "too many": (bent((AGE, "{ from = 0, to = 1e9, width = 1 }")), "domain"),
    "too fine": (bent((AGE, "{ from = 0, to = 1e-10, width = 1e-16 }")), "domain"),
    "blank value": (bent((SEX, '{ values = ["a", " "] }')), "domain"),
    "other is a value": (bent((SEX, '{ values = ["a"], other = "a" }')), "domain"),
    "other is missing": (bent((SEX, '{ values = ["a"], other = "o", missing = "o" }')), "domain"),
    "values of floats": (bent((SEX, "{ values = [1.5] }")), "type"),
    "falling breaks": (bent((AGE, "{ breaks = [0, 5, 5] }")), "domain"),
    "no breaks": (bent((AGE, "{ breaks = [], top = true, bottom = true }")), "domain"),
    "prefix 0": (bent((SEX, "{ prefix = 0 }")), "domain"),
    "prefix with other": (bent((SEX, '{ prefix = 2, other = "o" }')), "unknown-key"),
    "date backwards": (bent((SEX, '{ date = "year", from = 2000-01-01, to = 2000-01-01 }')), "domain"),
    "no hierarchy file": (bent((SEX, '{ hierarchy = "none.csv", level = 1 }')), "domain"),
    "choose": (bent((SEX, '{ hierarchy = "h.csv", level = "chose" }')), "type"),
    "count": (bent(("sex =", "Count =")), "reserved-name"),
    # what is published
    "epsilon": (bent(("epsilon = 1.0", "epsilon = -1")), "range"),
    "delta": (bent(("delta = 1e-6", "delta = 2")), "range"),
    "two left out": (bent(("k = 20\n", ""), ("rate = 0.1\n", "")), "planned"),
    "noisy microdata": (bent((KIND, 'kind = "microdata"\nbelow_k = "noise"')), "unknown-key"),
    "flag": (bent((KIND, KIND + "\nflag = true")), "needs-noise"),
    "noise epsilon 0": (bent((KIND, NOISE + "\nnoise_epsilon = 0")), "range"),
    "threads": (bent((ENGINE, "[release]\nthreads = 0\n[privacy]")), "range"),
    # a register
    "everybody and a k": (bent((DESIGN, 'design = "everybody"')), "everybody"),
    "everybody without epsilon": (REGISTER.replace("epsilon = 1.0", ""), "everybody"),
    "everybody without noise": (REGISTER.replace("epsilon = 1.0", "epsilon = 0.0"), "everybody"),
    "everybody as microdata": (REGISTER.replace(KIND, 'kind = "microdata"'), "everybody"),
    "everybody with noise below k": (REGISTER.replace(KIND, NOISE), "everybody"),
    "everybody in an open domain": (
        REGISTER.replace('{ values = ["Female", "Male"] }', "{ prefix = 1 }"),
        "open-domain",
    ),
    "everybody in too many cells": (REGISTER.replace("to = 100, width = 10", "to = 1000000, width = 1"), "cells"),
    "a column in the place of the totals": (REGISTER.replace(*ROWS).replace("sex =", "total ="), "reserved-name"),
    "rows of a sample that was drawn before": (bent(ROWS, ("poisson", "coins")), "rows-per-person"),
    "rows and duplicates": (
        REGISTER.replace('person = "id"', 'person = "id"\nrows_per_person = 2\nduplicates = "one"'),
        "rows-per-person",
    ),
    "rows of nobody": (
        REGISTER.replace('person = "id"', "rows_are_people = true\nrows_per_person = 2"),
        "rows-per-person",
    ),
    "no rows": (REGISTER.replace('person = "id"', 'person = "id"\nrows_per_person = 0'), "range"),
}


@for_each("case", WRONG)
def test_refused_by_name(case):
    text, code = WRONG[case]
    with pytest.raises(InvalidInput) as caught:
        parse_policy(text)
    assert_refused(caught.value, code)


@for_each("more", ["", "delta = 1e-6"])
def test_keys_of_two_sections_are_each_named_with_their_own(more):
    transition = "transition = 5" if more else ""
    kind = f'kind = "outlier-table"\nlimit = 100\n{transition}'
    with pytest.raises(InvalidInput) as caught:
        parse_policy(REGISTER.replace(KIND, kind).replace("epsilon = 1.0", f"epsilon = 1.0\n{more}"))
    assert_refused(caught.value, "planned")
    keys = ("[privacy] delta", "[[publish]] transition")
    has = f"{' and '.join(keys)} exclude each other" if more else f"{' or '.join(keys)} is missing"
    assert caught.value.message == f"{has}: one is planned from the other."
    assert caught.value.remedy == f"Give exactly one of {', '.join(keys)}."


def test_files_that_cannot_be_read(tmp_path):
    (tmp_path / "latin.toml").write_bytes(b"# \xe9\n")
    for name in ("none.toml", "latin.toml", "."):
        with pytest.raises(InvalidInput) as caught:
            load_policy(tmp_path / name)
        assert caught.value.code in ("policy.file", "policy.encoding")


def test_a_password_is_never_repeated():
    with pytest.raises(InvalidInput) as caught:
        parse_policy(WRONG["password"][0].replace("a:b@", "a:hunter2@"))
    assert "hunter2" not in str(caught.value)
