"""Synopses and networks are rehearsed as they are released, and audited with one person's data or links replaced."""

import importlib
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

from crowdblend.errors import InvalidInput
from crowdblend.kinds.graph.rehearse import CHAIN, COUPLES, NOBODY, LinkedGroups, ReplacedLinks, worst_case_graphs
from crowdblend.lab.auditing.statistical.run import audit
from crowdblend.lab.rehearsal.made_up_people import Crowd
from crowdblend.lab.rehearsal.replacing import ReplacedPerson
from crowdblend.methods.planning.networks.request import Bounds
from crowdblend.policies.load import parse_policy
from crowdblend.publishing.policy_digest import plan_secret
from crowdblend.trusted.guarantees.privacy import Relation
from crowdblend.trusted.randomness import new_key
from tests.cases import for_each
from tests.lab.rehearsal.families import FAMILIES
from tests.lab.rehearsal.releases import audited, files_of, rehearsal, released, subject_of_text
from tests.policies.policies import policy_text

SYNOPSIS = policy_text(
    data='source = "people.parquet"\n{who}',
    sampling='design = "survey"\npeople = 30\nof = 50',
    columns=(
        'group = {{ values = ["x", "y"] }}\nage = {{ from = 0, to = 90, width = 30 }}',
        'home = {{ values = ["town", "land"] }}',
    ),
    privacy="epsilon = 12.0\naccept_epsilon = true",
    release='format = "{format}"',
    publish='kind = "synopsis"\n{asked}',
)
PEOPLE = tuple(
    Crowd(values, size)
    for values, size in (
        (("x", "0", "town"), 14),
        (("x", "45", "land"), 9),
        (("y", "60", "town"), 25),
        (("y", "31", "land"), 2),
    )
)
NETWORK = policy_text(
    data='source = "links.parquet"',
    privacy="epsilon = 40.0\naccept_epsilon = true",
    release='format = "{format}"',
    publish='kind = "graph"\npeople = 400\ndegree_bound = 5\n{bounds}\n{statistics}',
)
OF_LINKS = ("connectivity", "cycle-freeness", "eulerian", "average-degree")
AVERAGE = '[[publish.statistics]]\nname = "average"\nsamples = 60\ncolumn = "age"\nfrom = 10\nto = 90.5\n'
HISTOGRAM = (
    '[[publish.statistics]]\nname = "histogram"\nsamples = 80\ncolumn = "age"\nvalues = ["20", "30"]\nother = "else"\n'
)


def network(*statistics: str, bounds: str = "", ending: str = "csv") -> str:
    made = [
        f'[[publish.statistics]]\nname = "{name}"\nsamples = 60\n' if name in OF_LINKS else name for name in statistics
    ]
    listed = "" if set(statistics) <= set(OF_LINKS) else 'vertices = "vertices.parquet"\nvertex = "who"\n'
    return NETWORK.format(statistics="".join(made), bounds=listed + bounds, format=ending)


def links_about(policy: Any, web: LinkedGroups, folder: Path) -> Any:
    """The policy about the same network with other names, its links and people in another order."""
    names = [f"p{number}" for number in range(policy.publication.graph.bounds.people)]
    links = [(names[high], names[low]) for low, high in reversed(web.links)]
    parquet.write_table(
        pa.table({"source": [a for a, _ in links], "target": [b for _, b in links]}), folder / "l.parquet"
    )
    data = {name: [mine, *[other] * (len(names) - 1)][::-1]
            for name, mine, other in zip(policy.people_columns, web.data, web.others, strict=True)}  # fmt: skip
    parquet.write_table(pa.table({"who": names[::-1], **data}), folder / "v.parquet")
    vertices = str(folder / "v.parquet")
    return policy.replace(source=str(folder / "l.parquet"), graph=policy.publication.graph.replace(vertices=vertices))


@pytest.mark.parametrize(
    ("who", "asked", "ending"),
    [
        ('person = "id"', 'conjunctions = 2\nmechanism = "fitted"', "parquet"),
        ("rows_are_people = true", 'queries = [{ home = "town" }]\nmechanism = "exponential"', "csv"),
    ],
)
def test_synthetic_rows_are_the_bytes_of_the_release(who: str, asked: str, ending: str, tmp_path: Path) -> None:
    text, key = SYNOPSIS.format(who=who, asked=asked, format=ending), new_key()
    publish = rehearsal(subject_of_text(text), ReplacedPerson(PEOPLE, (PEOPLE[0].values,) * 2))
    files = publish(plan_secret(parse_policy(text), key))
    assert files == released(parse_policy(text), ["group", "age", "home"], PEOPLE, key, tmp_path)
    assert publish(plan_secret(parse_policy(text), key)) == files
    assert any(publish(new_key()) != files for _ in range(100)), "other keys, other releases"


