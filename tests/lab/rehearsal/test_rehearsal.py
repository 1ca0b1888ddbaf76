"""A rehearsal is the release itself: the same bytes for the same key, run after run."""

from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from crowdblend.errors import InvalidInput
from crowdblend.kinds.shared.outputs import NumbersOutput
from crowdblend.kinds.shared.plan import Result
from crowdblend.lab.auditing.statistical.subject import hard_sizes
from crowdblend.lab.rehearsal.made_up_people import Crowd, Files
from crowdblend.lab.rehearsal.made_up_values import examples
from crowdblend.lab.rehearsal.subject import subject_of
from crowdblend.methods.recoding.dates import Dates
from crowdblend.methods.recoding.intervals import Breaks, Intervals
from crowdblend.methods.recoding.values import Prefixes, Values
from crowdblend.policies.load import parse_policy
from crowdblend.publishing.policy_digest import plan_secret
from crowdblend.trusted.randomness import new_key
from tests.cases import for_each
from tests.lab.rehearsal.families import FAMILIES
from tests.lab.rehearsal.releases import rehearsal, released, subject_of_text
from tests.policies.policies import policy_text

POPULATION = (Crowd(("x", "0"), 14), Crowd(("x", "45"), 9), Crowd(("y", "60"), 25), Crowd(("y", "30"), 2))
OPEN = policy_text(
    data='source = "people.parquet"\nperson = "id"',
    sampling='design = "poisson"\nrate = 0.7',
    columns='zip = { prefix = 2 }\nborn = { date = "year" }',
    privacy="accept_delta = true\nepsilon = 1.0",
    publish='kind = "table"\nk = 4',
)


@for_each(
    "name",
    [name for name, family in FAMILIES.items() if parse_policy(family.policy).kind in ("table", "microdata", "points")],
    daily=5,
)
def test_a_rehearsal_gives_the_bytes_of_the_release(name: str, tmp_path: Path) -> None:
    policy, key = parse_policy(FAMILIES[name].policy).only, new_key()
    publish = rehearsal(subject_of_text(FAMILIES[name].policy), POPULATION)
    files = publish(plan_secret(policy, key))
    assert list(files) == ["data.csv"]
    assert files == released(policy, ["group", "age"], POPULATION, key, tmp_path)
    others = {publish(new_key())["data.csv"] for _ in range(20)}
    assert len(others) > 1, "other keys, other releases"
    assert publish(plan_secret(policy, key)) == files


def _folder_made(told) -> None:
    told.send(str(Files()._folder))


def test_files_are_gone_with_the_process_that_wrote_them() -> None:
    """They are in memory: what is left behind stays there until the machine is started anew."""
    from multiprocessing import get_context

    spawn = get_context("spawn")
    told, tells = spawn.Pipe()
    process = spawn.Process(target=_folder_made, args=(tells,))
    process.start()
    folder = Path(told.recv())
    process.join()
    assert not folder.exists()


def test_files_of_one_publication_are_not_seen_with_the_next() -> None:
    files = Files()
    for name in ("first", "second"):
        output = NumbersOutput(f"{name}.csv", {"x": [1]})
        assert files.contents(Result((output,), ())) == {f"{name}.csv": b'"x"\n1\n'}


def test_open_columns_in_parquet(tmp_path: Path) -> None:
    population = (Crowd(("ab1", "2000-01-01"), 9), Crowd(("cd", "1999-12-31"), 8), Crowd(("zz", "1950-06-15"), 3))
    subject, key = subject_of_text(OPEN), new_key()
    files = rehearsal(subject, population)(plan_secret(parse_policy(OPEN).only, key))
    assert sorted(files) == ["data.parquet"]
    assert subject.publish(population, key)[1] is None
    assert files == released(parse_policy(OPEN), ["zip", "born"], population, key, tmp_path)


def test_a_table_that_was_already_drawn_is_drawn_at_the_assumed_rate() -> None:
    text, key = FAMILIES["suppressed table"].policy, new_key()
    drawn = text.replace('"poisson"', '"coins"')
    one, other = (rehearsal(subject_of_text(policy), POPULATION)(key) for policy in (drawn, text))
    assert one == other


def test_biased_sampling_is_rehearsed_at_its_rate() -> None:
    text = FAMILIES["suppressed table"].policy.replace('"poisson"', '"biased"\nlow = 0.7\nhigh = 0.8')
    subject = subject_of_text(text.replace("epsilon = 0.8", "epsilon = 2.0"))
    assert list(rehearsal(subject, POPULATION)(new_key())) == ["data.csv"]


