"""Links of pages and notebooks lead to files, and to headings, that exist; nothing is fetched."""

import json
import re
from collections import Counter
from functools import cache
from pathlib import Path

from tests.cases import for_each

ROOT = Path(__file__).parents[2]
PAGES = sorted(
    [
        *ROOT.glob("*.md"),
        *(ROOT / "docs").rglob("*.md"),
        *(ROOT / "examples").glob("*.md"),
        *ROOT.glob("docs/*/*.ipynb"),
    ]
)
LINK = re.compile(r"\]\(\s*([^()\s]+)\s*\)")
CODE = re.compile(r"^( *)```.*?^\1```", re.MULTILINE | re.DOTALL)
INLINE = re.compile(r"`[^`\n]*`")
HEADING = re.compile(r"^#{1,6} +(.+?) *#*$", re.MULTILINE)


@cache
def prose(page: Path) -> str:
    """A page without its code; of a notebook, its text cells."""
    text = page.read_text(encoding="utf-8")
    if page.suffix == ".ipynb":
        cells = json.loads(text)["cells"]
        text = "\n\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown")
    return CODE.sub("", text)


@cache
def anchors(page: Path) -> frozenset[str]:
    """The anchors of a page's headings, made as GitHub and the site make them."""
    seen: Counter[str] = Counter()
    found = set()
    for heading in HEADING.findall(prose(page)):
        words = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).replace("`", "").lower()
        slug = re.sub(r"[^\w\- ]", "", words).replace(" ", "-")
        found.add(f"{slug}-{seen[slug]}" if seen[slug] else slug)
        seen[slug] += 1
    return frozenset(found)


def broken(page: Path) -> list[str]:
    """The links of a page that lead nowhere."""
    found = []
    for link in LINK.findall(INLINE.sub("", prose(page))):
        if re.match(r"[a-z]+:", link):
            continue
        target, _, anchor = link.partition("#")
        file = (page.parent / target).resolve() if target else page
        if not file.exists() or (anchor and anchor not in anchors(file)):
            found.append(link)
    return found


@for_each("page", PAGES)
def test_links_lead_somewhere(page: Path) -> None:
    assert broken(page) == []


def test_a_broken_link_is_found(tmp_path: Path) -> None:
    """The check itself: a missing file, a missing heading, a heading that is only code, and what is fine."""
    page = tmp_path / "page.md"
    page.write_text(
        "# A page: `k` and rate\n\n[a](other.md) [b](#b) [c](#code)\n\n```\n# code\n```\n"
        "[d](page.md#a-page-k-and-rate) [e](https://example.org/#x) `[f](none)`\n",
        encoding="utf-8",
    )
    assert broken(page) == ["other.md", "#b", "#code"]


def test_pages_link_to_no_file_that_the_site_lacks() -> None:
    """A link out of docs/ would be dead on the site; such files are named as code instead."""
    outside = [
        (page.name, link)
        for page in PAGES
        if page.is_relative_to(ROOT / "docs")
        for link in LINK.findall(INLINE.sub("", prose(page)))
        if not re.match(r"[a-z]+:|#", link)
        and not (page.parent / link.partition("#")[0]).resolve().is_relative_to(ROOT / "docs")
    ]
    assert outside == []
