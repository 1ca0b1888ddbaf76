"""Releases of points and of outlier tables, end to end, and what is refused in one sentence with nothing written."""

import math
import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from scipy.stats import binom, norm

from crowdblend.cli.main import cli
from crowdblend.errors import CrowdblendError
from crowdblend.kinds.points.facts import reach_apart
from crowdblend.kinds.points.view import view
from crowdblend.kinds.shared.outputs import ESTIMATES
from crowdblend.methods.designs import Stratum
from crowdblend.methods.estimates.estimator import Estimator
from crowdblend.methods.estimates.laws import ExactCounts
from crowdblend.methods.mechanisms.histograms import natural_threshold
from crowdblend.methods.mechanisms.points import AxisNoise
from crowdblend.policies.load import parse_policy
from crowdblend.publishing.release import release
from crowdblend.reading.release import read
from crowdblend.reading.reports.blocks import Table
from crowdblend.reading.reports.write import report_html
from crowdblend.sources.engines.choice import default_engine
from crowdblend.trusted.calculus import verify_file
from crowdblend.trusted.guarantees.privacy import CrowdBlending, Differential, OutlierPrivate, ZeroKnowledge
from crowdblend.trusted.randomness import ReleaseKey, coins
from tests.cases import for_each
from tests.plans import plan
from tests.policies.policies import policy_text, swapped
from tests.refusals import is_refusal, refuses

POINTS = policy_text(
    data='source = "people.csv"\nperson = "id"',
    sampling='design = "poisson"\nrate = 0.5',
    columns=(
        "x = { from = 0, to = 8, width = 2, resolution = 0.5 }",
        "y = { from = -1, to = 1, width = 1, resolution = 0.1 }",
    ),
    privacy="epsilon = 1.0\ndelta = 1e-6",
    publish='kind = "points"\nk = 60\nnoise_epsilon = 0.5',
)
OUTLIERS = policy_text(
    data='source = "people.csv"\nperson = "id"',
    sampling='design = "everybody"',
    columns='sex = { values = ["f", "m"] }\ngroup = { from = 0, to = 9, width = 1 }',
    privacy="epsilon = 1.0\ndelta = 1e-6",
    publish='kind = "outlier-table"\nlimit = 60',
)
QUADTREE = "[[publish.quadtree]]\nbox = { x = [0, 1], y = [-1, 0] }\ndepth = 3\n"
BOXES = "[[publish.boxes]]\nname = 'left'\nbox = { x = [0, 4], y = [-1, 1] }\n"
KEY = bytes(range(32))


@pytest.fixture
def people(tmp_path: Path) -> Path:
    rng = np.random.default_rng(3)
    n = 3000
    table = pd.DataFrame(
        {
            "id": np.arange(n),
            "x": np.round(rng.beta(2, 4, n) * 8, 3),
            "y": np.round(rng.uniform(-1, 1, n), 3),
            "sex": rng.choice(["f", "m"], n),
        }
    )
    table["group"] = table["x"]
    table.to_csv(tmp_path / "people.csv", index=False)
    return tmp_path


def released(folder: Path, policy: str, name: str = "out") -> pd.DataFrame:
    made = release(parse_policy(policy, folder), folder / name, key=KEY)
    verify_file(made.folder)
    # The page is made of what is in memory, and of its files it is the same.
    assert (made.folder / "report.html").read_text() == report_html(made.folder)
    return pd.read_parquet(made.folder / "data.parquet")


def test_points_are_released_with_every_promise(people: Path) -> None:
    points = released(people, POINTS)
    assert list(points.columns) == ["x", "y", *ESTIMATES]
    assert 1000 < len(points) < 1600
    # midpoints of the cells
    assert np.allclose((points["x"] - 0.25) / 0.5, np.round((points["x"] - 0.25) / 0.5))
    assert points.equals(points.sort_values(["x", "y"], ignore_index=True))
    certificate = plan(parse_policy(POINTS, people)).certificate()
    assert [type(made) for made in certificate.guarantees] == [ZeroKnowledge, Differential, Differential, CrowdBlending]
    page = (people / "out" / "report.html").read_text()
    for heading in ("Mean", "Quantiles"):
        assert f"<h3>{heading}</h3>" in page
    assert "Thin lines are the blocks." in page