def test_statistics_of_a_network_are_the_bytes_of_the_release(tmp_path: Path) -> None:
    text, key = network(*OF_LINKS[:3], AVERAGE, HISTOGRAM, ending="parquet"), new_key()
    web = LinkedGroups((COUPLES, CHAIN), CHAIN, 4, data=("20",), others=("31.5",))
    publish = rehearsal(subject_of_text(text), ReplacedLinks(web, (web, web)))
    files = publish(plan_secret(parse_policy(text).only, key))
    assert files == files_of(links_about(parse_policy(text).only, web, tmp_path), key, tmp_path)
    assert any(publish(new_key()) != files for _ in range(100)), "other keys, other releases"


@pytest.mark.parametrize(
    ("asked", "moved"),
    [
        # Two cells of each of the three tables of two columns.
        ("conjunctions = 2", 6),
        # Somebody in the middle of the ages and in town satisfies both, and who comes instead neither.
        ('queries = [{ age = "[30, 60)" }, { home = "town", age = "[30, 60)" }]', 2),
    ],
)
def test_a_synopsis_replaces_a_person_by_one_who_moves_as_many_counts_as_can_be(asked: str, moved: int) -> None:
    text = SYNOPSIS.format(who='person = "id"', asked=asked + '\nmechanism = "fitted"', format="csv")
    subject = subject_of_text(text)
    assert subject.guarantee.relation is Relation.REPLACE
    for pair in subject.pairs():
        (here, *rest), (instead, *same) = pair.more.people, pair.fewer.people
        assert rest == same
        assert 1 + sum(crowd.size for crowd in rest) == 50
        one, other = (subject.measure({subject.labels(crowd.values): 1}) for crowd in (here, instead))
        assert abs(one - other).sum() == moved == subject.plan.parameters.mechanism.queries.sensitivity


@for_each(
    ("people", "degree", "average"),
    [(4, 2, 2.0), (24, 2, 2.0), (24, 4, 4.0), (30, 9, 9.0), (300, 50, 1.0), (9, 3, 0.5)],
)
def test_webs_keep_to_the_bounds(people: int, degree: int, average: float) -> None:
    found = list(worst_case_graphs(Bounds(people, degree, average)))
    assert len(found) >= 2
    for _, *pair in found:
        for web in pair:
            ends = [end for link in web.links for end in link]
            assert web.people <= people
            assert max(ends) < web.people
            assert max(np.bincount(ends)) <= degree
            assert 2 * len(web.links) <= average * people
            assert len({frozenset(link) for link in web.links}) == len(web.links)
        here, instead = ({link for link in web.links if 0 not in link} for web in pair)
        assert here == instead, "nobody else's links differ"


@pytest.mark.parametrize("degree", [2, 5])
def test_the_best_web_moves_a_statistic_as_far_as_a_person_can(degree: int) -> None:
    """Connectedness by d edits, cycles by d − 1, an Euler path by d, and the number of links by d."""
    text = network(*OF_LINKS).replace("degree_bound = 5", f"degree_bound = {degree}")
    subject = subject_of_text(text)
    edits = 2 / (degree * 400)
    most = dict.fromkeys(range(4), 0.0)
    for _, *pair in worst_case_graphs(Bounds(400, degree, degree)):
        for number in subject.numbers_between(tuple(pair)):
            most[number.row] = max(most[number.row], abs(number.moved))
    assert most == pytest.approx(
        {0: degree * edits, 1: (degree - 1) * edits, 2: degree * edits, 3: 2 * degree / 400}, rel=1e-9
    )


def test_links_and_data_are_replaced_together() -> None:
    subject = subject_of_text(network("connectivity", "average-degree", AVERAGE))
    assert subject.guarantee.relation is Relation.REPLACE
    for pair in subject.pairs():
        assert (pair.more.links.data, pair.fewer.links.data) == (("10.0",), ("90.5",))
    losses = [sum(number.loss for number in subject.numbers_between(pair.more.pair)) for pair in subject.pairs()]
    assert max(losses) == pytest.approx(subject.guarantee.epsilon, rel=0.01), "all of what is promised is attained"
    again = pickle.loads(pickle.dumps(subject))
    assert again == subject
    assert again.guarantee == subject.guarantee


