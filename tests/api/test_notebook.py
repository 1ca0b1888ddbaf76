"""What a notebook shows: the guarantee, a figure, the first rows; nothing in it can become markup."""

from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import crowdblend as cb
from tests.api.survey import KEY, PEOPLE, survey, table

EVIL = '<script>alert("x")</script>'


class Tags(HTMLParser):
    """Every tag and attribute of a page."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.text = ""
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        assert not any(name.startswith("on") for name, _ in attrs)

    def handle_data(self, data: str) -> None:
        self.text += data


@pytest.fixture(scope="module")
def evil() -> tuple[cb.Policy, cb.Release]:
    rows = survey().rename_columns(["person_id", EVIL, "age"])
    columns: dict[str, Any] = {EVIL: cb.values("Male", other=EVIL)}
    policy = table(columns=columns)
    return policy, cb.release(rows, policy, ledger=None, key=KEY)


def test_a_release_shows_guarantee_figure_and_rows(evil: tuple[cb.Policy, cb.Release]) -> None:
    page = evil[1]._repr_html_()
    seen = Tags(page)
    assert "Someone who studies this release can guess" in seen.text
    assert {"svg", "table"} <= set(seen.tags)
    assert "script" not in seen.tags
    assert "<script>" in seen.text  # as text
    assert "in memory" in seen.text


def test_a_plan_shows_guarantees_and_assumptions(evil: tuple[cb.Policy, cb.Release]) -> None:
    seen = Tags(evil[0].plan()._repr_html_())
    assert "script" not in seen.tags
    assert "k = 35" in seen.text
    assert "Assumptions" in seen.text
    solved: cb.Plan = cb.plan(rate=0.5, epsilon=1.0, delta=1e-6)
    assert type(evil[0].plan()).__mro__.index(cb.Plan) > 0  # both are one class to whoever reads them
    assert solved.describe()[0] == ("k", "35")
    assert "Assumptions" in Tags(solved._repr_html_()).text


def test_a_report_stays_in_a_frame_without_scripts(evil: tuple[cb.Policy, cb.Release]) -> None:
    page = evil[1].report._repr_html_()
    seen = Tags(page)
    assert seen.tags == ["iframe"]
    assert 'sandbox=""' in page


def test_secrets_are_not_shown(evil: tuple[cb.Policy, cb.Release]) -> None:
    assert repr(evil[1]) == "Release(folder=None, entry=None)"
    assert KEY.hex() not in repr(evil[1].__dict__)


def test_csv_labels_stay_texts() -> None:
    texts = pa.array(["007", "12"] * (PEOPLE // 2))
    rows = survey().set_column(1, "sex", texts)
    policy = table(columns={"sex": cb.values("007", "12")}, format="csv")
    done = cb.release(rows, policy, ledger=None)
    assert done.data["sex"].to_pylist() == ["007", "12"]
    assert str(done.data["sampled"].type) == "int64"


@pytest.mark.filterwarnings("ignore:No ledger at")
def test_a_policy_a_certificate_a_budget_and_a_verdict_show_their_content(
    evil: tuple[cb.Policy, cb.Release], tmp_path: Path
) -> None:
    policy = evil[0].replace(population=f"residents {EVIL}")
    ledger = cb.Ledger(tmp_path / "office.db")
    cb.release(survey().rename_columns(["person_id", EVIL, "age"]), policy, ledger=ledger, key=KEY)
    verdict = replace(cb.audit(table(), runs=1_000, batch=True), subject=EVIL)
    shown: dict[str, Any] = {
        "publish": policy,
        "Assumptions": evil[1].certificate,
        "In total": ledger.budget(f"residents {EVIL}"),
        "no finding": verdict,
    }
    for text, value in shown.items():
        page = value._repr_html_()
        seen = Tags(page)
        assert text in seen.text
        assert "script" not in seen.tags
        assert (EVIL in seen.text) == (value is not evil[1].certificate)
    assert KEY.hex() not in "".join(value._repr_html_() for value in shown.values())


def test_a_ledger_says_where_it_is(tmp_path: Path) -> None:
    assert repr(cb.Ledger(tmp_path / "office.db")) == f"Ledger({str(tmp_path / 'office.db')!r})"
    assert not (tmp_path / "office.db").exists()
