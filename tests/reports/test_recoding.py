"""The lattice around the choice, drawn from the certificate's facts; those of another form are refused."""

from pathlib import Path
from typing import Any

import pytest

from crowdblend.errors import DoesNotVerify
from crowdblend.reports import report_html
from tests.cases import for_each
from tests.reports.releases import NASTY, release, table
from tests.reports.test_report import ALLOWED, Page

LEVEL = {"step": 1, "steps": 3, "level": 1, "classes": 4, "loss": 0.25}
AROUND = {
    "score": 812.4,
    "mean_error": 12.5,
    "near": [
        {"column": "age", "step": 0, "width": 5.0, "score": 700.2},
        {"column": "age", "step": 2, "width": 20.0, "score": -3.0},
        {"column": "sex", "step": 2, "level": 2, "score": 650.0},
    ],
}


def page(folder: Path, around: Any, chosen: Any = None, **choice: Any) -> Page:
    score = {"score": "expected-people", "counted_from": 35, "rate": 0.5, "stands_for": 1, "parts": 3000}
    recoding = {
        "choice": {"score": score, "epsilon": 0.1, "show_epsilon": 0.05, "shown": 4, **choice},
        "score": "loss",
        "recodings": 12,
        "released_epsilon": 0.8,
        "chosen": {"age": LEVEL, "sex": LEVEL} if chosen is None else chosen,
        "around": around,
    }
    return Page(report_html(release(folder, table(), recoding=recoding)))


def test_the_figure_shows_every_neighbour_and_says_what_it_cost(tmp_path: Path) -> None:
    found = page(tmp_path, AROUND, choices=4)
    for text in ("age · width 5", "age · width 20", "sex · level 2", "812", "-3", "ε = 0.05", "in 4 steps", "12.5"):
        assert text in found.text
    assert found.tags <= ALLOWED


@for_each(
    "around",
    [
        None,
        {**AROUND, "near": []},
        {**AROUND, "near": [{"column": "other", "step": 1, "score": 3.0}]},
    ],
)
def test_facts_that_say_nothing_are_left_out(tmp_path: Path, around: Any) -> None:
    found = page(tmp_path, around)
    assert "around it" not in found.text
    assert "Which recoding was chosen" in found.text


@pytest.mark.parametrize(
    "around",
    [
        [],
        {},
        "around",
        {**AROUND, "near": 3},
        {**AROUND, "near": [3, {"column": 7}, {"column": "other", "step": 1, "score": 3.0}]},
        {**AROUND, "score": "much"},
        {**AROUND, "near": [{"column": "age", "step": "up", "score": 3.0}]},
    ],
)
def test_facts_of_another_form_are_refused(tmp_path: Path, around: Any) -> None:
    with pytest.raises(DoesNotVerify) as refused:
        page(tmp_path, around)
    assert refused.value.code == "data-contradict"


def test_names_cannot_break_the_page(tmp_path: Path) -> None:
    near = [{"column": name, "step": 2, "score": 1.5} for name in NASTY]
    found = page(tmp_path, {**AROUND, "near": near}, dict.fromkeys(NASTY, LEVEL))
    assert found.tags <= ALLOWED
    assert "step 3" in found.text