@pytest.mark.parametrize("stacked", [True, False])
def test_runs_are_not_repeated(stacked: bool) -> None:
    """More than twenty outcomes, 150 times: seen twice equally often they are with a chance far below 1e-6."""
    subject = replace(FAMILIES["suppressed table"].subject(hard_sizes, people=60), stacked=stacked)
    population = subject.pairs()[-1].more
    first, second = (subject.observe(population, 150)["the files"] for _ in range(2))
    assert len(first) > 20
    assert first != second


def test_pairs_differ_in_one_person_and_have_the_hard_sizes() -> None:
    subject = FAMILIES["suppressed table"].subject(hard_sizes, people=100)
    sizes = set()
    for pair in subject.pairs():
        more, fewer = (Counter({crowd.values: crowd.size for crowd in side}) for side in (pair.more, pair.fewer))
        assert (more - fewer).total() == 1
        assert not fewer - more
        assert more.total() == 100
        sizes.add(pair.more[0].size)
    assert {9, 10, 11, 1} <= sizes
    assert {pair.more[0].values for pair in subject.pairs()} == {("x", "0.0"), ("y", "60.0")}
    few = FAMILIES["suppressed table"].subject(hard_sizes, people=9).pairs()
    assert {pair.more[1].size for pair in few if pair.more[0].size >= 9} == {1}  # somebody is elsewhere


def test_parts_of_a_sample_are_hardest_at_the_rate_of_whoever_is_in_no_other_part() -> None:
    """Of 0.63 and 0.035 of the people, 0.63 of the other 0.965 and 0.035 of the other 0.37."""
    of_each = (hard_sizes(6, 0.63 / 0.965, 0.8), hard_sizes(3, 0.035 / 0.37, 0.8))
    found: Any = FAMILIES["parts of one sample"].subject(hard_sizes, people=100)
    assert {size for _, size in found.sizes} == {size for sizes in of_each for size in sizes.values() if size <= 100}


def test_strata_with_the_smallest_and_the_largest_rate_are_audited() -> None:
    text = FAMILIES["stratified table"].policy.replace('["x", "y"]', '["a", "b", "c", "d"]')
    text = text.replace("{ x = 0.8, y = 0.4 }", "{ a = 0.5, b = 0.8, c = 0.3, d = 0.4 }")
    assert {pair.name.split()[1].strip(",") for pair in subject_of_text(text).pairs()} == set("abcd")


def test_noisy_cells_are_audited_with_somebody_alone_and_with_one_other() -> None:
    found: Any = FAMILIES["threshold"].subject(hard_sizes)
    assert [size for _, size in found.sizes[:2]] == [1, 2]


def test_crowds_too_large_to_be_run_are_left_out() -> None:
    """At rate 1/2 the size at which one fewer shows best grows without bound as ε comes close to ln 2."""
    text = FAMILIES["suppressed table"].policy.replace("rate = 0.8", "rate = 0.5").replace("k = 10", "k = 500")
    assert hard_sizes(500, 0.5, 0.69)["one fewer shows best"] > 1 << 17
    subject = subject_of_text(text, epsilon=0.69)
    assert [size for _, size in subject.sizes] == [1, 499, 500, 501, 667, 1000]


@pytest.mark.parametrize("name", ["suppressed table", "points"])
def test_where_there_is_one_class_nobody_is_audited_alone(name: str) -> None:
    """Without that person the table would be empty, and an empty table is not released."""
    text = FAMILIES[name].policy.replace('["x", "y"]', '["x"]').replace("to = 90", "to = 30")
    pairs = subject_of_text(text).pairs()
    assert min(sum(crowd.size for crowd in pair.fewer) for pair in pairs) == 8


def test_a_subject_travels_without_its_rehearsals() -> None:
    import pickle

    subject = FAMILIES["suppressed table"].subject(hard_sizes)
    seen = subject.observe(subject.pairs()[0].more, 5)
    assert sum(seen["the files"].values()) == 5
    again = pickle.loads(pickle.dumps(subject))
    assert again == subject
    assert again.guarantee == subject.guarantee


@for_each(
    "recoding",
    [
        Values(("a", "b"), other="rest", missing="none"),
        Intervals(0, 100, 10, bottom=True, top=True),
        Breaks((0, 5, 7), top=True),
        Prefixes(3),
        Dates("month"),
    ],
)
def test_examples_are_of_different_classes_and_reach_the_last_one(recoding) -> None:
    found = examples(recoding, 4)
    labels = [recoding.label(value) for value in found]
    assert None not in labels
    assert len(set(labels)) == len(labels) >= 3
    if recoding.closed:
        assert (labels[0], labels[-1]) == (recoding.labels[0], recoding.labels[-1])


def test_kinds_that_cannot_be_audited_are_named() -> None:
    class Other:
        kind = "sculpture"

    with pytest.raises(InvalidInput, match="no kind 'sculpture'"):
        subject_of(Other(), hard_sizes, name="x")