@pytest.mark.parametrize("kind", [POINTS, OUTLIERS], ids=["points", "outliers"])
def test_the_key_also_decides_which_row_of_a_person_counts(people: Path, kind: str) -> None:
    """Also where nobody is drawn."""
    table = pd.read_csv(people / "people.csv")
    twice = pd.concat([table, table.assign(x=8 - table["x"], group=8 - table["group"])])
    twice.to_csv(people / "people.csv", index=False)
    policy = swapped(kind, ('person = "id"', 'person = "id"\nduplicates = "one"'))
    if kind == POINTS:
        policy = swapped(policy, ("poisson", "coins"))
    assert released(people, policy).equals(released(people, policy, "again"))


def test_points_kept_in_their_block_count_it_exactly(people: Path) -> None:
    policy = swapped(POINTS, ("poisson", "coins"), add="keep_in = 'block'\nshow_blocks = true\n")
    points, truth = released(people, policy), pd.read_csv(people / "people.csv")
    along = lambda table: np.minimum(table["x"] // 2, 3) * 2 + (table["y"] >= 0)  # noqa: E731
    counts = along(truth).value_counts()
    assert points["block"].value_counts().to_dict() == {b: n for b, n in counts.items() if n >= 60}
    assert (along(points) == points["block"]).all()


@pytest.mark.parametrize("blocks", [QUADTREE, BOXES], ids=["quadtree", "boxes"])
def test_other_blocks(people: Path, blocks: str) -> None:
    policy = swapped(POINTS, ("width = 2, ", ""), ("width = 1, ", ""), add=blocks)
    assert len(released(people, policy)) > 500


def test_what_travels_along(people: Path) -> None:
    points = released(people, swapped(POINTS, ("[columns]", '[columns]\nsex = { values = ["f", "m"] }')))
    assert set(points["sex"]) <= {"f", "m"}
    assert list(points.columns) == ["sex", "x", "y", *ESTIMATES]
    ends = points.groupby("sex")[["low", "high"]].agg(["min", "max"])
    truth = pd.read_csv(people / "people.csv").groupby("sex").size()
    for sex in ends.index:  # one interval for all points with the same labels, and it holds the people
        low, high = ends.loc[sex, "low"], ends.loc[sex, "high"]
        assert low["min"] == low["max"] <= truth[sex] <= high["min"] == high["max"]
    assert points["estimate"].isna().all(), "blocks are missing, so a sum is no estimate"


def test_estimates_of_points_are_about_their_block_where_that_is_shown(people: Path) -> None:
    points = released(people, swapped(POINTS, add="show_blocks = true\n"))
    expected = Estimator(ExactCounts(60), Stratum.at_rate(0.5)).cells(np.array(sizes := points["block"].value_counts()))
    for at, block in enumerate(sizes.index):
        rows = points[points["block"] == block]
        assert (rows["estimate"] == 2 * len(rows)).all()
        assert (rows["low"] == expected.low[at]).all()
        assert (rows["high"] == expected.high[at]).all()


def test_blocks_that_are_hidden_are_not_counted(people: Path) -> None:
    """Nobody can know how many of them the points of some labels are in."""
    released(people, swapped(POINTS, ("[columns]", '[columns]\nsex = { values = ["f", "m"] }')))
    folder, columns = read(people / "out"), ["sampled", "estimate", "low", "high"]
    assert folder.estimates(margin=[]).column_names == columns
    assert folder.estimates().column_names == ["sex", *columns]


@for_each("labels", [(), ("sex",)])
def test_blocks_that_are_shown_are_not_counted_as_unpublished(people: Path, labels: tuple[str, ...]) -> None:
    """The same in Python, on the command line and in the report; block by block as in the file."""
    along = [("[columns]", '[columns]\nsex = { values = ["f", "m"] }')] if labels else []
    name = "-".join(("out", *labels))
    points = released(people, swapped(POINTS, *along, add="show_blocks = true\n"), name)
    classes = points.groupby([*labels, "block"]).agg({"low": ["size", "first"], "high": "first"})
    hidden = 8 * 2 ** len(labels) - len(classes)
    assert hidden
    law = Estimator(ExactCounts(60), Stratum.at_rate(0.5))
    ends = law.sums(np.array([len(points)]), np.array([len(classes)]), np.array([hidden]))
    low, high = int(ends.low[0]), int(ends.high[0])
    folder = read(people / name)
    assert folder.estimates(margin=[]).to_pylist() == [
        {"sampled": len(points), "unpublished_cells": hidden, "estimate": None, "low": low, "high": high}
    ]
    assert sum(folder.estimates().column("unpublished_cells").to_pylist()) == hidden
    shown = CliRunner().invoke(cli, ["read", str(people / name), "--margin", ""]).stdout
    assert shown.endswith(f"{len(points)},{hidden},,{low},{high}\n")
    assert f"<dd>{low:,} – {high:,}</dd>" in (people / name / "report.html").read_text()
    blocks = folder.estimates(margin=[*labels, "block"]).select(["sampled", "low", "high"]).to_pandas()
    assert sorted(blocks.to_numpy().tolist()) == sorted(classes.to_numpy().tolist())


FALSE_ALARM = 1e-6


@for_each("keep_in", ["none", "bounds", "block"])
def test_the_report_says_what_noise_does_to_points(people: Path, keep_in: str) -> None:
    """Of 4,000 people in a corner of the bounds, where kept points lean most; 1e-6 is the chance of a false alarm."""
    place, steps = {"x": 0.25, "y": -0.95}, {"x": 0.5, "y": 0.1}
    pd.DataFrame({"id": range(4000), **place}).to_csv(people / "people.csv", index=False)
    louder = [
        ("poisson", "coins"),
        ("delta = 1e-6", "accept_delta = true"),
        ("noise_epsilon = 0.5", "noise_epsilon = 5.0"),
    ]
    points = released(people, swapped(POINTS, *louder, add=f"keep_in = '{keep_in}'\n"), keep_in)
    shown = view(read(people / keep_in), figures=False)
    blocks = {part.name: part.blocks for part in shown.parts}["statistics"]
    means, quantiles = (block for block in blocks if isinstance(block, Table))
    moved = next(line for line in shown.reading if "On each axis noise moved" in line)
    any_moved = next(block for block in blocks if isinstance(block, str) and "noise moved any of them" in block)
    apart = next(block for block in blocks if isinstance(block, str) and "Two people at one place" in block)
    mixed = points.sample(frac=1, random_state=1)
    for row, (axis, at) in enumerate(place.items()):
        texts = moved, apart, any_moved
        far, between, furthest = (float(re.search(rf"([\d.e-]+) in {axis}", text)[1]) for text in texts)  # type: ignore[index]
        off, slack = (mixed[axis] - at).to_numpy(), 1e-9
        assert binom.sf((abs(off) > far + slack).sum() - 1, 4000, 0.05) > FALSE_ALARM
        pairs = abs(off[::2] - off[1::2])
        assert binom.sf((pairs > between + slack).sum() - 1, 2000, 0.05) > FALSE_ALARM
        name, mean, deviation, *lean = means.rows[row]
        assert name == quantiles.rows[row][0] == f"<bdi>{axis}</bdi>"
        within = float(lean[0]) if lean else 0.0
        assert bool(lean) == (keep_in != "none")
        assert abs(off.mean()) <= within - norm.ppf(FALSE_ALARM / 2) * float(deviation)
        assert abs(float(mean) - points[axis].mean()) <= max(within, float(deviation))
        quantile_off = np.array(quantiles.rows[row][1:], float) - at
        assert (abs(quantile_off) <= furthest + steps[axis] / 2).all()
        if keep_in != "block":  # and no distance is stated that is a step too large, where points are free
            assert (abs(off) > far - 1.5 * steps[axis]).mean() > 0.03
            assert keep_in == "bounds" or (pairs > between - 1.5 * steps[axis]).mean() > 0.04


@for_each("loss", [0.02, 0.3, 2.0])
@for_each("side", [2, 7, 40])
def test_two_points_of_a_place_are_as_far_apart_as_their_noise_says(loss: float, side: int) -> None:
    """By sums over the law of the noise: free points exactly, folded ones no further, and no further in than stated."""
    reach = round(60 / loss)
    noise = np.arange(-reach, reach + 1)
    masses = math.exp(-loss) ** abs(noise) * math.tanh(loss / 2)
    free = np.convolve(masses, masses)
    tail = lambda r: 1 - free[2 * reach - r : 2 * reach + r + 1].sum()  # noqa: E731
    found = reach_apart(loss, 0.05)
    assert tail(found) <= 0.05 < (tail(found - 1) if found else 1)
    most = min(AxisNoise(loss).mean_distance, (side - 1) / 2)
    leans = []
    for place in range(side):
        unfolded = (place + noise) % (2 * side)
        law = np.bincount(np.minimum(unfolded, 2 * side - 1 - unfolded), masses, side)
        distances = abs(np.subtract.outer(np.arange(side), np.arange(side)))
        assert (np.outer(law, law) * (distances > found)).sum() <= 0.05
        mean = law @ np.arange(side)
        assert law @ (np.arange(side) - mean) ** 2 <= AxisNoise(loss).deviation ** 2
        leans.append(mean - place)
    assert max(map(abs, leans)) <= most + 1e-9
    assert sum(leans) == pytest.approx(0, abs=1e-9)


def test_one_dimension_and_three(people: Path) -> None:
    line = swapped(POINTS, ("y = { from = -1, to = 1, width = 1, resolution = 0.1 }\n", ""))
    assert list(released(people, line).columns) == ["x", *ESTIMATES]
    space = swapped(POINTS, ("[privacy]", "group = { from = 0, to = 8, width = 8, resolution = 1 }\n[privacy]"))
    assert list(released(people, space, "space").columns) == ["x", "y", "group", *ESTIMATES]


def test_biased_sampling_has_its_own_theorem(people: Path) -> None:
    biased = swapped(POINTS, ('"poisson"\nrate = 0.5', '"biased"\nrate = 0.09\nlow = 0.08\nhigh = 0.1'))
    made = plan(parse_policy(biased, people).only)
    assert made.parameters.rule == "robust.differential"


def test_the_noise_is_planned_when_all_else_is_given(people: Path) -> None:
    made = plan(parse_policy(swapped(POINTS, ("noise_epsilon = 0.5\n", "")), people).only)
    assert 1.0 < made.parameters.noise_epsilon < 1.5
    assert made.certificate().derivations[1].conclusion.delta <= 1e-6
    with refuses("plan.unknown"):
        plan(parse_policy(swapped(POINTS, ("noise_epsilon = 0.5\n", ""), ("k = 60\n", "")), people))


def test_the_dry_run_tells_how_far_points_move(people: Path) -> None:
    (people / "policy.toml").write_text(POINTS)
    told = CliRunner().invoke(cli, ["release", str(people / "policy.toml"), "--dry-run"]).output
    assert "on average by" in told
    assert "all of 100,000 by at most" in told


REFUSED = {
    "bounds missing": (swapped(POINTS, ("from = 0, ", "")), "policy.missing-key"),
    "an infinite bound": (swapped(POINTS, ("to = 8", "to = inf")), "finite"),
    "no axis": (swapped(POINTS, (", resolution = 0.5", ""), (", resolution = 0.1", "")), "at least one axis"),
    "no blocks": (swapped(POINTS, ("width = 2, ", ""), ("width = 1, ", "")), "policy.blocks"),
    "blocks on some axes": (swapped(POINTS, ("width = 2, ", "")), "on some axes"),
    "two ways": (swapped(POINTS, add=BOXES), "policy.blocks"),
    "a width that no double holds": (swapped(POINTS, ("width = 2, ", "width = 1e-400, ")), "policy.domain"),
    "a width between steps": (swapped(POINTS, ("width = 2", "width = 0.75")), "whole number of resolutions"),
    "a resolution that does not fit": (swapped(POINTS, ("resolution = 0.5", "resolution = 3")), "whole number"),
    "epsilon 0": (swapped(POINTS, ("noise_epsilon = 0.5", "noise_epsilon = 0")), "policy.range"),
    "hardly any noise": (
        swapped(POINTS, ("noise_epsilon = 0.5", "noise_epsilon = 100"), ("delta = 1e-6\n", "")),
        "sampling alone guarantees as much",
    ),
    "a delta that allows any noise": (
        swapped(POINTS, ("noise_epsilon = 0.5\n", ""), ("delta = 1e-6", "delta = 0.6")),
        "sampling alone guarantees as much",
    ),
    "noise that cannot be drawn": (
        # of the two boxes only an empty one is too large, so that a refusal in the end would say who is where
        swapped(
            POINTS,
            ("x = { from = 0, to = 8, width = 2, ", "x = { from = 0, to = 80, "),
            ("width = 1, ", ""),
            ("noise_epsilon = 0.5", "noise_epsilon = 5e-11"),
            add=BOXES + "[[publish.boxes]]\nname = 'right'\nbox = { x = [8, 80], y = [-1, 1] }\n",
        ),
        "plan.epsilon-too-small",
    ),
    "noise beyond doubles": (
        swapped(POINTS, ("noise_epsilon = 0.5", "noise_epsilon = 1e-17")),
        "plan.epsilon-too-small",
    ),
    "outlier noise that cannot be drawn": (
        swapped(OUTLIERS, ("epsilon = 1.0", "epsilon = 1e-17"), ("delta = 1e-6\n", ""), ("60", "60\ntransition = 30")),
        "plan.epsilon-too-small",
    ),
    "no noise at all": (
        swapped(
            POINTS,
            ("width = 2, resolution = 0.5", "width = 2, resolution = 2"),
            ("width = 1, resolution = 0.1", "width = 1, resolution = 1"),
        ),
        "policy.no-noise",
    ),
    "a box beyond the bounds": (
        swapped(POINTS, ("width = 2, ", ""), ("width = 1, ", ""), add=BOXES.replace("[0, 4]", "[0, 9]")),
        "between from and to",
    ),
    "a box without an axis": (
        swapped(POINTS, ("width = 2, ", ""), ("width = 1, ", ""), add=BOXES.replace(", y = [-1, 1]", "")),
        "every axis",
    ),
    "labels to choose from": (
        swapped(POINTS, ("x = {", "group = { from = 0, to = 9, width = [1, 3] }\nx = {")),
        "policy.recoding",
    ),
    "bins to choose from": (swapped(OUTLIERS, ("width = 1", "width = [1, 3]")), "policy.recoding"),
    "noise below k": (swapped(POINTS, ("k = 60", 'k = 60\nbelow_k = "noise"')), "policy.unknown-key"),
    "outliers below k": (swapped(OUTLIERS, ("limit = 60", 'limit = 60\nbelow_k = "suppress"')), "policy.unknown-key"),
    "a part of another kind": (swapped(POINTS, add="limit = 5\n"), "outlier-table"),
    "outliers with k": (swapped(OUTLIERS, ("limit = 60", "limit = 60\nk = 5")), "policy.unknown-key"),
    "outliers without a target": (swapped(OUTLIERS, ("delta = 1e-6", "")), "policy.planned"),
    "outliers over an open domain": (
        swapped(OUTLIERS, ('{ values = ["f", "m"] }', "{ prefix = 1 }")),
        "policy.open-domain",
    ),
    "outliers without room": (swapped(OUTLIERS, ("limit = 60", "limit = 3")), "plan.no-transition"),
}


@for_each("case", REFUSED)
def test_refused_before_a_row_is_read(people: Path, case: str) -> None:
    text, why = REFUSED[case]
    with pytest.raises(CrowdblendError) as refused:
        release(parse_policy(text, people), people / "out")
    assert is_refusal(refused.value, why), refused.value
    assert str(refused.value).endswith((".", "?"))
    assert "\n" not in str(refused.value)
    assert not (people / "out").exists()


@for_each("value", ["nan", "inf", "", "8.001", "-0.1", "x"], daily=3)
def test_a_value_without_a_place_is_refused(people: Path, value: str) -> None:
    table = pd.read_csv(people / "people.csv", dtype=str)
    table.loc[5, "x"] = value
    table.to_csv(people / "people.csv", index=False)
    drawn = swapped(POINTS, ("poisson", "coins"))
    with pytest.raises(CrowdblendError, match=r"Column 'x'.*[Ss]et outside=\"drop\"") as refused:
        release(parse_policy(drawn, people), people / "out")
    assert "missing" not in str(refused.value)  # an axis has no such key
    assert not (people / "out").exists()


def test_people_without_a_place_are_dropped_where_the_policy_says_so(people: Path) -> None:
    table = pd.read_csv(people / "people.csv", dtype=str)
    table.loc[:5, "x"] = ["nan", "inf", "", "8.001", "-0.1", "x"]
    table.to_csv(people / "people.csv", index=False)
    drawn = swapped(POINTS, ("poisson", "coins"))
    dropping = swapped(drawn, ("resolution = 0.5", "resolution = 0.5, outside = 'drop'"))
    assert len(released(people, dropping)) > 2500


def test_points_on_edges_belong_to_the_block_above_and_the_last_to_its_own(people: Path) -> None:
    rows = [(0, 0.0, 0.0), (1, 2.0, 0.0), (2, 8.0, 1.0), (3, 1.999, -1.0)]
    pd.DataFrame(rows, columns=["id", "x", "y"]).to_csv(people / "people.csv", index=False)
    from crowdblend.methods.designs.draw import Everybody
    from crowdblend.sources.engines.choice import count_classes

    policy: Any = parse_policy(POINTS, people).only
    sample = count_classes(policy, Everybody()).classes
    blocks = policy.blocks.of(sample.codes.astype(np.int64))
    # sorted by cell: (1.999, −1), (0, 0) come first; 2.0 begins the next block, 8 and 1 are in the last
    assert sorted(zip(sample.codes.tolist(), blocks.tolist(), strict=True)) == [
        ([0, 10], 1),
        ([3, 0], 0),
        ([4, 10], 3),
        ([15, 19], 7),
    ]


def test_outlier_tables_are_released(people: Path) -> None:
    table = released(people, OUTLIERS)
    assert list(table.columns) == ["sex", "group", "count", "estimate", "low", "high"]
    certificate = plan(parse_policy(OUTLIERS, people)).certificate()
    outlier = certificate.guarantees[-1]
    assert isinstance(outlier, OutlierPrivate)
    assert outlier.delta <= 1e-6
    assert "(the person included)" in outlier.words()
    sampled = swapped(OUTLIERS, ('"everybody"', '"poisson"\nrate = 0.2'))
    stronger = plan(parse_policy(sampled, people)).certificate().guarantees
    assert [type(made) for made in stronger] == [ZeroKnowledge, Differential, Differential, OutlierPrivate]
    assert isinstance(stronger[1], Differential)
    assert stronger[1].epsilon < certificate.derivations[0].conclusion.epsilon
    assert len(released(people, sampled, "sampled")) > 0


@pytest.mark.parametrize("rate", [None, 0.25])
def test_an_outlier_table_with_a_rate_is_about_those_whom_the_coin_draws(people: Path, rate: float | None) -> None:
    """The certificate counts on the sample, so it must really be drawn; without a rate everybody is in the table."""
    sampling = [] if rate is None else [('"everybody"', f'"poisson"\nrate = {rate}')]
    policy = parse_policy(swapped(OUTLIERS, *sampling), people)
    planned, key = plan(policy), ReleaseKey(KEY)
    internal = planned.publish(planned.read(default_engine(), key), key).internal
    assert internal["people_sampled"] == (3000 if rate is None else int(coins(KEY, np.arange(3000), rate).sum()))


def test_hardly_any_outlier_noise_needs_no_threshold(people: Path) -> None:
    """At this loss the chance of noise is 0 in doubles."""
    loud = swapped(OUTLIERS, ("epsilon = 1.0", "epsilon = 700.0"), ("limit = 60", "limit = 60\nfactor = 1"))
    made = plan(parse_policy(loud, people).only)
    assert made.mechanism.show_from is None
    assert natural_threshold(10**12, 1e5) == 1


def test_a_release_in_which_no_block_is_large_enough(people: Path) -> None:
    few = pd.read_csv(people / "people.csv").head(200)
    few.to_csv(people / "people.csv", index=False)
    nobody = swapped(POINTS, ("k = 60", "k = 200"), add="show_blocks = true\n")
    points = released(people, nobody)
    assert list(points.columns) == ["block", "x", "y", *ESTIMATES]
    assert len(points) == 0
    assert "no block reached the crowd size" in (people / "out" / "report.html").read_text()
