"""The choice of the recoding in a report, from the certificate's facts; those of another form are refused."""

from pathlib import Path
from typing import Any

import pytest

from crowdblend.errors import DoesNotVerify
from crowdblend.reading.reports.write import report_html
from tests.cases import for_each
from tests.reading.reports.releases import NASTY, release, table
from tests.reading.reports.test_report import ALLOWED, Page

LEVEL = {"step": 1, "steps": 3, "level": 1, "classes": 4, "loss": 0.25}


def page(folder: Path, chosen: Any, **choice: Any) -> Page:
    score = {"score": "expected-people", "counted_from": 35, "rate": 0.5, "stands_for": 1, "parts": 3000}
    recoding = {
        "choice": {"score": score, "epsilon": 0.1, **choice},
        "score": "loss",
        "recodings": 12,
        "released_epsilon": 0.8,
        "chosen": chosen,
    }
    return Page(report_html(release(folder, table(), recoding=recoding)))


def test_the_report_says_what_was_chosen_and_what_it_cost(tmp_path: Path) -> None:
    found = page(tmp_path, {"age": LEVEL, "sex": LEVEL}, choices=4)
    for text in ("2 of 3", "25 %", "ε = 0.1", "in 4 steps", "12 combinations"):
        assert text in found.text


def test_nothing_is_said_where_nothing_was_chosen(tmp_path: Path) -> None:
    assert "Which recoding was chosen" not in page(tmp_path, {}).text


@for_each("chosen", [[], "age", {"age": 3}, {"age": {}}, {"age": {**LEVEL, "step": "up"}}])
def test_facts_of_another_form_are_refused(tmp_path: Path, chosen: Any) -> None:
    with pytest.raises(DoesNotVerify) as refused:
        page(tmp_path, chosen)
    assert refused.value.code == "data-contradict"


def test_names_cannot_break_the_page(tmp_path: Path) -> None:
    found = page(tmp_path, dict.fromkeys(NASTY, LEVEL))
    assert found.tags <= ALLOWED
    assert "2 of 3" in found.text
