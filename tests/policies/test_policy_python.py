"""A policy made in Python is the one that TOML gives, and is refused for the same reasons under the same codes."""

from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import crowdblend as cb
from crowdblend.errors import InvalidInput
from crowdblend.kinds import plan
from crowdblend.methods.recoding.values import Values
from crowdblend.methods.selection.scores import SCORES
from crowdblend.notation import TOML
from crowdblend.policies.columns import Column
from crowdblend.policies.domains import (
    BreakDomain,
    DateDomain,
    HierarchyDomain,
    IntervalDomain,
    PrefixDomain,
    ValueDomain,
)
from crowdblend.policies.key import keys_of, parts_of, sections_of
from crowdblend.policies.load import load_policy, parse_policy
from crowdblend.policies.policy import Policy
from crowdblend.policies.registry import KINDS, WORDS, policy_class, publication_class, publication_keys
from crowdblend.policies.terms import Terms
from crowdblend.sources.engines.choice import default_engine
from tests.cases import for_each

from .policies import SOUND, assert_refused, bent

SEX = ValueDomain(values=["Female", "Male"])
AGE = IntervalDomain(start=0, stop=100, width=10)
TABLE: dict[str, Any] = {
    "source": "people.csv",
    "person": "id",
    "columns": {"sex": SEX, "age": AGE},
    "sampling": cb.Poisson(0.1),
    "epsilon": 1.0,
    "delta": 1e-6,
}
OWN = ("k", "below_k", "show_from")


def table(**changes: Any) -> Policy:
    """The table of the sound policy, with other arguments of its own or of the policy."""
    own = {"k": 20, **{name: changes.pop(name) for name in OWN if name in changes}}
    return cb.Policy(**{**TABLE, "publish": cb.Table(**own), **changes})


ODD = cb.Policy(
    source="p.csv",
    rows_are_people=True,
    population='résidents "x"',
    columns={
        "zip": PrefixDomain(prefix=3, missing="-"),
        "born": DateDomain(date="year"),
        "seen": cb.date("week", "1900-01-01", "2030-01-01"),
        "age": cb.intervals(0, 100, width=20, bottom=True, top=True),
        "share": cb.intervals(0.1, 0.7, width=0.2),
        "income": BreakDomain(breaks=[0, 0.5, Decimal("1e3")], top=True),
        'odd "name"': ValueDomain(values=["a", 1], other="o"),
    },
    sampling=cb.Biased(0.1, 0.2, already_drawn=True, exceptions=2),
    epsilon=1,
    accept_delta=True,
    publish=cb.Microdata(k=30),
)


def test_what_is_written_reads_back_as_an_equal_policy() -> None:
    assert parse_policy(ODD.to_toml()) == ODD
    assert type(parse_policy(ODD.to_toml()).only) is type(ODD.only)


def test_every_kind_has_its_class_in_a_module_of_its_name() -> None:
    for kind, words in WORDS.items():
        assert (publication_class(kind).kind, publication_class(kind).__name__) == (kind, words.publication)
        assert policy_class(kind).__name__ == f"{words.publication}Policy"


def test_a_policy_is_written_once_and_found_again_from_its_folder(tmp_path: Path) -> None:
    (tmp_path / "levels.csv").write_text("Female;*\nMale;*\n", encoding="utf-8")
    sex = HierarchyDomain(hierarchy=tmp_path / "levels.csv", level="choose")
    choosing = cb.Choosing(epsilon=0.1, using="split")
    policy = table(source=tmp_path / "people.csv", columns={"sex": sex}, recoding=choosing)
    policy.save(tmp_path / "policy.toml")
    assert str(tmp_path) not in (tmp_path / "policy.toml").read_text(encoding="utf-8")
    assert load_policy(tmp_path / "policy.toml") == policy
    with pytest.raises(InvalidInput) as refused:
        policy.save(tmp_path / "policy.toml")
    assert refused.value.code == "output.exists"
    policy.replace(epsilon=0.5).save(tmp_path / "policy.toml", force=True)
    assert load_policy(tmp_path / "policy.toml").epsilon == 0.5


def test_python_and_toml_give_the_same_policy() -> None:
    assert table() == parse_policy(SOUND)
    assert hash(table()) == hash(parse_policy(SOUND))
    columns = (Column.of("sex", SEX), Column.of("age", AGE))
    assert table(columns=columns) == parse_policy(SOUND)


@for_each("declare", [pd.CategoricalDtype, pl.Enum, list, tuple])
def test_a_type_that_declares_its_values_keeps_their_order(declare: Callable[[list[str]], Any]) -> None:
    assert cb.values(declare(["b", "a", "c"])).values == ("b", "a", "c")


def test_numbers_of_other_libraries_are_python_s() -> None:
    policy = table(k=np.int64(20), epsilon=np.float32(1), sampling=cb.Poisson(np.float64(0.1)))
    assert policy == parse_policy(SOUND)
    assert type(policy.plan().k) is int


