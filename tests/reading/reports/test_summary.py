"""Summaries agree with a plain computation, whatever the size and however the file is cut into pieces."""

from collections import Counter

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from crowdblend.kinds.shared.facts import CellTable
from crowdblend.methods.designs import Stratum
from crowdblend.methods.estimates.cells import CellLaws, estimator_of
from crowdblend.methods.estimates.laws import ExactCounts
from crowdblend.methods.recoding.values import Values
from crowdblend.reading import cells
from crowdblend.reading.cells import open_cells
from crowdblend.reading.data_file import DataFile
from crowdblend.reading.reports.summary import in_order, size_class, summarize
from crowdblend.reading.reports.write import write_report
from crowdblend.trusted.guarantees.wording import one_in, round_up
from tests.cases import for_each
from tests.reading.reports.releases import release, table

LABELS = st.sampled_from(["a", "b", "c,d", 'e"f', "g\nh", "É"])


@settings(max_examples=25, deadline=None)
@given(rows=st.lists(st.tuples(LABELS, LABELS), min_size=1, max_size=60), ending=st.sampled_from(["csv", "parquet"]))
def test_microdata_are_counted(tmp_path_factory, rows, ending):
    folder = release(tmp_path_factory.mktemp("r"), table(x=[r[0] for r in rows], y=[r[1] for r in rows]), format=ending)
    made = summarize(open_cells(DataFile(folder / f"data.{ending}"), counted=False))
    counted = Counter(rows)
    assert made.people == len(rows)
    assert made.cells == len(counted)
    ranked = sorted(counted.items(), key=lambda item: (-item[1], item[0]))[:20]
    assert [(cell.labels, cell.count) for cell in made.largest] == ranked
    assert dict(made.totals[0].totals) == dict(Counter(row[0] for row in rows))


def test_pieces_change_nothing(tmp_path, monkeypatch):
    numbers = np.random.default_rng(7).integers(0, 40, (5_000, 2)).astype(str)
    folder = release(tmp_path, table(x=numbers[:, 0].tolist(), y=numbers[:, 1].tolist()), kind="microdata")
    whole = summarize(open_cells(DataFile(folder / "data.parquet"), counted=False))
    monkeypatch.setattr(cells, "PIECE", 97)
    cut = summarize(open_cells(DataFile(folder / "data.parquet"), counted=False))
    assert cut == whole
    assert whole.totals[0].distinct == 40
    assert len(whole.totals[0].totals) == 20


def laws_of(stratum, **rates):
    """The laws of crowds at one rate, or at that of each stratum; None is a rate that nobody states."""
    each = {
        name: estimator_of(ExactCounts(35), None if rate is None else Stratum.at_rate(rate))
        for name, rate in rates.items()
    }
    return CellLaws(None, {}, stratum, each) if stratum else CellLaws(each["all"])


@for_each(
    ("laws", "sizes"),
    [
        (laws_of(None, all=0.01), {"5,000–9,999": 15, "50,000–99,999": 15}),
        (laws_of(None, all=None), {"50–99": 15, "500–999": 15}),
        (laws_of("x", a=0.1, b=0.001), {"500–999": 15, "500,000–999,999": 15}),
        (laws_of("x", a=0.1, b=None), {}),
    ],
)
def test_cells_are_as_large_as_they_are_in_the_population(laws, sizes, tmp_path):
    """Of 80 sampled people in one stratum and 800 in the other: counts of strata are not compared."""
    columns = {"x": ["a", "b"] * 15, "y": [str(i // 2) for i in range(30)], "sampled": [80, 800] * 15}
    folder = release(tmp_path, table(**columns))
    cells = open_cells(DataFile(folder / "data.parquet"), counted=True)
    domains = dict.fromkeys(("x", "y"), Values(("a", "b")).domain())
    made = summarize(cells, CellTable(domains, laws))
    assert {name: number for name, number in made.sizes if number} == sizes
    assert made.sized_by_estimates == ("50–99" not in sizes and bool(sizes))
    page = write_report(folder).read_text(encoding="utf-8")
    assert "by the estimated number of people of the population in the cell" in page


def test_very_many_cells(tmp_path):
    n = 200_000
    counts = np.full(n, 35)
    counts[[10, n - 1]] = 10**9, 10**12
    data = table(x=[str(i % 1000) for i in range(n)], y=[f"job {i // 1000}" for i in range(n)], count=counts)
    folder = release(tmp_path, data)
    made = summarize(open_cells(DataFile(folder / "data.parquet"), counted=True))
    assert (made.cells, made.people) == (n, int(counts.sum()))
    assert [cell.count for cell in made.largest[:3]] == [10**12, 10**9, 35]
    assert write_report(folder).stat().st_size < 500_000


def test_missing_and_other_types_become_text(tmp_path):
    folder = release(tmp_path, table(x=["a", None], y=[1, 2], z=[True, None], count=[40, 50]))
    made = summarize(open_cells(DataFile(folder / "data.parquet"), counted=True))
    assert [cell.labels for cell in made.largest] == [("(no value)", "2", "(no value)"), ("a", "1", "true")]


def test_many_columns(tmp_path):
    folder = release(tmp_path, table(**{f"c{i}": ["x"] for i in range(500)}, count=[40]))
    assert "488 further columns" in write_report(folder).read_text(encoding="utf-8")


@for_each(
    "labels",
    [
        ["[0, 10)", "[10, 20)", "[100, 110)"],
        ["< 0", "[0, 5)", "≥ 5"],
        ["1999", "2000"],
        ["2000-02", "2000-11", "2001-01", "unknown"],
    ],
)
def test_labels_with_values_are_shown_by_value(labels):
    assert [label for label, _ in in_order([(label, 1) for label in reversed(labels)])] == labels


def test_other_labels_keep_their_order():
    totals = [("North", 5), ("East", 4), ("3rd", 1)]
    assert in_order(totals) == totals


@given(st.integers(1, 10**17))
def test_size_classes_hold_their_counts(count):
    low, _, high = size_class(count).replace(",", "").partition("–")
    assert int(low) <= count <= int(high or low)


@given(st.floats(1e-12, 0.5))
def test_a_chance_is_never_understated(delta):
    among = int(one_in(delta).removeprefix("1 in ").replace(",", ""))
    assert delta * (1 - 1e-9) <= 1 / among
    assert 1 / among <= delta * 2.001


@given(st.floats(1e-300, 1e14))
def test_numbers_are_rounded_up(value):
    shown = float(round_up(value).replace(",", ""))
    assert value <= shown <= value * 1.0101
