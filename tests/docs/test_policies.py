"""Whoever copies a policy from a page has one that is read; every kind of release is on the pages that list them."""

import re
from pathlib import Path

from crowdblend.policies.load import parse_policy
from crowdblend.policies.registry import KINDS
from tests.cases import for_each

ROOT = Path(__file__).parents[2]
POLICY = re.compile(r"^```toml\n(.*?)^```$", re.MULTILINE | re.DOTALL)
PAGES = ["release.md", "tables.md", "points.md", "outliers.md", "statistics.md", "synopsis.md", "graphs.md"]


def first_policy(page: str) -> str:
    found = POLICY.search((ROOT / "docs" / page).read_text(encoding="utf-8"))
    assert found
    return found[1]


@for_each("page", PAGES)
def test_the_policy_that_a_page_begins_with_is_whole(page: str, tmp_path: Path) -> None:
    (tmp_path / "education.csv").write_text("none;low\nschool;low\ncollege;high\n", encoding="utf-8")
    assert parse_policy(first_policy(page), tmp_path).kind in KINDS


def test_several_publications_have_a_policy_that_is_whole() -> None:
    text = (ROOT / "docs" / "release.md").read_text(encoding="utf-8").partition("## Several publications")[2]
    found = POLICY.search(text)
    assert found
    assert [one.kind for one in parse_policy(found[1]).publish] == ["table", "microdata", "statistics"]


def test_every_policy_of_the_page_about_surveys_is_whole() -> None:
    found = POLICY.findall((ROOT / "docs" / "surveys.md").read_text(encoding="utf-8"))
    assert len(found) == 5
    for text in found:
        sampling = parse_policy(text).sampling
        assert sampling.designed or sampling.thin == 0.8


def test_every_kind_begins_a_page_or_shares_one() -> None:
    kinds = {parse_kind(first_policy(page)) for page in PAGES}
    assert kinds | {"microdata", "synthetic"} == set(KINDS)


def parse_kind(text: str) -> str:
    found = re.search(r'^kind = "([a-z-]+)"', text, re.MULTILINE)
    assert found
    return found[1]


@for_each("kind", KINDS)
def test_every_kind_has_its_line_in_the_table(kind: str) -> None:
    assert f"\n| `{kind}` |" in (ROOT / "docs" / "release.md").read_text(encoding="utf-8")
