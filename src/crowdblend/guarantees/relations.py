"""Neighbour relations: whose presence or data a guarantee hides. Always named, never implied."""

from enum import Enum


class Relation(Enum):
    """What may differ between two tables that a guarantee makes hard to tell apart."""

    ADD_REMOVE = "add-remove"
    REPLACE = "replace"
    CONCEAL = "conceal"

    @property
    def words(self) -> str:
        """The relation for a reader who has never heard of one."""
        return _WORDS[self]

    def otherwise(self, people: int = 1) -> str:
        """Completes 'what it would be …': the other of two neighbouring tables."""
        return _OTHERWISE[self].format("the person" if people == 1 else f"any {people} people")


_WORDS = {
    Relation.ADD_REMOVE: "one person more or less in the table",
    Relation.REPLACE: "one person's data replaced by any other data",
    Relation.CONCEAL: "one person's data concealed (in a network: the links too)",
}
_OTHERWISE = {
    Relation.ADD_REMOVE: "without {}",
    Relation.REPLACE: "with any other data for {}",
    Relation.CONCEAL: "with the data of {} concealed",
}
