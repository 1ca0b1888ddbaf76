"""Nouns for what is counted: people, unless the policy says that rows are stops, visits or pupils.

A noun is a word, not a claim. Whom a guarantee protects is a person, whatever rows are called.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_NOUN = r"[^\W\d_][\w '’-]{0,58}\w"
# One noun, or a singular and a plural.
NOUNS = rf"{_NOUN}( *, *{_NOUN})?"
_IRREGULAR = {"children": "child", "men": "man", "women": "woman", "people": "person", "lives": "life"}
# Plurals whose singular lacks more than an s.
_ENDINGS = (("ies", "y"), ("sses", "ss"), ("xes", "x"), ("ches", "ch"), ("shes", "sh"), ("s", ""))


@dataclass(frozen=True)
class Noun:
    """A word for one and for several of what is counted."""

    one: str
    many: str

    def of(self, number: float) -> str:
        """Return the word that fits a number.

        >>> PEOPLE.of(1), PEOPLE.of(2)
        ('person', 'people')
        """
        return self.one if number == 1 else self.many


def noun_of(unit: str | None) -> Noun:
    """Return the noun that a policy's `unit` names: a plural, or a singular and a plural with a comma between.

    >>> noun_of("stops"), noun_of("residents of the town").one, noun_of("ox, oxen").one, noun_of(None).many
    (Noun(one='stop', many='stops'), 'resident of the town', 'ox', 'people')
    """
    if unit is None:
        return PEOPLE
    if "," in unit:
        one, many = (word.strip() for word in unit.split(",", 1))
        return Noun(one, many)
    # "residents of the town" is about residents, and "traffic stops" about stops.
    head, of, rest = unit.partition(" of ")
    *before, last = head.split(" ")
    return Noun(f"{' '.join([*before, _singular(last)])}{of}{rest}", unit)


def is_noun(unit: str) -> bool:
    """Return whether a text can name what rows are: words, or a singular and a plural with a comma between.

    >>> is_noun("stops"), is_noun("ox, oxen"), is_noun("a, b, c"), is_noun("<b>"), is_noun("")
    (True, True, False, False, False)
    """
    return re.fullmatch(NOUNS, unit) is not None


def _singular(word: str) -> str:
    if word.lower() in _IRREGULAR:
        return _IRREGULAR[word.lower()]
    for ending, instead in _ENDINGS:
        if word.endswith(ending) and len(word) > len(ending) + 1:
            return word.removesuffix(ending) + instead
    return word


PEOPLE, ROWS = Noun("person", "people"), Noun("row", "rows")
