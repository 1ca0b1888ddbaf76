"""Networks from a policy to a folder: what is published, what is refused, and what stays at home."""

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from crowdblend.errors import CrowdblendError, DoesNotVerify, Infeasible, InvalidInput
from crowdblend.kinds.graph.policy import with_graph
from crowdblend.kinds.shared.facts import derive, read_facts, to_json
from crowdblend.ledger import Ledger
from crowdblend.policies.load import load_policy, parse_policy
from crowdblend.publishing.release import release
from crowdblend.sources.engines.choice import default_engine
from crowdblend.trusted.calculus import verify_file
from crowdblend.trusted.guarantees.aggregates import Exploration, Neighbourhood, RandomSamples, Together
from crowdblend.trusted.guarantees.privacy import Relation
from tests.cases import for_each
from tests.plans import plan
from tests.policies.policies import policy_text
from tests.refusals import is_refusal, refuses

POLICY = policy_text(
    data='source = "links.csv"',
    privacy="epsilon = 2.0",
    publish=(
        'kind = "graph"\npeople = 4000\ndegree_bound = 4\nself_loops = "refuse"\nduplicates = "refuse"',
        '[[publish.statistics]]\nname = "connectivity"\nsamples = 200',
        '[[publish.statistics]]\nname = "average-degree"\nsamples = 300',
    ),
)
KEY = bytes(range(32))
# Geometric noise exceeds its error once in 20 times, and this many errors once in a million times.
RARELY = math.log(1e6) / math.log(20)


def town() -> nx.Graph:
    """1,000 squares, and in every tenth of them one more link; nobody alone."""
    graph: Any = nx.Graph()
    for first in range(0, 3960, 4):
        nx.add_cycle(graph, range(first, first + 4))
        if first % 40 == 0:
            graph.add_edge(first, first + 2)
    return graph


def write(folder: Path, rows: list[tuple[Any, Any]] | None = None, policy: str = POLICY) -> Path:
    links = pd.DataFrame(rows if rows is not None else list(town().edges), columns=["source", "target"])
    links.to_csv(folder / "links.csv", index=False)
    (folder / "policy.toml").write_text(policy)
    return folder / "policy.toml"


def published(policy: Path, **given: Any) -> tuple[pd.DataFrame, Mapping[str, Any]]:
    done = release(load_policy(policy), policy.parent / "out", key=KEY, **given)
    verify_file(done.folder)
    return pd.read_parquet(done.folder / "data.parquet"), done.internal


def test_a_release_is_right_up_to_its_error(tmp_path: Path) -> None:
    rows, internal = published(write(tmp_path))
    graph = town()
    components, links = nx.number_connected_components(graph) + 40, graph.number_of_edges()
    true = [(components - 1) / (4 * 4000 / 2), 2 * links / 4000]
    assert rows["statistic"].tolist() == ["connectivity", "average-degree"]
    assert rows["confidence"].tolist() == [0.95, 0.95]
    assert list(internal["statistics_without_noise"].values()) == [[true[0]], [true[1]]]
    assert (abs(rows["value"] - true) <= RARELY * rows["error"]).all()
    assert internal["components_by_size"] == {"1": 40, "4": 990}
    assert sum(internal["people_by_degree"].values()) == 4000


DEGREES = '[[publish.statistics]]\nname = "degrees"\nbreaks = [1, 3, 4]\nsamples = 1500\n'


def of_degrees(asked: str = DEGREES) -> str:
    return POLICY[: POLICY.index("[[publish.statistics]]")] + asked


