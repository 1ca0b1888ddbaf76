"""Neighbour relations: whose presence or data a promise hides. Always named, never implied."""

from enum import Enum


class Relation(Enum):
    """What may differ between two tables that a promise makes hard to tell apart."""

    ADD_REMOVE = "add-remove"
    REPLACE = "replace"
    CONCEAL = "conceal"

    @property
    def words(self) -> str:
        """The relation for a reader who has never heard of one."""
        return _WORDS[self]


_WORDS = {
    Relation.ADD_REMOVE: "one person more or less in the table",
    Relation.REPLACE: "one person's data replaced by any other data",
    Relation.CONCEAL: "one person's data concealed (in a network: the links too)",
}
