"""Pages are short enough to be read, and the first ones are easy to read."""

import doctest

from docs import words
from tests.cases import for_each

START = sorted((words.DOCS / "start").glob("*.md"))


@for_each("page", [page for page in words.pages() if page.name != "proofs.md"])
def test_a_page_is_read_in_one_go(page) -> None:
    assert words.words(words.text_of(page)) <= 2_500


@for_each("page", START)
def test_the_first_pages_are_plain_english(page) -> None:
    assert words.reading_ease(words.text_of(page)) >= 50


def test_every_page_is_in_a_section_once() -> None:
    listed = [page for members in words.sections().values() for page in members]
    assert sorted(listed) == sorted(words.pages())


def test_what_is_counted() -> None:
    assert doctest.testmod(words).failed == 0
