"""Every page and notebook has its place in the site, once; `make site` refuses broken references itself."""

import re
from pathlib import Path

DOCS = Path(__file__).parents[2] / "docs"
TREE = re.compile(r"^```\{toctree\}\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def listed() -> list[str]:
    trees = TREE.findall((DOCS / "index.md").read_text(encoding="utf-8"))
    return [line for tree in trees for line in tree.splitlines() if line and not line.startswith(":")]


def test_every_page_has_one_place() -> None:
    pages = {path.relative_to(DOCS).with_suffix("").as_posix() for path in DOCS.rglob("*.md")} - {"index"}
    notebooks = {path.relative_to(DOCS).with_suffix("").as_posix() for path in DOCS.rglob("*.ipynb")}
    assert sorted(listed()) == sorted(pages | notebooks)


def test_the_site_has_four_parts_and_says_for_whom() -> None:
    text = (DOCS / "index.md").read_text(encoding="utf-8")
    captions = re.findall(r"^:caption: (.+)$", text, re.MULTILINE)
    assert captions == ["Start", "How to", "Explanation", "Reference"]
    assert re.findall(r"^## (.+)\n\nFor ", text, re.MULTILINE) == captions
    linked = set(re.findall(r"\]\(([a-z_/-]+)\.(?:md|ipynb)\)", text))
    assert linked == set(listed())