def test_a_degree_distribution_is_right_up_to_its_error_and_drawn(tmp_path: Path) -> None:
    rows, internal = published(write(tmp_path, policy=of_degrees()))
    ends = np.bincount([degree for _, degree in town().degree], minlength=4)
    true = np.array([40, ends[1] + ends[2], ends[3], 0]) / 4000
    assert rows["class"].tolist() == ["0", "1–2", "3", "4 and more"]
    assert rows["statistic"].tolist() == ["degrees"] * 4
    assert internal["statistics_without_noise"] == {"degrees": true.tolist()}
    assert (abs(rows["value"] - true) <= RARELY * rows["error"]).all()
    page = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert "The share of people by their number of links" in page
    assert page.count("<circle") >= 4
    made = plan(load_policy(tmp_path / "policy.toml").only)
    knowledge, differential = (one.conclusion for one in made.certificate().derivations)
    assert knowledge.aggregate == Neighbourhood(1500, 1)
    # 4d/n and four roundings, where concealing costs 2(d + 1)/n and what 1,500 people do not tell.
    (planned,) = made.plans
    assert differential.epsilon == pytest.approx((16 / 4000 + 4 * planned.resolution) / planned.scale, rel=1e-12)


@for_each(
    ("asked", "reason"),
    [
        (DEGREES.replace("[1, 3, 4]", "[3, 1]"), "do not rise"),
        (DEGREES.replace("[1, 3, 4]", "[0, 1]"), "do not rise"),
        (DEGREES.replace("[1, 3, 4]", "[1, 1]"), "do not rise"),
        (DEGREES.replace("[1, 3, 4]", "[]"), "do not rise"),
        (DEGREES.replace("[1, 3, 4]", "[1, 5]"), "beyond degree_bound = 4"),
        (DEGREES.replace("breaks = [1, 3, 4]\n", ""), "breaks"),
        (DEGREES.replace('"degrees"', '"connectivity"'), "breaks"),
        (DEGREES + DEGREES, "twice"),
    ],
)
def test_bands_that_are_none_are_refused(tmp_path: Path, asked: str, reason: str) -> None:
    with pytest.raises(InvalidInput, match=reason):
        parse_policy(of_degrees(asked), tmp_path)


@for_each(
    "change", [{"breaks": [1, 3, 5]}, {"breaks": [3, 1, 4]}, {"breaks": []}, {"labels": ["0"]}, {"name": "eulerian"}]
)
def test_facts_of_other_bands_are_refused(tmp_path: Path, change: dict[str, Any]) -> None:
    made = plan(load_policy(write(tmp_path, policy=of_degrees())).only)
    facts = to_json(made.facts())
    assert derive(read_facts(facts))
    facts["statistics"][0] |= change
    with pytest.raises(DoesNotVerify):
        derive(read_facts(facts))


def test_the_same_key_gives_the_same_numbers_whatever_the_order_and_the_names(tmp_path: Path) -> None:
    rows, _ = published(write(tmp_path))
    ends = np.random.default_rng(2).permutation(np.array(town().edges))[:, ::-1]
    named = [(f"p{a:05}", f"p{b:05}") for a, b in ends.tolist()]
    again, _ = published(write(tmp_path, named), force=True)
    pd.testing.assert_frame_equal(rows, again)


def test_a_graph_from_python(tmp_path: Path) -> None:
    rows, _ = published(write(tmp_path))
    policy = with_graph(parse_policy(POLICY, tmp_path).only, town())
    folder = release(policy, tmp_path / "python", key=KEY).folder
    pd.testing.assert_frame_equal(rows, pd.read_parquet(folder / "data.parquet"))
    with refuses("data.directed-graph"):
        release(with_graph(policy, nx.DiGraph([(1, 2)])), tmp_path / "directed")


def test_a_graph_from_python_counts_those_without_links(tmp_path: Path) -> None:
    graph = town()
    graph.add_nodes_from(range(10_000, 10_040))
    policy = with_graph(parse_policy(POLICY, tmp_path).only, graph)
    release(policy, tmp_path / "all")
    graph.add_node("one more")
    with refuses("data.people", "[[publish]] people"):
        release(policy, tmp_path / "more")


def test_exact_numbers_are_for_the_steward_alone(tmp_path: Path) -> None:
    policy = write(tmp_path)
    _, internal = published(policy)
    assert {file.name for file in (tmp_path / "out").iterdir()} == {
        "README.md",
        "certificate.json",
        "data.parquet",
        "datapackage.json",
        "report.html",
    }
    assert {"statistics_without_noise", "people_by_degree", "components_by_size"} <= set(internal)
    report = (tmp_path / "out" / "report.html").read_text()
    assert "Statistics of a network of 4,000 people" in report
    assert "so it lies between" in report
    assert "Components by" not in report


