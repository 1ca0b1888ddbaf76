"""A report without figures: nothing is drawn, every number stays, and it is made again byte for byte."""

import re
from pathlib import Path

import crowdblend as cb
from crowdblend.reading.reports.write import report_html
from crowdblend.reading.verification.consistency import verify_release
from tests.cases import for_each
from tests.policies.policies import SOUND
from tests.reading.reports.releases import FACTS, release, table
from tests.reading.reports.test_hostile_folders import TABLES

_OF_DRAWINGS = re.compile(r"(?i)<svg|<figure|the strong\b|\bfaint\b|\bdrawn are\b|\bthe line is\b")


def pages(folder: Path) -> tuple[str, str]:
    """With and without, from where the styles end."""
    with_figures, without = (report_html(folder, figures=drawn).partition("</style>")[2] for drawn in (True, False))
    return with_figures, without


@for_each("kind", TABLES)
def test_nothing_is_drawn_and_every_number_stays(kind: str, tmp_path: Path) -> None:
    drawn, plain = pages(release(tmp_path, TABLES[kind], kind=kind))
    assert bool(_OF_DRAWINGS.search(drawn)) == (kind != "graph")
    assert not _OF_DRAWINGS.search(plain)
    assert re.findall(r"<tr>.*?</tr>", drawn) == re.findall(r"<tr>.*?</tr>", plain)


def test_points_on_a_line_are_listed(tmp_path: Path) -> None:
    """A map cannot be, and its points are in the data; bars can."""
    of_points = FACTS["points"]
    one = {"axes": {"x": of_points["axes"]["x"]}, "columns": {"x": of_points["columns"]["x"]}, "shapes": [[2]]}
    _, plain = pages(release(tmp_path, table(x=[1.0, 2.0, 2.5]), kind="points", **one))
    assert '<td>2 to 3</td><td class="number">2</td>' in plain


def test_numbers_are_not_folded_away(tmp_path: Path) -> None:
    """There is nothing above them to unfold them from."""
    drawn, plain = pages(release(tmp_path, table()))
    assert 'class="numbers"' in drawn
    assert 'class="numbers"' not in plain
    assert "<caption>People of the population" in plain


def test_a_release_without_them_verifies_and_its_page_is_made_again(tmp_path: Path, run) -> None:
    (tmp_path / "people.csv").write_text("id,sex,age\n1,Female,3\n2,Male,40\n", encoding="utf-8")
    (tmp_path / "policy.toml").write_text(SOUND, encoding="utf-8")
    done = cb.release(None, tmp_path / "policy.toml", out=tmp_path / "out", ledger=None, figures=False)
    verify_release(tmp_path / "out")
    page = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert done.report.html == page
    assert "<svg" not in page
    assert run(tmp_path / "out", "--no-figures", "--out", "-") == (0, page, "")
    assert "crowdblend report FOLDER --no-figures --out fresh.html" in page
