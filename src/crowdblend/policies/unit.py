"""The unit of protection: whose data are hidden, and which of a person's rows count.

An axis beside kind and design. Everybody has one row, and several are refused; or one random row of each person counts;
or a stated number of rows do, which one coin keeps together or, in crowds, a coin for each. Kinds ask the unit how many
rows of a person may move a number, what that makes of a claim, and for its words; the engine asks which rows are kept.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

from crowdblend.policies.rules import conflicts, needs
from crowdblend.trusted.machine.lazy import lazy_imports

if TYPE_CHECKING:
    from crowdblend.methods.designs import Claims, Design
    from crowdblend.methods.estimates.nouns import Noun
    from crowdblend.trusted.calculus import Derivation
with lazy_imports():
    from crowdblend.methods import designs

# The terms of a policy that say how many rows of a person count, and what they may not say with others.
ROWS = "rows_per_person"
WHERE_ROWS = f"`data.{ROWS}`"
RULES = (
    needs(ROWS, "person"),
    conflicts(ROWS, "duplicates=one", because="they say two things about people with several rows"),
)
ONE_ROW = (
    "Of a person with several rows one random row counts, and the others are in none of the numbers: of two rows half "
    "are left out, of ten nine in ten; how many that is in all is not published."
)


@dataclass(frozen=True)
class Unit:
    """At most `rows` random rows of a person count; None where everybody has one row.

    `one_row` says that people may have several, of whom one random row counts. `counts` says whether numbers are of
    rows, or of people, once in every class; `coins` that each row has a coin of its own, and not each person.
    """

    rows: int | None = None
    one_row: bool = False
    counts: Literal["rows", "people"] = "rows"
    coins: bool = False

    def counted(self, counts: Literal["rows", "people"] | None = None, *, coins: bool | None = None) -> Unit:
        """Return the unit as a kind counts it; the same where everybody has one row, of which nothing is left to say.

        So all publications of people with one row read one source.
        """
        if not self.several:
            return self
        return replace(self, counts=counts or self.counts, coins=self.coins if coins is None else coins)

    @property
    def several(self) -> bool:
        """True if several rows of a person may count."""
        return self.rows is not None

    @property
    def most(self) -> int:
        """The largest number of a person's rows that count."""
        return self.rows or 1

    @property
    def keeps_some_rows(self) -> bool:
        """True if people may have several rows, of which some are kept at random."""
        return self.one_row or self.several

    @property
    def counts_people(self) -> bool:
        """True if people count once in each of several classes, so that sums over classes are not of people."""
        return self.several and self.counts == "people"

    @property
    def has_row_coins(self) -> bool:
        """True if people have several rows, and each of them a coin of its own: crowds need it, and noise does not."""
        return self.several and self.coins

    def claimed(self, mechanism: Claims) -> Claims:
        """Return a mechanism on rows as it is claimed to people: noise hides all rows of a person together."""
        if self.coins or not self.several:
            return mechanism
        return designs.SeveralRows(mechanism, self.most, mechanism.copies)

    def derive(self, design: Design, claims: Sequence[Claims], epsilon: float) -> tuple[Derivation, ...]:
        """Derive what is guaranteed to everybody of a sample by what is claimed of it."""
        of_rows = self.has_row_coins
        return design.of_rows(claims, self.most, epsilon) if of_rows else design.derivations(claims, epsilon)

    def per_row(self, epsilon: float, delta: float) -> tuple[float, float]:
        """Return about the largest ε and δ of noise on one row that give this ε and δ for all rows of a person.

        A person's rows lose as much together, and the errors of the chain add up.
        """
        if self.rows is None:
            return epsilon, delta
        return epsilon / self.rows, delta * math.expm1(epsilon / self.rows) / math.expm1(epsilon)

    @property
    def stated(self) -> dict[str, Any]:
        """The unit as facts state it, by field."""
        return {ROWS: self.rows, "one_row": self.one_row}

    # Words for the steward.

    @property
    def kept(self) -> str | None:
        """The rows of each person that are kept, in words; None where several are refused."""
        if self.several:
            return f"at most {self.rows} rows of each are kept, at random"
        return "one row of each is kept at random" if self.one_row else None

    def describe_cut(self) -> list[str]:
        """Describe which rows of a person are left out, where some are, and which share of them that can be."""
        if not self.keeps_some_rows:
            return []
        most, (one, several) = self.most, ("class", "classes") if self.counts_people else ("row", "rows")
        kept = f"one random {one}" if most == 1 else f"at most {most} random {several}"
        share = f"of a person with {2 * most} {several} half are left out, with {10 * most} nine in ten"
        return [f"{kept} of each person; {share}"]

    # Words for readers.

    @property
    def rests_on(self) -> list[str]:
        """Sentences on the row that counts of a person who may have several."""
        return [ONE_ROW] if self.one_row else []

    def rows_counted(self, noun: Noun) -> list[str]:
        """Return a sentence on rows, by what they are called, where those of people with several are counted."""
        if self.rows is None:
            return []
        return [
            f"Counted are {noun.many}, at most {self.rows} random ones of each person, and not people. "
            f"{noun.many.capitalize()} beyond these are in none of the numbers, and in no error. "
            f"{self.left_out(noun.many)}"
        ]

    def left_out(self, what: str) -> str:
        """Return a sentence on the share of a person's rows, or classes, that the limit leaves out."""
        return (
            f"Of a person with {2 * self.most} {what} half are left out, of one with {10 * self.most} nine in ten; how "
            "many that is in all is not published."
        )

    def in_classes(self, what: str = "class") -> str | None:
        """Return a sentence on counts where people are counted in several classes, or blocks."""
        if self.rows is None:
            return None
        several = f"{what}es" if what.endswith("s") else f"{what}s"
        each = (
            f"in one random {what} of theirs"
            if self.rows == 1
            else f"once in each of at most {self.rows} random {several} of theirs"
        )
        return (
            f"Counts are people: everybody counts {each}. The other {several} of a person are in none of the numbers: "
            f"estimates and intervals are about the people who count in a {what}, and not about all who have it. "
            f"{self.left_out(several)} Sums over {several} are not numbers of people."
        )

    @property
    def meanings(self) -> dict[str, tuple[str, str]]:
        """The meaning of estimates where people are counted in several classes."""
        if self.rows is None:
            return {}
        counted = (
            f"people of the population who count in the class: it is one of at most {self.rows} random ones of theirs"
        )
        return {
            "estimate": ("number", f"The estimated number of {counted}; blank where cells are missing."),
            "low": ("integer", f"The lower end of the 95 % interval for the number of {counted}."),
            "high": ("integer", f"The upper end of the 95 % interval for the number of {counted}."),
        }
