"""What stewards state in a ledger beside releases: limits, who the people of a population are, and which overlap."""

from __future__ import annotations

import getpass
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any

from crowdblend.errors import InvalidInput
from crowdblend.guarantees.parameters import check
from crowdblend.guarantees.wording import at_most
from crowdblend.ledger.entry import normal_name

NEVER = "never"
"""What is said of a limit that has no end, where the one before has one."""
_LONGEST = 1000


@dataclass(frozen=True)
class Limit:
    """The largest ε, at this δ, that all releases about a population may come to, until the end of a day.

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

    def __post_init__(self) -> None:
        check("epsilon", self.epsilon)
        check("delta", self.delta)
        _name(self, "population", "by")
        if self.why is not None:
            _name(self, "why")
        if self.until is not None:
            object.__setattr__(self, "until", last_day(self.until))

    def has_ended(self, today: str) -> bool:
        """Whether the last day of the limit is over."""
        return self.until is not None and today > self.until

    def words(self) -> str:
        """The limit for a message."""
        until = f" until {self.until}" if self.until is not None else ""
        return f"epsilon {at_most(self.epsilon)} at delta {at_most(self.delta)}{until}"

    def to_dict(self) -> dict[str, Any]:
        """The limit as JSON-ready data."""
        return dict(vars(self))


@dataclass(frozen=True)
class Description:
    """Who answers for a population, and who the people are."""

    population: str
    owner: str
    description: str
    by: str
    at: str = ""

    def __post_init__(self) -> None:
        _name(self, "population", "owner", "description", "by")

    def to_dict(self) -> dict[str, Any]:
        """The description as JSON-ready data."""
        return dict(vars(self))


@dataclass(frozen=True)
class Overlap:
    """Two populations that have people in common, so that their losses add up."""

    population: str
    other: str
    by: str
    why: str | None = None
    at: str = ""

    def __post_init__(self) -> None:
        _name(self, "population", "other", "by")
        if self.why is not None:
            _name(self, "why")
        if normal_name(self.population) == normal_name(self.other):
            raise InvalidInput(
                "a population does not overlap with itself. Name two populations.",
                where="POPULATION",
                code="ledger.overlap",
            )

    def to_dict(self) -> dict[str, Any]:
        """The overlap as JSON-ready data."""
        return dict(vars(self))


Statement = Limit | Description | Overlap
_STEPS: dict[str, type[Statement]] = {"limit": Limit, "population": Description, "overlap": Overlap}


def step_of(statement: Statement) -> str:
    """Under which name a statement is recorded."""
    return next(step for step, kind in _STEPS.items() if isinstance(statement, kind))


def names_in(statement: Statement) -> tuple[str, ...]:
    """The populations that a statement is about."""
    return (statement.population, *((statement.other,) if isinstance(statement, Overlap) else ()))


def is_statement(step: object) -> bool:
    """Whether a record with this step states something, instead of being a step of a release."""
    return step in _STEPS


def statement_of(content: Mapping[str, Any]) -> Statement | None:
    """The statement that a record holds; None where it is a step of a release."""
    kind = _STEPS.get(content["step"])
    if kind is None:
        return None
    return kind(**{name: content[name] for name in kind.__dataclass_fields__})


def refuse_change_without_reason(before: Limit | None, limit: Limit) -> None:
    """Whoever changes a limit says why."""
    if before is not None and limit.why is None:
        raise InvalidInput(
            f"{limit.population!r} has a limit already, {before.words()}.",
            remedy="Say why it changes, with --why.",
            where="why",
            code="limit.reason",
        )


def refuse_dropped_end(before: Limit | None, limit: Limit) -> None:
    """Refuse a limit without an end where the one before has one."""
    if before is not None and before.until is not None and limit.until is None:
        raise InvalidInput(
            f"the limit of {before.population!r} so far holds until {before.until}.",
            remedy=f"Say until when the new one holds with --until: a day, or {NEVER}.",
            where="until",
            code="ledger.until",
        )


def last_day(until: Any) -> str:
    """The last day of a year, a month or a day, as YYYY-MM-DD.

    >>> last_day("2030"), last_day("2028-02"), last_day("2030-05-01")
    ('2030-12-31', '2028-02-29', '2030-05-01')
    """
    text = str(until)
    try:
        if re.fullmatch(r"\d{4}", text):
            return date(int(text), 12, 31).isoformat()
        if re.fullmatch(r"\d{4}-\d{2}", text):
            year, month = map(int, text.split("-"))
            first = date(year, month, 1)
            following = date(first.year + month // 12, month % 12 + 1, 1)
            return date.fromordinal(following.toordinal() - 1).isoformat()
        if re.fullmatch(r"\d{4}-\d{2}-\d{2}", text):
            return date.fromisoformat(text).isoformat()
    except ValueError:
        pass
    raise InvalidInput(
        "until is a year, a month or a day, such as 2030 or 2030-06-30. Correct it.", where="until", code="ledger.until"
    )


def this_user() -> str:
    """The name of whoever runs this process, as the operating system knows it."""
    try:
        return getpass.getuser()
    except (KeyError, OSError, ImportError):
        return f"user {os.getuid()}"


def _name(statement: Any, *names: str) -> None:
    for name in names:
        value = getattr(statement, name)
        if name in ("population", "other"):
            value = normal_name(value)
            object.__setattr__(statement, name, value)
        if not isinstance(value, str) or not value.strip() or not value.isprintable() or len(value) > _LONGEST:
            raise InvalidInput(
                f"{name} is a text of 1 to {_LONGEST} printable characters. Correct it.", where=name, code="ledger.name"
            )
