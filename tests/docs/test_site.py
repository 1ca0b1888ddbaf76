"""Every page and notebook has its place in the site, once; `make site` refuses broken references itself."""

import re
from pathlib import Path

DOCS = Path(__file__).parents[2] / "docs"
TREE = re.compile(r"^```\{toctree\}\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def listed() -> list[str]:
    return [line for tree in trees((DOCS / "index.md").read_text(encoding="utf-8")) for line in tree.split()]


def test_every_page_has_one_place() -> None:
    pages = {path.relative_to(DOCS).with_suffix("").as_posix() for path in DOCS.rglob("*.md")} - {"index"}
    notebooks = {path.relative_to(DOCS).with_suffix("").as_posix() for path in DOCS.rglob("*.ipynb")}
    assert sorted(listed()) == sorted(pages | notebooks)


def test_the_site_has_its_parts_of_few_pages_and_says_for_whom() -> None:
    text = (DOCS / "index.md").read_text(encoding="utf-8")
    captions = re.findall(r"^:caption: (.+)$", text, re.MULTILINE)
    assert captions == ["Start", "Guides", "Worked examples", "Explanation", "Reference", "Research"]
    assert re.findall(r"^## (.+)\n\nFor ", text, re.MULTILINE) == captions
    linked = set(re.findall(r"\]\(([a-z_/-]+)\.(?:md|ipynb)\)", text))
    assert linked == set(listed())
    sizes = {caption: len(tree.split()) for caption, tree in zip(captions, trees(text), strict=True)}
    assert sizes["Start"] == 4
    assert sizes["Guides"] <= 22
    assert sizes["Explanation"] <= 6


def trees(text: str) -> list[str]:
    return [re.sub(r"^:.*$", "", tree, flags=re.MULTILINE) for tree in TREE.findall(text)]