# What is given in Python instead, the same in TOML where it can be said, and the code of both.
WRONG: dict[str, tuple[dict[str, Any], str | None, str]] = {
    "no columns": ({"columns": {}}, bent(("sex = {", "# {"), ("age = {", "# {")), "no-columns"),
    "no columns at all": ({"columns": ()}, None, "no-columns"),
    "a column twice": (
        {"columns": [Column("sex", (Values(("a",)),)), Column("sex", (Values(("b",)),))]},
        None,
        "column-twice",
    ),
    "but for case": ({"columns": {"sex": SEX, "SEX": SEX}}, bent(("age =", "SEX =")), "column-twice"),
    "columns are text": ({"columns": "sex"}, None, "type"),
    "columns are a number": ({"columns": 5}, None, "type"),
    "a column is text": ({"columns": ["sex"]}, None, "type"),
    "a domain is none": ({"columns": {"sex": 5}}, bent(("{ values = ", ""), ('"Male"] }', '"Male"]')), "column-domain"),
    "a column without a name": ({"columns": {"": SEX}}, bent(("sex =", '"" =')), "column-name"),
    "a column called 5": ({"columns": {5: SEX}}, None, "column-name"),
    "a column called NUL": ({"columns": {"a\0": SEX}}, bent(("sex =", '"a\\u0000" =')), "column-name"),
    "half a character": ({"columns": {"a\ud800": SEX}}, None, "column-name"),
    "k is text": ({"k": "20"}, bent(("k = 20", 'k = "20"')), "type"),
    "k is true": ({"k": True}, bent(("k = 20", "k = true")), "type"),
    "k is 20.0": ({"k": 20.0}, bent(("k = 20", "k = 20.0")), "type"),
    "k is 0": ({"k": 0}, bent(("k = 20", "k = 0")), "range"),
    "k is huge": ({"k": 10**5000}, bent(("k = 20", "k = 1" + "0" * 100)), "value"),
    "epsilon is NaN": ({"epsilon": float("nan")}, bent(("epsilon = 1.0", "epsilon = nan")), "value"),
    "epsilon is complex": ({"epsilon": 1j}, None, "type"),
    "delta is bytes": ({"delta": b"1"}, None, "type"),
    "person is a column": ({"person": ["id"]}, bent(('"id"', '["id"]')), "type"),
    "person is nobody": ({"person": None}, bent(('person = "id"', "")), "person"),
    "person is published": ({"person": "SEX"}, bent(('"id"', '"SEX"')), "person-published"),
    "source is a number": ({"source": 5}, bent(('"people.csv"', "5")), "type"),
    "source is blank": ({"source": ""}, bent(('"people.csv"', '""')), "value"),
    "sampling is a rate": ({"sampling": 0.1}, None, "type"),
    "sampling is exact": (
        {"sampling": cb.Survey(5)},
        bent(('"poisson"\nrate = 0.1', '"survey"\npeople = 5')),
        "fixed-size",
    ),
    "tables are names": ({"publish": ["age"]}, None, "type"),
    "a table is unknown": (
        {"publish": cb.Table("agee", k=20)},
        bent(("k = 20", 'k = 20\ncolumns = ["agee"]')),
        "unknown-column",
    ),
    "too much is left out": ({"k": None, "delta": None}, bent(("k = 20", ""), ("delta = 1e-6", "")), "planned"),
    "show_from": (
        {"below_k": "noise", "show_from": 10**20},
        bent(("k = 20", f'k = 20\nbelow_k = "noise"\nshow_from = {10**20}')),
        "value",
    ),
}


@for_each("case", WRONG)
def test_refused_in_python_as_in_toml(case: str) -> None:
    changes, text, code = WRONG[case]
    with pytest.raises(InvalidInput) as made:
        table(**changes)
    assert_refused(made.value, code)
    if text is not None:
        with pytest.raises(InvalidInput) as read:
            parse_policy(text)
        assert (read.value.code, read.value.where) == (made.value.code, made.value.in_notation(TOML).where)


def test_a_policy_without_a_source_waits_for_the_data() -> None:
    policy = table(source=None)
    assert policy.plan().k == 20
    with pytest.raises(InvalidInput) as refused:
        plan(policy).check_source(default_engine())
    assert refused.value.code == "policy.no-source"


def test_every_key_says_what_it_means_and_is_declared_once() -> None:
    for kind in KINDS:
        made = publication_class(kind)
        holders = [Terms, made, policy_class(kind), *(part.holder for part in parts_of(made).values())]
        for holder in holders:
            assert all(key.meaning.endswith(".") and key.section for key in keys_of(holder).values())
        for keys in (*sections_of(Terms).values(), publication_keys(kind)):
            names = [key.name for key in keys.values()]
            assert len(names) == len(set(names))


def test_the_scores_are_those_that_choose() -> None:
    assert keys_of(cb.Choosing)["score"].choices == SCORES
