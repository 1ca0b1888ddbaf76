"""The generated pages are what the code says today."""

import re
from pathlib import Path

from docs.generate import PAGES
from tests.cases import for_each

ROOT = Path(__file__).parents[2]


@for_each("name", ["theorems.md", "cli.md", "policy.md", "api.md", "compared.md"])
def test_generated_pages_are_current(name: str) -> None:
    assert (ROOT / "docs" / name).read_text(encoding="utf-8") == PAGES[name](), "run make docs"


def test_proofs_that_rules_cite_exist() -> None:
    from crowdblend.calculus import RULES

    headings = re.findall(r"^## (.+)$", (ROOT / "docs" / "proofs.md").read_text(encoding="utf-8"), re.MULTILINE)
    anchors = {heading.lower().replace(",", "").replace(" ", "-") for heading in headings}
    cited = {
        match for rule in RULES.values() for match in re.findall(r"docs/proofs\.md#([a-z-]+)", rule.theorem.source)
    }
    assert cited
    assert cited <= anchors
