"""Points, outlier tables and statistics are rehearsed as they are released, and audited where their promises are."""

import json
from pathlib import Path

import pytest

from crowdblend.lab.auditing.statistical.run import audit
from crowdblend.lab.auditing.statistical.subject import hard_sizes
from crowdblend.lab.rehearsal.made_up_people import Crowd
from crowdblend.lab.rehearsal.observers import ShownFile
from crowdblend.lab.rehearsal.replacing import ReplacedPerson
from crowdblend.methods.planning.statistics.ways import EVERYBODY, SAMPLE
from crowdblend.policies.load import parse_policy
from crowdblend.publishing.policy_digest import plan_secret
from crowdblend.trusted.guarantees.privacy import Relation
from crowdblend.trusted.randomness import new_key
from tests.cases import for_each
from tests.lab.rehearsal.families import FAMILIES
from tests.lab.rehearsal.releases import audited, rehearsal, released, subject_of_text
from tests.policies.policies import policy_text

OUTLIERS = policy_text(
    data='source = "people.parquet"\nperson = "id"',
    sampling="{sampling}",
    columns='group = {{ values = ["x", "y"] }}\nage = {{ from = 0, to = 90, width = 30 }}',
    privacy="epsilon = 2.0",
    release='format = "csv"',
    publish='kind = "outlier-table"\nlimit = 12\ntransition = 6',
)
REGISTER = 'design = "everybody"'
BLOCKS = policy_text(
    data='source = "people.parquet"\nrows_are_people = true',
    sampling='design = "poisson"\nrate = 0.7',
    columns='group = { values = ["x", "y"] }\nage = { from = 0, to = 90, resolution = 1, outside = "drop" }',
    privacy="accept_delta = true\nepsilon = 2.0",
    publish=(
        'kind = "points"\nk = 3\nnoise_epsilon = 1.0\nshow_blocks = true',
        '[[publish.boxes]]\nname = "young"\nbox = { age = [10, 30] }',
        '[[publish.boxes]]\nname = "old"\nbox = { age = [30, 80] }',
    ),
)
STATISTICS = policy_text(
    data='source = "people.parquet"\n{who}',
    sampling='design = "survey"\npeople = {sample}\nof = 50',
    columns=(
        'group = {{ values = ["x", "y"] }}\nage = {{ from = 0, to = 90, width = 30 }}',
        'height = {{ from = 0, to = 2, resolution = 0.01, outside = "clamp" }}',
    ),
    privacy="epsilon = {epsilon}",
    publish=(
        'kind = "statistics"',
        '[[publish.statistics]]\nname = "height"\naverage = "height"',
        '[[publish.statistics]]\nname = "age"\naverage = "age"',
        '[[publish.statistics]]\nname = "young x"\nfraction = {{ group = "x", age = "[0, 30)" }}',
        '[[publish.statistics]]\nname = "ages of y"\nhistogram = "age"\nwhere = {{ group = "y" }}',
    ),
)
PEOPLE = (Crowd(("x", "0"), 14), Crowd(("x", "45"), 9), Crowd(("y", "60"), 25), Crowd(("y", "31"), 2))
HEIGHTS = ("1.5", "1.755", "3", "0")
MEASURED = tuple(
    Crowd((height, *crowd.values[::-1]), crowd.size) for height, crowd in zip(HEIGHTS, PEOPLE, strict=True)
)


@for_each(
    "text", [BLOCKS, OUTLIERS.format(sampling=REGISTER), OUTLIERS.format(sampling='design = "poisson"\nrate = 0.6')]
)
def test_counted_kinds_give_the_bytes_of_the_release(text: str, tmp_path: Path) -> None:
    publish, key = rehearsal(subject_of_text(text), PEOPLE), new_key()
    files = publish(plan_secret(parse_policy(text), key))
    assert files == released(parse_policy(text), ["group", "age"], PEOPLE, key, tmp_path)
    assert any(publish(new_key()) != files for _ in range(100)), "other keys, other releases"


@for_each(
    ("who", "sample", "epsilon", "ways"),
    [
        ('person = "id"', 20, 1.0, {SAMPLE}),
        ("rows_are_people = true", 20, 1.0, {SAMPLE}),
        ('person = "id"', 49, 60.0, {EVERYBODY}),
    ],
)
def test_statistics_give_the_bytes_of_the_release(
    who: str, sample: int, epsilon: float, ways: set[str], tmp_path: Path
) -> None:
    accepted = f"{epsilon}\naccept_epsilon = true"
    subject, key = subject_of_text(STATISTICS.format(who=who, sample=sample, epsilon=accepted)), new_key()
    assert {way.mechanism for _, way in subject.plan.parameters.ways} == ways
    publish = rehearsal(subject, ReplacedPerson(MEASURED, (MEASURED[0].values,) * 2))
    files = publish(plan_secret(subject.policy, key))
    assert files == released(subject.policy, subject.policy.needed_columns, MEASURED, key, tmp_path)
    assert any(publish(new_key()) != files for _ in range(100)), "other keys, other releases"


