"""Made-up people fit the domains that a policy declares: every kind takes them as it takes real ones."""

from datetime import date
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import crowdblend as cb
from crowdblend.errors import InvalidInput
from crowdblend.kinds import plan
from crowdblend.lab.rehearsal.made_up import make_up_people, make_up_vertices
from crowdblend.lab.rehearsal.made_up_values import draw_values
from crowdblend.methods.recoding.dates import DateRange, Dates
from crowdblend.methods.recoding.hierarchies import Hierarchies
from crowdblend.methods.recoding.intervals import Breaks, Intervals
from crowdblend.methods.recoding.values import Prefixes, Values
from crowdblend.policies.load import parse_policy
from crowdblend.policies.source import DataSource
from crowdblend.sources.engines.choice import default_engine
from crowdblend.sources.engines.frames import opened_frame
from crowdblend.trusted.randomness import ReleaseKey, new_key
from tests.cases import for_each
from tests.golden.releases import POLICIES
from tests.refusals import refuses

KINDS = ("table-open", "table-visits", "microdata", "points", "outlier-table", "statistics", "synopsis", "graph")


@for_each("name", KINDS)
def test_a_release_takes_them(name: str) -> None:
    policy = parse_policy(POLICIES[name]).only
    made = make_up_people(policy, None if name.startswith(("statistics", "synopsis", "graph")) else 5_000)
    with opened_frame(made) as frame:
        planned = plan(policy.with_source(DataSource("made up", "frame", frame=frame, rows_are_people=True)))
        key = ReleaseKey(new_key())
        assert planned.publish(planned.read(default_engine(), key), key).outputs


@for_each(
    "recoding",
    [
        Values(("a", "b", "c"), other="rest"),
        Intervals(0, 1, "0.1", include_stop=True),
        Intervals(0, 100, 10, top=True, bottom=True, missing="?"),
        Breaks((0, 5, 50)),
        Breaks((5,), bottom=True, top=True),
        Prefixes(2),
        DateRange("month", date(2020, 1, 1), date(2021, 1, 1)),
        Dates("year"),
        Hierarchies((("x", "g"), ("y", "g"), ("z", "h")), 1),
    ],
)
def test_every_value_has_a_class_and_every_class_of_the_domain_somebody(recoding) -> None:
    values = draw_values(recoding, 3_000, 0.5, np.random.default_rng()).to_pylist()
    found = {recoding.label(None if value is None else str(value)) for value in values}
    assert None not in found
    if recoding.labels is not None:
        # The rarest class has a probability above 1/100, so that 3,000 people miss it less than once in 10^13 tests.
        assert set(recoding.labels) - {"rest"} <= found


def test_spread_and_sparsity_say_how_people_lie_in_cells() -> None:
    policy = cb.Policy(
        publish=cb.Table(k=20),
        person="id",
        columns={"a": cb.values(*"abcdefghij"), "b": cb.values(*"0123456789")},
        sampling=cb.Poisson(0.5),
        epsilon=1.0,
        delta=1e-6,
    ).only
    even = make_up_people(policy, 20_000, spread=0)
    counts = even.group_by("a").aggregate([("a", "count")]).column("a_count").to_numpy()
    # Ten binomial counts of standard deviation 42: one is beyond 300 less than once in 10^11 tests.
    assert len(counts) == 10
    assert abs(counts - 2_000).max() < 300
    uneven = make_up_people(policy, 20_000, spread=1)
    shares = {value["values"]: value["counts"] / 20_000 for value in uneven.column("a").value_counts().to_pylist()}
    assert shares["a"] == pytest.approx(1 / 2.929, abs=0.03)
    assert shares["b"] == pytest.approx(0.5 / 2.929, abs=0.03)
    sparse = make_up_people(policy, 20_000, spread=0, sparsity=0.9)
    assert sparse.group_by(["a", "b"]).aggregate([]).num_rows <= 10


def test_a_public_table_lends_its_rows_and_the_rest_is_made_up() -> None:
    policy = cb.Policy(
        publish=cb.Table(k=20),
        person="id",
        columns={"a": cb.values("x", "y"), "b": cb.values("x", "y"), "c": cb.values("u", "v")},
        sampling=cb.Poisson(0.5),
        epsilon=1.0,
        delta=1e-6,
    ).only
    public = pa.table({"a": ["x", "y"], "b": ["y", "x"], "id": [7, 7]})
    made = make_up_people(policy, 100, like=public)
    assert made.column("id").to_pylist() == list(range(1, 101)), "nobody of the public table is among them"
    assert {(row["a"], row["b"]) for row in made.to_pylist()} == {("x", "y"), ("y", "x")}
    assert set(made.column("c").to_pylist()) == {"u", "v"}


def test_links_keep_to_the_bounds() -> None:
    text = POLICIES["graph"].replace("degree_bound = 8", "degree_bound = 8\naverage_bound = 1.5")
    policy: Any = parse_policy(text).only
    links = make_up_people(policy, spread=0)
    ends = np.concatenate([links.column("source").to_numpy(), links.column("target").to_numpy()])
    assert np.bincount(ends).max() <= 8
    assert 0 < len(ends) <= 1.5 * 3_000
    pairs = {
        tuple(sorted(pair))
        for pair in zip(*(links.column(name).to_pylist() for name in ("source", "target")), strict=True)
    }
    assert len(pairs) == links.num_rows
    assert all(one != other for one, other in pairs)
    asked = {"name": "average", "column": "age", "start": 0, "stop": 90, "samples": 1_400}
    with_data = policy.replace(
        graph=policy.publication.graph.replace(vertices="people.csv"),
        statistics=(*policy.publication.statistics, type(policy.publication.statistics[0])(**asked)),
    )
    people = make_up_vertices(with_data)
    assert people.column_names == ["id", "age"]
    assert people.num_rows == 3_000


@for_each(
    ("wrong", "where"),
    [
        ({"people": 0}, "people"),
        ({"people": 10**9}, "people"),
        ({"spread": -1.0}, "spread"),
        ({"sparsity": 1.0}, "sparsity"),
        ({"sparsity": 0.5, "like": pa.table({"sex": ["female"]})}, "sparsity"),
        ({"like": pa.table({"other": ["female"]})}, "like"),
    ],
)
def test_what_cannot_be_made_up_is_refused(wrong, where: str) -> None:
    with refuses(f"rehearsal.{where}", where):
        make_up_people(parse_policy(POLICIES["table"]).only, **wrong)


def test_a_declared_number_of_people_stays() -> None:
    with pytest.raises(InvalidInput, match="declares 8,000 people"):
        make_up_people(parse_policy(POLICIES["statistics"]).only, 10)
