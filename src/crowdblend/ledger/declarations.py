"""Declarations of stewards beside releases: limits, people of a population, overlaps."""

from __future__ import annotations

import calendar
import getpass
import math
import re
import unicodedata
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import date

import msgspec
from msgspec.structs import asdict, force_setattr

from crowdblend.errors import InvalidInput, RefusedByLedger
from crowdblend.ledger.entry import Spending, check_text, normal_name
from crowdblend.ledger.identity import UNNAMED
from crowdblend.trusted.guarantees.parameters import check
from crowdblend.trusted.guarantees.privacy import Differential, Relation
from crowdblend.trusted.guarantees.wording import at_most
from crowdblend.trusted.machine.system import unnamed_user

NEVER = "never"
"""The `until` of a limit without an end, where the one before has one."""


class DeclarationRecord(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag_field="step"):
    """A statement of a steward: texts are printable, and names of populations have one spelling."""

    def __post_init__(self) -> None:
        for name, value in asdict(self).items():
            if name in ("population", "other"):
                force_setattr(self, name, normal_name(value))
            if value is None or name in ("at", "role", "relation", "order", "lost"):
                continue
            if name in ("epsilon", "delta"):
                check(name, value)
            else:
                check_text(name, value)

    def to_dict(self) -> dict[str, object]:
        """Return the declaration as JSON-ready data."""
        made: dict[str, object] = msgspec.to_builtins(self)
        return {name: value for name, value in made.items() if name != "step"}

    @property
    def author(self) -> str:
        """Who stated it, as they say, and the role by which PostgreSQL knew them."""
        named: str = self.by  # type: ignore[attr-defined]
        role: str = self.role  # type: ignore[attr-defined]
        return f"{named} (role {role})" if role else named


class Limit(DeclarationRecord, frozen=True, tag="limit"):
    """The largest ε, at this δ, that all releases about a population may come to, until the end of a day.

    It is about one relation, and counts in one way: the sum of losses, or Rényi divergence of an `order`. Both are
    fixed with it, since a limit that is kept by one count in one branch and by another in the next need not hold.
    `by` says who set it and `why` for what reason. After the day `until` nothing is released about the population
    before a new limit is set.
    """

    population: str
    epsilon: float
    delta: float
    until: str | None
    by: str
    why: str | None = None
    at: str = ""
    relation: Relation = Relation.ADD_REMOVE
    order: float | None = None
    role: str = ""

    def __post_init__(self) -> None:
        super().__post_init__()
        check("epsilon", self.epsilon)
        check("delta", self.delta)
        if self.until is not None:
            force_setattr(self, "until", last_day(self.until))
        if self.relation is Relation.CONCEAL:
            message = "A limit compares one person more or less, or one person's data replaced. Choose one of both."
            raise InvalidInput(message, where="relation", code="limit.relation")
        if self.order is not None and not (1 < self.order < math.inf and self.delta > 0):
            message = "A limit by Rényi divergence needs a delta above 0 and an order above 1."
            raise InvalidInput(message, remedy="Raise delta, or count by sums.", where="order", code="limit.order")

    @property
    def filter(self) -> str:
        """The way in which it counts."""
        return "sums" if self.order is None else "renyi"

    def words(self) -> str:
        """Return the limit for a message."""
        until = f" until {self.until}" if self.until is not None else ""
        replaced = " with one person's data replaced" if self.relation is Relation.REPLACE else ""
        return f"epsilon {at_most(self.epsilon)} at delta {at_most(self.delta)}{replaced}{until}"

    def check_change(self, before: Limit | None, *, keeps_end: bool) -> None:
        """Refuse a change without a reason, and one that drops an end if it is to be kept."""
        if before is None:
            return
        if self.why is None:
            message = f"{self.population!r} has a limit already, {before.words()}."
            raise InvalidInput(message, remedy="Say why it changes (why).", where="why", code="limit.reason")
        if keeps_end and before.until is not None and self.until is None:
            message = f"The limit of {before.population!r} so far holds until {before.until}."
            remedy = f"Say until when the new one holds (until): a day, or {NEVER}."
            raise InvalidInput(message, remedy=remedy, where="until", code="ledger.until")