def test_the_certificate_says_relative_to_whom(tmp_path: Path) -> None:
    made = plan(load_policy(write(tmp_path)).only)
    knowledge, differential = (one.conclusion for one in made.certificate().derivations)
    parts = knowledge.aggregate
    assert isinstance(parts, Together)
    assert parts.aggregates == (Exploration(200, 25), Neighbourhood(300, 1))
    assert 1.99 < knowledge.epsilon <= 2.0
    assert differential.relation is Relation.REPLACE
    assert 0 < differential.epsilon < knowledge.epsilon
    told = dict(made.describe())
    assert "meaningful" in told["would need"]


def test_people_s_data_under_random_samples(tmp_path: Path) -> None:
    policy = POLICY.replace("degree_bound = 4", 'degree_bound = 4\nvertices = "people.parquet"\nvertex = "who"')
    policy = policy.replace("epsilon = 2.0", "epsilon = 4.0")
    policy += """
[[publish.statistics]]
name = "average"
column = "age"
from = 10
to = 100
samples = 400

[[publish.statistics]]
name = "histogram"
column = "colour"
values = ["red", "blue"]
other = "other"
samples = 900
"""
    rng = np.random.default_rng(1)
    people = pd.DataFrame({"who": range(4000), "age": rng.integers(10, 100, 4000), "colour": "red"})
    people.loc[:999, "colour"] = "blue"
    people.loc[3999, "colour"] = "green"
    people.sample(frac=1, random_state=1).to_parquet(tmp_path / "people.parquet")
    rows, internal = published(write(tmp_path, policy=policy))
    exact = internal["statistics_without_noise"]
    assert exact["average of age"] == [pytest.approx(people["age"].mean(), rel=1e-12)]
    assert exact["histogram of colour"] == [2999 / 4000, 1000 / 4000, 1 / 4000]
    assert rows["class"].fillna("-").tolist() == ["-", "-", "-", "red", "blue", "other"]
    assert abs(rows["value"][2] - people["age"].mean()) <= RARELY * rows["error"][2]
    made = plan(load_policy(tmp_path / "policy.toml").only).certificate().derivations[0].conclusion
    assert RandomSamples(1300, 4000) in made.aggregate.aggregates
    for beyond in (9, math.inf, math.nan):
        ages = people["age"].astype(float).tolist()
        ages[0] = beyond
        columns = {"who": people["who"], "age": pa.array(ages, from_pandas=False), "colour": people["colour"]}
        pq.write_table(pa.table(columns), tmp_path / "people.parquet")
        refused(tmp_path / "policy.toml", "data.outside-bounds")
    ledger = Ledger.create(tmp_path / "ledger.sqlite")
    with pytest.raises(InvalidInput):
        release(load_policy(tmp_path / "policy.toml"), tmp_path / "spent", ledger=ledger)
    assert ledger.entries() == ()
    people[:-1].to_parquet(tmp_path / "people.parquet")
    refused(tmp_path / "policy.toml", "data.vertices")


def test_every_way_of_writing_nan_is_the_same_class(tmp_path: Path) -> None:
    """Counted apart and then under one name, a single person would have hidden all the others of the class."""
    policy = POLICY.replace("degree_bound = 4", 'degree_bound = 4\nvertices = "people.parquet"\nvertex = "who"')
    asked = '[[publish.statistics]]\nname = "histogram"\ncolumn = "x"\nvalues = ["nan", "1.0"]\nsamples = 900\n'
    policy = policy.replace("epsilon = 2.0", "epsilon = 4.0") + asked
    values = np.ones(4000)
    values[:1000] = np.nan
    values[1000:1001] = np.array([0x7FF8000000000001], np.uint64).view(np.float64)
    table = pa.table({"who": pa.array(np.arange(4000)), "x": pa.array(values, from_pandas=False)})
    pq.write_table(table, tmp_path / "people.parquet")
    _, internal = published(write(tmp_path, policy=policy))
    assert internal["statistics_without_noise"]["histogram of x"] == [1001 / 4000, 2999 / 4000]


