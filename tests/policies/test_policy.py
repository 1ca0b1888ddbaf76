"""A sound policy is read as written; its parts are frozen values."""

from collections.abc import Iterator
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from crowdblend.errors import InvalidInput
from crowdblend.methods.recoding.dates import DateRange, Dates
from crowdblend.methods.recoding.hierarchies import Hierarchies
from crowdblend.methods.recoding.intervals import Breaks, Intervals
from crowdblend.methods.recoding.values import Prefixes, Values
from crowdblend.policies import load
from crowdblend.policies.key import Section
from crowdblend.policies.unit import Unit
from tests.cases import for_each

from .policies import SOUND, bent

parse_policy: Any = load.parse_policy


def column(declaration, folder="."):
    text = bent(('sex = { values = ["Female", "Male"] }', f"sex = {declaration}"))
    return parse_policy(text, folder).only.column("sex").recoding


def test_everything_is_read():
    policy = parse_policy(SOUND, "/somewhere").only
    assert policy.data.source == str(Path("/somewhere/people.csv"))
    assert (policy.data.format, policy.data.person, policy.data.unit) == ("csv", "id", Unit())
    assert (policy.sampling.rate, policy.sampling.already_drawn, policy.sampling.key) == (0.1, False, "destroy")
    recodings = ("sex", (Values(("Female", "Male")),), 1.0), ("age", (Intervals(0, 100, 10),), 1.0)
    assert tuple((column.name, column.recodings, column.weight) for column in policy.columns) == recodings
    assert (policy.publication.k, policy.epsilon, policy.delta) == (20, 1.0, 1e-6)
    assert isinstance(policy.delta, float)
    assert (policy.publication.below_k, policy.format) == ("suppress", "parquet")
    assert (policy.planned_parameter, policy.closed, policy.cells) == (None, True, 20)


def test_the_policy_is_frozen_and_hashable():
    policy = parse_policy(SOUND)
    assert hash(policy) == hash(parse_policy(SOUND))
    assert hash(policy.only) == hash(parse_policy(SOUND).only)
    with pytest.raises(AttributeError):
        policy.only.publication.k = 1
    with pytest.raises(AttributeError):
        policy.terms.epsilon = 2.0


@for_each(
    ("line", "planned"),
    [("k = 20\n", "k"), ("rate = 0.1\n", "rate"), ("epsilon = 1.0\n", "epsilon"), ("delta = 1e-6\n", "delta")],
)
def test_one_parameter_may_be_planned(line, planned):
    assert parse_policy(bent((line, ""))).only.planned_parameter == planned


def test_every_kind_of_column(tmp_path):
    (tmp_path / "h.csv").write_text("\ufeffParis;France;*\r\nKyoto;Japan;*\r\n", encoding="utf-8")
    lines = (("Paris", "France", "*"), ("Kyoto", "Japan", "*"))
    assert column('{ values = [94, "a"], other = "o", missing = "m" }') == Values(("94", "a"), other="o", missing="m")
    assert column("{ from = 0.1, to = 0.3, width = 0.1, top = true }") == Intervals(
        Decimal("0.1"), Decimal("0.3"), Decimal("0.1"), top=True
    )
    assert column("{ from = 0, to = 9, width = 3, include_to = true }") == Intervals(0, 9, 3, include_stop=True)
    assert column("{ breaks = [0, 2.5], bottom = true }") == Breaks((0, Decimal("2.5")), bottom=True)
    assert column("{ prefix = 3, missing = '-' }") == Prefixes(3, missing="-")
    assert column('{ date = "year" }') == Dates("year")
    assert column('{ date = "week", from = 2000-01-01, to = 2001-01-01 }') == DateRange(
        "week", date(2000, 1, 1), date(2001, 1, 1)
    )
    assert column('{ hierarchy = "h.csv", level = 1 }', tmp_path) == Hierarchies(lines, 1)


@for_each(
    ("source", "form"),
    [("a.csv", "csv"), ("a.tsv", "csv"), ("a.csv.gz", "csv"), ("part-*.parquet", "parquet"), ("A.PARQUET", "parquet")],
)
def test_the_format_follows_the_name(source, form):
    data = parse_policy(bent(("people.csv", source))).data
    assert data.format == form
    assert data.delimiter == ("\t" if source.endswith(".tsv") else None)


def test_databases_and_stdin():
    duck = parse_policy(bent(('"people.csv"', '"a.duckdb"\ntable = "people"')), "/x").data
    assert (duck.format, duck.table, duck.source) == ("duckdb", "people", str(Path("/x/a.duckdb")))
    address = "postgresql://me@host/db"
    post = parse_policy(bent(('"people.csv"', f'"{address}"\ntable = "people"')), "/x").data
    assert (post.format, post.source) == ("postgres", address)
    assert parse_policy(bent(('"people.csv"', '"-"\nformat = "csv"')), "/x").data.source == "-"


def test_biased_sampling():
    text = bent(
        (
            '"poisson"\nrate = 0.1',
            '"biased"\nalready_drawn = true\nlow = 0.08\nhigh = 0.12\nexceptions = 3\nmax_rate = 0.5',
        )
    )
    policy = parse_policy(text).only
    assert policy.sampling.biased
    assert policy.planned_parameter is None
    assert (policy.sampling.exceptions, policy.sampling.max_rate) == (3, 0.5)


def test_an_open_domain_serves_suppression_only():
    opened = ('{ values = ["Female", "Male"] }', "{ prefix = 1 }")
    policy = parse_policy(bent(opened)).only
    assert (policy.closed, policy.cells) == (False, None)
    with pytest.raises(InvalidInput) as caught:
        parse_policy(bent(opened, ("k = 20", 'k = 20\nbelow_k = "noise"')))
    assert (caught.value.code, caught.value.where) == ("policy.open-domain", "column 'sex'")


def test_loading_reads_relative_to_the_policy(tmp_path):
    (tmp_path / "p.toml").write_text("\ufeff" + SOUND, encoding="utf-8")
    assert load.load_policy(tmp_path / "p.toml").data.source == str(tmp_path / "people.csv")


def test_every_value_of_a_policy_is_frozen():
    def below(kind: type[Section]) -> Iterator[type[Section]]:
        yield kind
        for one in kind.__subclasses__():
            yield from below(one)

    assert [kind.__name__ for kind in below(Section) if not kind.__struct_config__.frozen] == []
