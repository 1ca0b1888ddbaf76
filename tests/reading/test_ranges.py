"""Ranges of an ordered column: the tree of its tables, their best sums, and what is said of them."""

import math

import numpy as np
import pyarrow as pa
import pytest
from scipy import stats

import crowdblend as cb
from crowdblend.methods.estimates.range_intervals import noise_tail
from crowdblend.policies.load import parse_policy
from crowdblend.reading.ranges import Level, Tree
from tests.cases import for_each
from tests.commands import crowdblend
from tests.refusals import refuses

INCOMES = np.minimum(np.random.default_rng(3).lognormal(10, 0.8, 8_000), 51_199).astype(int)
PEOPLE = pa.table({"id": np.arange(len(INCOMES)), "income": INCOMES})
EDGES = [0, 7_000, 20_000, 51_200]


def policy(sampling=None, domain=None, split=None, **more) -> cb.Policy:
    terms = {"person": "id", "sampling": sampling or cb.Everybody(), "epsilon": 1.0, "delta": 1e-6, "split": split}
    columns = {"income": domain or cb.intervals(0, 51_200, width=100)}
    return cb.Policy(**terms, columns=columns, publish=cb.Table("income", ranges=True, **more))


def test_two_passes_are_weighted_least_squares_and_its_variance():
    random = np.random.default_rng(5)
    widths, classes = (1, 3, 12), 32
    levels, rows = [], []
    for width in widths:
        cells = math.ceil(classes / width)
        levels.append(Level(width, random.normal(0, 10, cells), random.uniform(1, 5, cells)))
        rows.append(np.equal.outer(np.arange(cells), np.arange(classes) // width).astype(float))
    whole = np.vstack(rows)
    weights = 1 / np.concatenate([level.variances for level in levels])
    inverse = np.linalg.inv(whole.T @ (weights[:, None] * whole))
    best = inverse @ whole.T @ (weights * np.concatenate([level.values for level in levels]))
    tree = Tree.of(levels)
    assert tree.solve([level.values for level in levels]) == pytest.approx(best, abs=1e-9)
    for start, stop in ((0, 32), (5, 6), (2, 29)):
        value, variance = tree.sum(start, stop)
        assert value == pytest.approx(best[start:stop].sum(), abs=1e-9)
        assert variance == pytest.approx(inverse[start:stop, start:stop].sum(), rel=1e-9)


def test_widths_that_do_not_nest_are_refused():
    """Whichever two they are: classes of six overlap those of four, and both are made of classes of one."""
    with refuses("reading.ranges"):
        Tree.of([Level(width, np.zeros(24 // width), np.ones(24 // width)) for width in (1, 4, 6)])


@for_each("ratio", [0.02, 0.37, 0.95])
def test_the_noise_of_a_range_is_at_least_as_likely_as_that_of_one_cell_and_of_many(ratio):
    """One cell has the longer tail, discrete Laplace noise; a sum of many is nearly normal."""
    reach, variance = np.arange(-40.0, 41.0), 2 * ratio / (1 - ratio) ** 2
    one = np.where(reach > 0, ratio**reach, 1 + ratio - ratio ** (1 - reach)) / (1 + ratio)
    many = stats.norm.sf((reach - 0.5) / math.sqrt(variance))
    found = noise_tail(reach, variance)
    assert (found >= one * (1 - 1e-9)).all()
    assert (found >= many - 1e-7).all()
    assert found == pytest.approx(np.maximum(one, many), abs=1e-7), "and not much more likely"


def test_a_tree_errs_less_than_its_narrowest_classes():
    """With 4,096 classes a range is three times as precise: its variance with a third of ε at each of three widths."""

    def variance(epsilon: float, widths: tuple[int, ...]) -> float:
        noise = 2 * math.exp(-epsilon) / (1 - math.exp(-epsilon)) ** 2
        levels = [Level(width, np.zeros(4_096 // width), np.full(4_096 // width, noise)) for width in widths]
        return Tree.of(levels).sum(300, 3_000)[1]

    assert variance(1.0, (1,)) > 9 * variance(1 / 3, (1, 16, 256))


def widths(sampling, split=None, **more) -> cb.Policy:
    """The same tables, named one by one."""
    terms = {"person": "id", "sampling": sampling, "epsilon": 1.0, "delta": 1e-6, "split": split or "budget"}
    columns = {"income": cb.intervals(0, 51_200, width=100)}
    tables = [cb.Table("income", name=f"by-{join}", join=join, **more) for join in (16, 256)]
    return cb.Policy(**terms, columns=columns, publish=[cb.Table("income", name="finest", **more), *tables])


@pytest.mark.parametrize("rate", [None, 0.3])
def test_ranges_of_people_with_different_rates_are_refused(rate, tmp_path):
    """Their sums would need a rate of everybody's own: at any one, most intervals miss."""
    biased = cb.Biased(0.2, 0.5, rate=rate, already_drawn=True)
    with refuses("policy.ranges"):
        policy(biased, below_k="noise")
    cb.release(PEOPLE, widths(biased, below_k="noise"), out=tmp_path / "out", ledger=None, figures=False)
    with refuses("reading.ranges"):
        cb.read(tmp_path / "out").ranges("income", EDGES)


@pytest.mark.parametrize("below_k", ["noise", "suppress"])
def test_widths_of_different_people_are_no_ranges(below_k, tmp_path):
    """Parts of a sample count other people at every width, and crowds leave cells out or exact."""
    for split in ("people", "fresh"):
        with refuses("policy.ranges"):
            policy(cb.Poisson(0.5), split=split, below_k=below_k)
    parts = widths(cb.Poisson(0.5), "people", below_k=below_k)
    cb.release(PEOPLE, parts, out=tmp_path / "out", ledger=None, figures=False)
    with refuses("reading.ranges"):
        cb.read(tmp_path / "out").ranges("income", EDGES)


def test_more_classes_than_are_listed_are_refused_before_they_are_published():
    with refuses("policy.ranges"):
        policy(domain=cb.intervals(0, 10_001, width=1))
    with refuses("policy.ranges"):
        policy(domain=cb.intervals(0, 10_000, width=1, other="other"))
    assert len(policy(domain=cb.intervals(0, 10_000, width=1)).publish) == 4


@pytest.mark.parametrize(("sampling", "more"), [(None, {}), (cb.Poisson(0.5), {"below_k": "noise"})])
def test_ranges_are_published_as_tables_of_several_widths_under_one_budget(sampling, more, tmp_path):
    made = policy(sampling, **more)
    assert parse_policy(made.to_toml()) == made
    cb.release(PEOPLE, made, out=tmp_path / "out", ledger=None, figures=False)
    assert cb.verify(tmp_path / "out").differential().epsilon <= 1.0
    opened = cb.read(tmp_path / "out")
    assert {name: one.data.num_rows for name, one in opened.publications.items()} == {
        "ranges": 512, "ranges-by-16": 32, "ranges-by-256": 2,
    }  # fmt: skip
    rows = opened.ranges("income", EDGES, confidence=1 - 1e-9).to_pylist()
    for row, start, stop in zip(rows, EDGES, EDGES[1:], strict=False):
        true = int(((start <= INCOMES) & (stop > INCOMES)).sum())
        assert row["low"] <= true <= row["high"] < true + 1_500
    said = crowdblend("read", tmp_path / "out", "--ranges", "income=0,7000,20000").stdout.splitlines()
    assert said[0] == '"from","to","estimate","low","high"'
    assert len(said) == 3


def test_intervals_of_a_sample_hold_for_as_many_ranges_as_stated(tmp_path):
    """At a tenth, drawing errs four times as much as the noise: of 128 ranges 122 hold on average.

    Fewer than 108 do once in a million releases. An error of drawing that is not divided by the rate would leave 75.
    """
    incomes = np.random.default_rng(8).integers(0, 51_200, 40_000)
    rows = pa.table({"id": np.arange(len(incomes)), "income": incomes})
    made = policy(cb.Poisson(0.1), below_k="noise").replace(epsilon=5.0)
    cb.release(rows, made, out=tmp_path / "out", ledger=None, figures=False, key=bytes(32))
    found = cb.read(tmp_path / "out").ranges("income", range(0, 51_201, 400)).to_pandas()
    truth = np.histogram(incomes, np.arange(0, 51_201, 400))[0]
    assert ((found.low <= truth) & (truth <= found.high)).sum() >= 108
    # Wide intervals would hold as well: a standard deviation is about 54 people.
    assert (found.high - found.low).mean() < 2 * 3 * 54


def test_ranges_of_dates_are_named_by_periods(tmp_path):
    days = pa.table({"id": np.arange(400), "day": [f"2024-{1 + at % 12:02}-10" for at in range(400)]})
    terms = {"person": "id", "sampling": cb.Everybody(), "epsilon": 8.0}
    domain = {"day": cb.date("day", "2024-01-01", "2025-01-01")}
    made = cb.Policy(**terms, columns=domain, publish=cb.Table(ranges=True, name="days"))
    cb.release(days, made, out=tmp_path / "out", ledger=None, figures=False)
    (row,) = cb.read(tmp_path / "out").ranges("day", ["2024-02-01", "2024-04-01"], 1 - 1e-9).to_pylist()
    assert row["low"] <= 68 <= row["high"] < 120


@pytest.mark.parametrize(
    "domain",
    [
        cb.intervals(0, 25_600, width=50, top=True, bottom=True),
        cb.breaks(*range(0, 25_601, 50), top=True, bottom=True),
        cb.intervals(0, 25_600, width=50, top=True, other="other", missing="missing"),
    ],
    ids=["intervals", "breaks", "with others"],
)
def test_classes_without_an_end_are_in_no_range(domain, tmp_path):
    """A thousand people in every tenth of the range, and more beyond both ends, whom no edge reaches."""
    incomes = np.concatenate([np.repeat(np.arange(1_280, 25_600, 2_560), 1_000), np.repeat(26_000, 7_000)])
    below = np.repeat(-5, 7_000 if "bottom" in repr(domain) and "other" not in repr(domain) else 0)
    rows = pa.table({"income": np.concatenate([incomes, below])}).append_column("id", [np.arange(17_000 + len(below))])
    cb.release(rows, policy(domain=domain).replace(epsilon=8.0), out=tmp_path / "out", ledger=None, figures=False)
    opened = cb.read(tmp_path / "out")
    for edges in ([0, 25_600], [23_050, 25_600], [0, 2_550]):
        (row,) = opened.ranges("income", edges, 1 - 1e-9).to_pylist()
        people = 10_000 if edges == [0, 25_600] else 1_000
        assert row["low"] <= people <= row["high"] < people + 900
    for edge in (-50, 25_650):
        with refuses("reading.ranges"):
            opened.ranges("income", sorted([0, edge]))


def test_what_has_no_ranges_is_refused(tmp_path):
    with refuses("policy.ranges"):
        policy(domain=cb.values("a", "b"))
    with refuses("policy.ranges"):
        policy(domain=cb.intervals(0, 160, width=10))
    with refuses("policy.ranges"):
        policy(below_k="threshold")
    cb.release(PEOPLE, policy(), out=tmp_path / "out", ledger=None, figures=False)
    opened = cb.read(tmp_path / "out")
    for column, edges in (("age", EDGES), ("income", [0, 150]), ("income", [100]), ("income", [200, 100])):
        with refuses("reading.ranges"):
            opened.ranges(column, edges)