def test_what_samples_and_error_cost_comes_off_the_release_s_epsilon(tmp_path: Path) -> None:
    asked = POLICY.replace("samples = 200", "samples = 200\nerror = 0.15")
    made = plan(load_policy(write(tmp_path, policy=asked)).only)
    connectivity, degree = made.plans
    assert connectivity.error <= 0.15
    assert degree.epsilon == pytest.approx(2.0 - connectivity.epsilon, rel=1e-9)
    assert made.certificate().derivations[0].conclusion.epsilon <= 2.0
    refused(write(tmp_path, policy=asked.replace("error = 0.15", "error = 0.05")), "policy.epsilon-shared")


def refused(policy: Path, words: str) -> None:
    folder = policy.parent / "refused"
    with pytest.raises(CrowdblendError) as caught:
        release(load_policy(policy), folder)
    assert is_refusal(caught.value, words), caught.value
    message = str(caught.value)
    assert "\n" not in message
    assert len(message) < 330
    assert message.endswith((".", "?"))
    assert not folder.exists()


@for_each(
    ("old", "new", "words"),
    [
        ("degree_bound = 4\n", "", "policy.missing-key"),
        ("degree_bound = 4", "degree_bound = 2", "data.degree-bound"),
        ("degree_bound = 4", "degree_bound = 1", "policy.range"),
        ("degree_bound = 4", "degree_bound = 4\naverage_bound = 2", "data.average-bound"),
        ("degree_bound = 4", "degree_bound = 4\naverage_bound = 5", "policy.average-bound"),
        ("people = 4000", "people = 3000", "data.people"),
        ("people = 4000\n", "", "policy.missing-key"),
        ("samples = 200", "samples = 200\nerror = 0.1\nepsilon = 1", "policy.unknown-of-statistic"),
        ("samples = 200", "", "policy.unknown-of-statistic"),
        ("samples = 200", "error = 0", "policy.error"),
        ("samples = 200", "error = 1e-9", "plan.error-out-of-reach"),
        ("samples = 200", "samples = 3999", "plan.too-many-samples"),
        ("samples = 200", 'samples = 200\ncolumn = "age"', "policy.statistic"),
        ("epsilon = 2.0", "epsilon = 0.01", "plan.useless-statistic"),
        ('kind = "graph"', 'kind = "table"', "policy.unknown-key"),
        ("samples = 200", "samples = 200\nresolution = 1e-15", "plan.resolution"),
        ("degree_bound = 4", "degree_bound = 4\nk = 20", "policy.unknown-key"),
        ('name = "connectivity"', 'name = "average-degree"', "average-degree twice"),
        ('name = "connectivity"', 'name = "diameter"', "policy.choice"),
        ('name = "connectivity"', 'name = "average"\ncolumn = "age"\nfrom = 0\nto = 9', "policy.vertices"),
        ('source = "links.csv"', 'source = "links.csv"\nperson = "id"', "policy.person"),
        ("[privacy]", '[sampling]\ndesign = "poisson"\nrate = 0.1\n[privacy]', "policy.unknown-key"),
        ("[privacy]", '[columns]\nage = { values = ["a"] }\n[privacy]', "policy.unknown-key"),
        ("people = 4000", 'people = 4000\ntarget = "source"', "policy.link-columns"),
        ("people = 4000", 'people = 4000\ntarget = "friend"', "data.missing-column"),
    ],
)
def test_policies_are_refused_in_one_sentence(tmp_path: Path, old: str, new: str, words: str) -> None:
    assert old in POLICY
    refused(write(tmp_path, policy=POLICY.replace(old, new, 1)), words)


def test_a_dry_run_misses_columns_without_reading(tmp_path: Path) -> None:
    policy = load_policy(write(tmp_path, policy=POLICY.replace("people = 4000", 'people = 4000\ntarget = "friend"', 1)))
    with pytest.raises(CrowdblendError) as caught:
        plan(policy.only).check_source(default_engine())
    assert caught.value.code == "data.missing-column"