def test_statistics_replace_a_person_by_whom_the_noise_hides_least() -> None:
    """Nobody moves the numbers further than from one end of both averages to the other, and from the young x to a y."""
    subject = subject_of_text(STATISTICS.format(who='person = "id"', sample=20, epsilon=1.0))
    assert subject.guarantee.relation is Relation.REPLACE
    for pair in subject.pairs():
        (one, *rest), (other, *same) = pair.more.people, pair.fewer.people
        assert rest == same
        assert one.size + sum(crowd.size for crowd in rest) == 50
        assert [float(value) for value in (*one.values[:2], *other.values[:2])] in ([0, 0, 2, 60], [2, 0, 0, 60])
        assert (one.values[2], other.values[2]) == ("x", "y")


def test_points_have_the_person_far_from_the_crowd() -> None:
    subject = FAMILIES["points"].subject(hard_sizes, people=40)
    pair = subject.pairs()[1]
    assert pair.more == (Crowd(("x", "0.5"), 1), Crowd(("x", "29.5"), 8), Crowd(("y", "89.5"), 31))
    assert pair.fewer == (Crowd(("x", "0.5"), 0), *pair.more[1:])
    rows = [["x", "0.5"], ["x", "28.5"], ["x", "31.5"], ["y", "2.5"]]
    seen = subject.observer(pair.more).observe({"data.csv": ShownFile(["group", "age"], rows)}, None)
    assert seen["points near the person, and in the block"] == "1 of 2"
    assert seen["points"] == "4"


@pytest.mark.parametrize(
    ("name", "way", "factor", "runs"),
    [
        ("statistics of everybody", EVERYBODY, 2, 3_000),
        pytest.param("statistics of a sample", SAMPLE, 4, 1_500, marks=pytest.mark.slow),
    ],
)
def test_understated_statistics_are_refuted(name: str, way: str, factor: int, runs: int) -> None:
    """The chances of the best event differ by the factor e^ε that is promised; with the runs of the last round, 280
    and 560 on each side, what is claimed is about ten standard deviations off."""
    subject = FAMILIES[name].subject(hard_sizes, understated=factor)
    assert {taken.mechanism for _, taken in subject.plan.parameters.ways} == {way}
    assert audit(subject, runs=runs, error=1e-3).finding


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    ["points", "statistics of a sample", "statistics of everybody", "synopsis, fitted", "synopsis, chosen", "network"],
)
def test_half_of_epsilon_is_refuted_and_the_whole_is_not(name: str) -> None:
    assert audit(FAMILIES[name].subject(hard_sizes, understated=2), runs=100_000, error=1e-3).finding
    assert not audit(FAMILIES[name].subject(hard_sizes), runs=5_000, error=1e-6).finding


@pytest.mark.slow
def test_an_understated_outlier_table_is_refuted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Bins of limit - transition and more have noise of loss 1, planned as 2, and a sixteenth of that is claimed
    here: more than nine standard deviations off with 280 runs on each side."""
    monkeypatch.setattr("crowdblend.lab.auditing.statistical.subject.hard_sizes", lambda *_: {"flat": 8})
    done = audited(
        OUTLIERS.format(sampling=REGISTER), tmp_path, "--runs", "1500", "--error", "1e-3", "--understate", "16"
    )
    assert (done.exit_code, json.loads(done.stdout)["finding"]) == (1, True), done.output


def test_the_command_audits_them(tmp_path: Path) -> None:
    """The command is the same for all; that the other kinds are rehearsed as they are released is tested above."""
    done = audited(FAMILIES["statistics of everybody"].policy, tmp_path, "--runs", "1000", "--error", "1e-6")
    assert (done.exit_code, json.loads(done.stdout)["finding"]) == (0, False), done.output


@pytest.mark.slow
def test_an_outlier_table_keeps_its_promise(tmp_path: Path) -> None:
    done = audited(OUTLIERS.format(sampling=REGISTER), tmp_path, "--runs", "4000", "--error", "1e-6")
    assert (done.exit_code, json.loads(done.stdout)["finding"]) == (0, False), done.output


@pytest.mark.parametrize("text", [OUTLIERS.format(sampling=REGISTER), FAMILIES["statistics of a sample"].policy])
def test_another_epsilon_is_refused_where_no_delta_goes_with_it(text: str, tmp_path: Path) -> None:
    done = audited(text, tmp_path, "--runs", "1000", "--epsilon", "0.5")
    assert done.exit_code == 2
    assert "epsilon must be left to" in done.stderr
