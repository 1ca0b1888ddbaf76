"""The generated pages are what the code says today."""

import re
from pathlib import Path

from crowdblend.api.examples import EXAMPLES
from crowdblend.notation import PYTHON, spell
from docs.error_codes import sentences
from docs.generate import PAGES
from tests.cases import for_each
from tests.policies.test_python_words import NOTATION

ROOT = Path(__file__).parents[2]


def assert_current(name: str) -> None:
    assert (ROOT / "docs" / name).read_text(encoding="utf-8") == PAGES[name](), "run make docs"


@for_each("name", ["theorems.md", "cli.md", "policy.md", "api.md", "combinations.md", "compared.md"])
def test_generated_pages_are_current(name: str) -> None:
    assert_current(name)


def test_the_page_of_errors_is_current_and_none_keeps_the_notation_of_files_in_python() -> None:
    assert_current("errors.md")
    found = [own for code, own in sentences().items() if code.startswith(("policy.", "plan."))]
    listed = [text for own in found for pair in own for text in pair]
    assert len(listed) > 300
    assert not [text for text in listed if NOTATION.search(spell(text, PYTHON))]


def test_proofs_that_rules_cite_exist() -> None:
    from crowdblend.trusted.calculus import RULES

    headings = re.findall(r"^## (.+)$", (ROOT / "docs" / "proofs.md").read_text(encoding="utf-8"), re.MULTILINE)
    anchors = {heading.lower().replace(",", "").replace(" ", "-") for heading in headings}
    cited = {
        match for rule in RULES.values() for match in re.findall(r"docs/proofs\.md#([a-z-]+)", rule.theorem.source)
    }
    assert cited
    assert cited <= anchors


def test_every_code_that_a_test_expects_is_on_the_page_with_its_sentence() -> None:
    page = (ROOT / "docs" / "errors.md").read_text(encoding="utf-8")
    listed = set(re.findall(r"^- `([a-z.-]+)`:", page, re.MULTILINE))
    families = {code.partition(".")[0] for code in listed if "." in code}
    pattern = re.compile(rf'code == "((?:{"|".join(families)})\.[a-z]+(?:-[a-z]+)*)"')
    tests = "".join(file.read_text(encoding="utf-8") for file in (ROOT / "tests").rglob("test_*.py"))
    expected = set(pattern.findall(tests))
    assert len(expected) > 40
    assert expected - listed == set()
    assert len(re.findall(r"^- `[a-z.-]+`: …(?: \*|$)", page, re.MULTILINE)) < 0.02 * len(listed)


def test_every_public_name_has_an_example_that_uses_it() -> None:
    assert {name for name, lines in EXAMPLES.items() if f"cb.{name}" not in lines} == set()
