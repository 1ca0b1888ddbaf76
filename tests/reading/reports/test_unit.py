"""What a row is has a name: everything that counts rows calls them so, and whom a guarantee protects stays a person."""

import html
import json
import re
from pathlib import Path

import pytest

import crowdblend as cb
from crowdblend.errors import InvalidInput
from crowdblend.methods.estimates.nouns import noun_of
from crowdblend.policies.load import parse_policy
from crowdblend.publishing.release import release
from tests.cases import for_each
from tests.golden.releases import KEY, POLICIES, PROGRAMMES

# Here people are counted, whatever a row is: each once, or once in each of their classes.
PEOPLE = {"table-one", "microdata-visits"}
# Sections of a page about those whom the guarantee protects, and about checking it.
ABOUT_PEOPLE = ("guarantee", "assumptions", "derivation", "verify", "details")
# Sentences about who was drawn, and about one person's rows.
PERSON = re.compile(r"\b[Pp]e(ople|rsons?)\b")
PROTECTED = re.compile(
    "nobody is in two of them|somebody may be in several|the people who have them|of a person|each person|random people"
    "|those people|is a person|say something about the people|in small bins are hidden|guaranteed to people"
    # The name of a publication.
    r"|^people$|^Key numbers of people$|^(- )?(\w+, )*people(, \w+)*: |^. people.parquet"
)


@pytest.mark.parametrize("name", POLICIES | PROGRAMMES)
def test_every_sentence_and_chart_calls_rows_what_they_are(name: str, sources: Path, tmp_path: Path) -> None:
    policy = parse_policy((POLICIES | PROGRAMMES)[name], sources).replace(unit_word="traffic stops")
    release(policy, tmp_path / "out", key=KEY, ledger=None)
    folder = cb.read(tmp_path / "out")
    assert folder.facts.unit_word == "traffic stops"
    texts = [*shown(tmp_path / "out" / "report.html"), *read_me(tmp_path / "out" / "README.md")]
    texts += described(json.loads((tmp_path / "out" / "datapackage.json").read_text(encoding="utf-8")))
    assert any("traffic stop" in text for text in texts) != (name in PEOPLE)
    if name not in PEOPLE:
        left = [text for text in texts if PERSON.search(text) and not PROTECTED.search(text)]
        assert left == []


def shown(page: Path) -> list[str]:
    """The sentences, captions, heads and labels of a page that are about what was published."""
    text = re.sub(r"<(script|style).*?</\1>", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    for section in ABOUT_PEOPLE:
        text = re.sub(rf'<section id="{section}">.*?</section>', "", text, flags=re.DOTALL)
    text = re.sub(r'<p class="lead">.*?</p>', "", text, flags=re.DOTALL)
    alternatives = re.findall(r'aria-label="([^"]*)"', text)
    pieces = re.split(r"</?(?:p|li|dt|dd|h\d|td|th|caption|figcaption|text|title)\b[^>]*>", text)
    return [html.unescape(re.sub(r"<[^>]*>", "", piece)).strip() for piece in [*pieces, *alternatives]]


def read_me(path: Path) -> list[str]:
    text = re.sub(r"## What is guaranteed.*?(?=\n## )", "", path.read_text(encoding="utf-8"), flags=re.DOTALL)
    return [html.unescape(line) for line in text.splitlines()]


def described(package: dict) -> list[str]:
    fields = [field for resource in package["resources"] for field in resource["schema"]["fields"]]
    return [package["title"], *(field["description"] for field in fields)]


@for_each(
    ("unit", "one", "many"),
    [
        ("stops", "stop", "stops"),
        ("companies", "company", "companies"),
        ("ox, oxen", "ox", "oxen"),
        ("boxes", "box", "boxes"),
    ],
)
def test_a_unit_has_a_singular(unit: str, one: str, many: str) -> None:
    assert (noun_of(unit).one, noun_of(unit).many) == (one, many)


@for_each("unit", ["", " ", "a", "1", "<b>stops</b>", "stops\nand", "a, b, c", "x" * 200])
def test_what_is_no_noun_is_refused(unit: str, sources: Path) -> None:
    with pytest.raises(InvalidInput, match="unit"):
        parse_policy(POLICIES["table"], sources).replace(unit_word=unit)