def test_data_alone_need_no_links() -> None:
    subject = subject_of_text(network(AVERAGE))
    (pair,) = subject.pairs()
    assert (pair.name, pair.more.links.linked) == ("other data", NOBODY)


def quieter(original: Callable[..., Any], factor: int) -> Callable[..., Any]:
    """Noise that is too small by a factor; by none, it is left out."""
    return lambda size, loss, source: original(size, loss * factor, source) if factor else np.zeros(size, np.int64)


@pytest.mark.parametrize("factor", [0, pytest.param(4, marks=pytest.mark.slow)], ids=["left out", "a quarter"])
def test_a_synopsis_with_too_little_noise_is_caught(factor: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of everybody, at ε = 1. With a quarter of the noise the best event has a probability of 0.8 against 0.04: with
    the 187 runs of the last round on each side more than ten standard deviations beyond the claim."""
    fitted = importlib.import_module("crowdblend.methods.mechanisms.synopsis.synopses")

    text = FAMILIES["synopsis, fitted"].policy.replace("\nrows = 4", "")
    text = text.replace("= 24", "= 200").replace("= 22", "= 200").replace("= 3.0", "= 1.0")
    subject = subject_of_text(text)
    monkeypatch.setattr(fitted, "discrete_laplace", quieter(fitted.discrete_laplace, factor))  # type: ignore[attr-defined]
    assert audit(subject, runs=1_000, error=1e-3).finding


@pytest.mark.parametrize("factor", [0, pytest.param(4, marks=pytest.mark.slow)], ids=["left out", "a quarter"])
def test_a_network_with_too_little_noise_is_caught(factor: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """A degree is promised at ε = 0.94. With a quarter of the noise the best event has a probability of 0.92 against
    0.08: with the 187 runs of the last round on each side more than ten standard deviations beyond the claim."""
    from crowdblend.methods.mechanisms import networks

    head, tail = FAMILIES["network"].policy.split('[[publish.statistics]]\nname = "connectivity"\nsamples = 11\n')
    subject = subject_of_text(head + tail.replace("= 12", "= 23"))
    monkeypatch.setattr(networks, "discrete_laplace", quieter(networks.discrete_laplace, factor))  # type: ignore[attr-defined]
    assert audit(subject, runs=1_000, error=1e-3).finding


@for_each(
    ("text", "settings", "says"),
    [
        (FAMILIES["synopsis, fitted"].policy, ["--epsilon", "0.5"], "epsilon must be left to the policy of a synopsis"),
        (FAMILIES["network"].policy, ["--epsilon", "0.5"], "epsilon must be left to the policy of a network"),
        (
            FAMILIES["synopsis, fitted"].policy.replace("of = 24", "of = 200000"),
            [],
            "people must be between 2 and 131,072 to audit a synopsis, got 200,000.",
        ),
        (
            FAMILIES["synopsis, fitted"].policy.replace('["x", "y"]', '["x"]'),
            [],
            "The columns must make between 2 and 100,000 different rows to audit a synopsis",
        ),
        (
            FAMILIES["network"].policy.replace("people = 24", "people = 200000"),
            [],
            "people must be between 4 and 131,072 to audit a network, got 200,000.",
        ),
        (network("connectivity", bounds="average_bound = 0.009"), [], "within these bounds they move none"),
        (
            network(AVERAGE, HISTOGRAM.replace('"20", "30"', '"x", "y"').replace('other = "else"\n', "")),
            [],
            "No value of column 'age' is allowed by all of its statistics",
        ),
    ],
)
def test_refusals(text: str, settings: list[str], says: str, tmp_path: Path) -> None:
    done = audited(text, tmp_path, *settings)
    assert done.exit_code == 2
    assert says in done.stderr


def test_a_synopsis_of_more_rows_than_can_be_fitted_often_is_refused() -> None:
    columns = "\n".join(f"c{place} = {{ from = 0, to = 20, width = 1 }}" for place in range(4))
    text = SYNOPSIS.format(who='person = "id"', asked="conjunctions = 1", format="csv").replace("50", "100000")
    head, tail = text.replace("30\n", "50000\n").split('group = { values = ["x", "y"] }\n')
    with pytest.raises(InvalidInput, match="got 160,000"):
        subject_of_text(head + columns + "\n" + tail[tail.index("[privacy]") :])