class Description(DeclarationRecord, frozen=True, tag="population"):
    """The person responsible for a population, and who its people are."""

    population: str
    owner: str
    description: str
    by: str
    at: str = ""
    role: str = ""


class _Pair(DeclarationRecord, frozen=True):
    """A statement about two populations."""

    population: str
    other: str
    by: str
    why: str | None = None
    at: str = ""
    role: str = ""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.population == self.other:
            message = "A population does not overlap with itself. Name two populations."
            raise InvalidInput(message, where="POPULATION", code="ledger.overlap")


class Overlap(_Pair, frozen=True, tag="overlap"):
    """Two populations that have people in common, so that their losses add up."""


class Distinct(_Pair, frozen=True, tag="distinct"):
    """Two populations of other people, although some of their ids agree as small numbers do."""


class Threshold(DeclarationRecord, frozen=True, tag="threshold"):
    """The ε or δ beyond which a release about a population waits for an approval; `population` None is any of them.

    A release without an ε that adds up waits as well. Without both numbers no release waits any longer.
    """

    population: str | None
    epsilon: float | None
    delta: float | None
    by: str
    why: str | None = None
    at: str = ""
    role: str = ""

    @property
    def is_lifted(self) -> bool:
        """True if no release waits any longer."""
        return self.epsilon is None and self.delta is None

    def is_exceeded(self, loss: Differential | None) -> bool:
        """Return whether a release with this loss waits; None is one without an ε that adds up."""
        if self.is_lifted or loss is None:
            return not self.is_lifted
        stated = ((self.epsilon, loss.epsilon), (self.delta, loss.delta))
        return any(most is not None and spent > most for most, spent in stated)

    def words(self) -> str:
        """Return which releases wait, for a message."""
        whom = "any population" if self.population is None else repr(self.population)
        if self.is_lifted:
            return f"no release about {whom}"
        stated = {"epsilon": self.epsilon, "delta": self.delta}
        beyond = [f"{name} {at_most(value)}" for name, value in stated.items() if value is not None]
        return f"a release about {whom} beyond {' or '.join(beyond)}"

    def check_change(self, before: Threshold | None) -> None:
        """Refuse a change without a reason, and lifting a threshold that does not exist."""
        if before is None and self.is_lifted:
            message = "A threshold has an epsilon, a delta or both. Pass one."
            raise InvalidInput(message, where="epsilon", code="approval.no-threshold")
        if before is not None and self.why is None:
            message = f"There is a threshold already: {before.words()} waits for an approval."
            raise InvalidInput(message, remedy="Say why it changes (why).", where="why", code="approval.reason")


Declaration = Limit | Description | Overlap | Distinct | Threshold


