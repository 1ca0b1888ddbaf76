"""Laws over every reproduction."""

import json
import re
from functools import cache
from pathlib import Path

import pytest

from crowdblend.errors import InvalidInput
from crowdblend.lab.papers import ABOUT, REPRODUCTIONS, reproduce
from crowdblend.lab.papers.reproduction import Reproduction, agrees
from tests.cases import for_each
from tests.commands import crowdblend
from tests.reading.figures.pictures import Picture

reproduced = cache(reproduce)
NAMES = (
    "lqs-table1",
    "lqs-table2",
    *(f"lqs-figure{number}" for number in range(2, 7)),
    "cbp-proposition12",
    "zkp-politics",
)


def test_the_names():
    assert tuple(REPRODUCTIONS) == NAMES


@for_each("name", NAMES)
def test_each_is_named_cited_and_whole(name):
    made = reproduced(name)
    assert made.name == name
    assert all((made.title, made.source, made.note, made.rows))
    assert len(set(made.columns)) == len(made.columns)


@for_each("name", NAMES)
def test_each_is_plain_data(name):
    made = reproduced(name)
    assert json.loads(json.dumps(made.rows, allow_nan=False))


@for_each("name", NAMES[1:])
def test_each_figure_can_be_drawn(name):
    chart = reproduced(name).chart
    assert chart is not None
    for narrow in (False, True):
        assert Picture.parse(chart.svg(narrow=narrow)).inside()


def test_the_page_names_them_all_and_quotes_table2_rightly():
    page = (Path(__file__).parents[3] / "docs" / "papers.md").read_text()
    assert all(f"`{name}`" in page for name in NAMES)
    cells = {row[:2]: row for row in reproduced("lqs-table2").rows}
    quoted = re.findall(r"^\| ([\d.]+) \| ([\d.]+) \| (\S+) \| (\S+) \| (\S+) \| (\S+) \|$", page, re.MULTILINE)
    assert len(quoted) == 5
    for rate, epsilon, printed, *ours in quoted:
        cell = cells[float(rate), float(epsilon)]
        assert cell[2] == printed
        assert all(agrees(text, value) for text, value in zip(ours, cell[3:6], strict=True))


@for_each("name", ["lqs-table3", "", "LQS-TABLE1"])
def test_an_unknown_name_is_refused_with_the_list(name):
    with pytest.raises(InvalidInput) as refusal:
        reproduce(name)
    assert all(known in str(refusal.value) for known in NAMES)


def test_ragged_rows_are_refused():
    with pytest.raises(InvalidInput, match="must have 2 cells"):
        Reproduction("n", "t", "s", ("a", "b"), ((1, 2), (3,)), None, "")


@for_each(
    ("printed", "value", "same"),
    [
        ("1.61e-09", 1.6063e-09, True),
        ("1.61e-09", 1.602e-09, False),
        ("2.00e-24", 1.998e-24, True),
        ("2.00e-24", 1.99e-24, False),
        ("0.159", 0.1586, True),
        ("0.159", 0.1596, False),
        ("11", 11.0000000001, True),
        ("1e-6", 1.0000000000000002e-06, True),
    ],
)
def test_agreement_is_to_the_printed_digits(printed, value, same):
    assert agrees(printed, value) is same


def test_all_of_them_at_once(monkeypatch):
    monkeypatch.setattr("crowdblend.cli.reproduce.reproduce", reproduced)
    code, out, _ = crowdblend("reproduce", "all", "--json")
    assert code == 0
    assert [made["name"] for made in json.loads(out)["reproductions"]] == list(NAMES)
    assert crowdblend("reproduce", "all", "--plot", "all.svg").returncode == 2


def test_without_a_name_they_are_listed_as_on_the_page() -> None:
    listed = crowdblend("reproduce").stdout.splitlines()
    assert [line.split()[0] for line in listed] == list(NAMES) == list(ABOUT)
    assert json.loads(crowdblend("reproduce", "--json").stdout)["reproductions"] == ABOUT
    page = (Path(__file__).parents[3] / "docs" / "papers.md").read_text(encoding="utf-8")
    for name, about in ABOUT.items():
        assert f"| `{name}` | {about[:1].lower()}{about[1:-1]} |" in page