@for_each(
    ("rows", "words"),
    [
        ([(1, 2), (2, None)], "data.blank"),
        ([("a", "b"), ("", "c")], "data.blank"),
        ([("a", "b"), ("c", "  ")], "data.blank"),
        ([], "data.no-links"),
        ([(1, 2), (3, 3)], "Some links join a person with itself"),
        ([(1, 2), (2, 1)], "Some links are listed twice"),
    ],
)
def test_links_are_refused_in_one_sentence(tmp_path: Path, rows: list[tuple[Any, Any]], words: str) -> None:
    refused(write(tmp_path, rows), words)


def test_loops_and_repeats_are_dropped_if_the_policy_says_so(tmp_path: Path) -> None:
    edges = list(town().edges)
    dropping = POLICY.replace('"refuse"', '"drop"')
    rows, _ = published(write(tmp_path, policy=dropping))
    again, _ = published(write(tmp_path, [*edges, (5, 5), *[(b, a) for a, b in edges[:50]]], dropping), force=True)
    pd.testing.assert_frame_equal(rows, again)
    refused(write(tmp_path, [(1, 1)], dropping), "data.no-links")


def test_names_may_be_numbers_in_one_column_and_texts_in_the_other(tmp_path: Path) -> None:
    rows, _ = published(write(tmp_path))
    policy = write(tmp_path, policy=POLICY.replace("links.csv", "links.parquet"))
    ends = np.array(town().edges)
    pd.DataFrame({"source": ends[:, 0], "target": ends[:, 1].astype(str)}).to_parquet(tmp_path / "links.parquet")
    pd.testing.assert_frame_equal(rows, published(policy, force=True)[0])


def test_parts_of_names_that_are_numbers_must_be_whole(tmp_path: Path) -> None:
    policy = write(tmp_path, policy=POLICY.replace("links.csv", "links.parquet"))
    pd.DataFrame({"source": [1.0, 2.0], "target": [2.0, 3.0]}).to_parquet(tmp_path / "links.parquet")
    refused(policy, "data.name-type")


def test_a_useless_release_says_how_many_people_it_takes(tmp_path: Path) -> None:
    policy = write(tmp_path, policy=POLICY.replace("samples = 300", "samples = 5000"))
    with pytest.raises(Infeasible, match="or publish about at least 5201 people"):
        plan(load_policy(policy).only)


EXAMPLES = Path(__file__).parents[2] / "examples"
DATA = EXAMPLES.parents[1] / "shared" / "data" / "graphs"


@pytest.mark.parametrize("name", ["lastfm", pytest.param("github", marks=pytest.mark.slow)])
def test_the_real_networks_agree_with_networkx(name: str, tmp_path: Path) -> None:
    if not DATA.is_dir():
        pytest.skip("the folder with the real networks does not lie beside the checkout")
    policy: Any = load_policy(EXAMPLES / f"{name}.toml").only
    done = release(policy, tmp_path / name)
    verify_file(done.folder)
    graph = nx.from_pandas_edgelist(pd.read_parquet(DATA / f"{name}.parquet"))
    components = list(nx.connected_components(graph))
    odd = sum(degree % 2 for _, degree in graph.degree)
    even = sum(all(graph.degree[v] % 2 == 0 for v in part) for part in components if len(part) > 1)
    whole = policy.publication.graph.bounds.degree_bound * len(graph) / 2
    expected = {
        "connectivity": (len(components) - 1) / whole,
        "cycle-freeness": (graph.number_of_edges() - len(graph) + len(components)) / whole,
        "eulerian": max(0, odd // 2 + even - 1) / whole,
        "average-degree": 2 * graph.number_of_edges() / len(graph),
    }
    internal = done.internal
    assert len(graph) == policy.publication.graph.bounds.people
    for statistic, values in internal["statistics_without_noise"].items():
        assert values == [pytest.approx(expected[statistic], rel=1e-12)]