@dataclass
class Declarations:
    """All declarations in a ledger by population; limits with their history, the one in force last."""

    limits: dict[str, list[Limit]] = field(default_factory=dict)
    descriptions: dict[str, Description] = field(default_factory=dict)
    overlaps: list[Overlap] = field(default_factory=list)
    distinct: list[Distinct] = field(default_factory=list)
    thresholds: dict[str | None, list[Threshold]] = field(default_factory=dict)

    def add(self, declaration: Declaration) -> None:
        """Take one more declaration into account."""
        if isinstance(declaration, Limit):
            self.limits.setdefault(declaration.population, []).append(declaration)
        elif isinstance(declaration, Description):
            self.descriptions[declaration.population] = declaration
        elif isinstance(declaration, Distinct):
            self.distinct.append(declaration)
        elif isinstance(declaration, Threshold):
            self.thresholds.setdefault(declaration.population, []).append(declaration)
        else:
            self.overlaps.append(declaration)

    def check_distinct(self, declaration: Distinct) -> None:
        """Refuse to call people others who were declared to overlap, which cannot be taken back."""
        if declaration.other in self.overlapping(declaration.population):
            message = f"{declaration.population!r} and {declaration.other!r} were declared to overlap."
            remedy = "That cannot be taken back; they add up."
            raise InvalidInput(message, remedy=remedy, where="POPULATION", code="ledger.overlap")

    def limit(self, population: str) -> Limit | None:
        """Return the limit in force."""
        found = self.limits.get(population)
        return found[-1] if found else None

    def threshold(self, population: str | None) -> Threshold | None:
        """Return the threshold in force of a population, or of any of them for None; None where no release waits."""
        found = self.thresholds.get(population)
        return None if not found or found[-1].is_lifted else found[-1]

    def exceeded_threshold(self, coming: Spending) -> Threshold | None:
        """Return the first threshold that a release exceeds: of its population, of one that overlaps, of the ledger."""
        names = (coming.population, *self.overlapping(coming.population), None)
        found = (self.threshold(name) for name in names)
        return next((one for one in found if one is not None and one.is_exceeded(coming.loss)), None)

    def is_watched(self, population: str) -> bool:
        """Return whether a population has a limit, or a threshold of its own."""
        return self.limit(population) is not None or self.threshold(population) is not None

    def overlapping(self, population: str) -> tuple[str, ...]:
        """Return the populations that were declared to share people with this one, in the order of declaration."""
        return _partners(population, self.overlaps)

    def others(self, population: str) -> tuple[str, ...]:
        """Return the populations that were declared to be other people, and not to overlap since."""
        overlapping = self.overlapping(population)
        return tuple(name for name in _partners(population, self.distinct) if name not in overlapping)

    def populations(self) -> list[str]:
        """Return every population that something was declared about."""
        pairs = [name for one in (*self.overlaps, *self.distinct) for name in (one.population, one.other)]
        thresholds = [name for name in self.thresholds if name is not None]
        return [*self.limits, *thresholds, *self.descriptions, *pairs]


def _partners(population: str, pairs: Iterable[_Pair]) -> tuple[str, ...]:
    """Return the populations that some statements name together with one."""
    names = ((one.population, one.other) for one in pairs)
    return tuple(
        dict.fromkeys(
            second if first == population else first for first, second in names if population in (first, second)
        )
    )


def last_day(until: str) -> str:
    """Return the last day of a year, a month or a day, as YYYY-MM-DD.

    >>> last_day("2030"), last_day("2028-02"), last_day("2030-05-01")
    ('2030-12-31', '2028-02-29', '2030-05-01')
    """
    stated = re.fullmatch(r"(\d{4})(?:-(\d{2})(?:-(\d{2}))?)?", until)
    with suppress(ValueError):
        if stated is not None:
            year, month = int(stated[1]), int(stated[2] or 12)
            return date(year, month, int(stated[3] or calendar.monthrange(year, month)[1])).isoformat()
    message = "until must be a year, a month or a day, such as 2030 or 2030-06-30. Correct it."
    raise InvalidInput(message, where="until", code="ledger.until")


def this_user() -> str:
    """Return the name of the user of this process, as the operating system knows it."""
    try:
        return getpass.getuser()
    except (KeyError, OSError, ImportError):
        return unnamed_user()


_BETWEEN = re.compile(r"[\W_]+")


def refuse_confusable(name: str, known_names: Iterable[str]) -> None:
    """Refuse a new name that differs from a known one in capitals, forms of letters or what is between words alone."""
    names = dict.fromkeys(known_names)
    if name in names or name.startswith(UNNAMED):
        return

    def spelling(text: str) -> str:
        return _BETWEEN.sub(" ", unicodedata.normalize("NFKC", text).casefold()).strip()

    for other in names:
        if spelling(name) == spelling(other):
            message = f"The ledger has a population {other!r}, and {name!r} is easily taken for it."
            remedy = f"Write {other!r} if these are the same people, else choose a name that reads differently."
            raise RefusedByLedger(message, remedy=remedy, where="population", code="population.look-alike")
