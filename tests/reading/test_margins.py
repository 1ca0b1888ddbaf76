"""Margins are the sums of a plain computation, whatever the labels, the format and the pieces."""

from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crowdblend.kinds.shared.facts import CellTable
from crowdblend.methods.estimates.cells import CellLaws
from crowdblend.methods.recoding.domain import Domain
from crowdblend.reading import cells
from crowdblend.reading.cells import open_cells
from crowdblend.reading.data_file import DataFile
from crowdblend.reading.margins import MarginCounter
from tests.reading.reports.releases import release, table

X, Y = ("a", "b", "never"), ("c,d", "É", "g\nh")
LABEL = st.sampled_from(["a", "b", "c,d", "É", "undeclared", ""])
ROWS = st.dictionaries(st.tuples(LABEL, LABEL), st.integers(-(10**15), 10**15), min_size=1, max_size=25)


def counted(path: Path, columns: tuple[str, ...], piece: int, monkeypatch: pytest.MonkeyPatch, domain: dict):
    monkeypatch.setattr(cells, "PIECE", piece)
    opened = open_cells(DataFile(path), counted=True)
    declared = CellTable({name: Domain(labels=labels) for name, labels in domain.items()}, CellLaws(None))
    counter = MarginCounter(declared, opened, columns)
    for part in opened.pieces():
        counter.add(part)
    return counter


@settings(max_examples=40)
@given(rows=ROWS, ending=st.sampled_from(["csv", "parquet"]), piece=st.integers(1, 30), listed=st.booleans())
@pytest.mark.parametrize("columns", [(), ("x",), ("y",), ("x", "y"), ("y", "x")], ids=str)
def test_sums_are_those_of_a_plain_computation(tmp_path_factory, columns, rows, ending, piece, listed) -> None:
    data = table(x=[x for x, _ in rows], y=[y for _, y in rows], count=list(rows.values()))
    folder = release(tmp_path_factory.mktemp("m"), data, format=ending)
    domain = {"x": X, "y": Y if listed else None}
    with pytest.MonkeyPatch.context() as patch:
        margin = counted(folder / f"data.{ending}", columns, piece, patch, domain).margin()
    sums: Counter = Counter()
    shown: Counter = Counter()
    for labels, count in rows.items():
        place = tuple(dict(zip("xy", labels, strict=True))[name] for name in columns)
        sums[place] += count
        shown[place] += 1
    pairs = zip(margin.counts.tolist(), margin.shown.tolist(), strict=True)
    found = dict(zip(margin.rows, pairs, strict=True))
    assert len(found) == len(margin.rows)
    assert {row: pair for row, pair in found.items() if pair[1]} == {row: (sums[row], shown[row]) for row in shown}
    if all(domain[name] is not None for name in columns):
        every: list[tuple[object, ...]] = [()]
        for name in columns:
            every = [(*row, label) for row in every for label in domain[name]]
        assert margin.rows[: len(every)] == every, "all declared labels first, in their order"
        others = margin.rows[len(every) :]
    else:
        others = margin.rows
    numbers = {name: {label: at for at, label in enumerate(domain[name] or ())} for name in columns}
    named = [list(zip(columns, row, strict=True)) for row in others]
    order = [[(numbers[name].get(label, len(numbers[name])), label) for name, label in row] for row in named]
    assert order == sorted(order), "then others, declared labels before those that are in order of their texts"


def test_the_largest_labels_of_two_columns(tmp_path, monkeypatch) -> None:
    rows = {(f"x{i}", f"y{j}"): (i + 1) * (j + 1) for i in range(30) for j in range(5)}
    data = table(x=[x for x, _ in rows], y=[y for _, y in rows], count=list(rows.values()))
    path = release(tmp_path, data) / "data.parquet"
    counter = counted(path, ("x", "y"), 1 << 20, monkeypatch, {"x": None, "y": None})
    kept = counter.margin(most=3)
    expected = {
        pair: n for pair, n in rows.items() if pair[0] in ("x29", "x28", "x27") and pair[1] in ("y4", "y3", "y2")
    }
    assert dict(zip(kept.rows, kept.counts.tolist(), strict=True)) == expected
    assert len(counter.margin().counts) == len(rows)
