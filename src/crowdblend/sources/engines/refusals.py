"""Data that cannot be released: every engine refuses them with the same code, place, sentence and remedy.

Codes begin with `data.` and never change their meaning. Messages name files, columns and keys of the policy, never a
value, a person or a count.
"""

from __future__ import annotations

from typing import NoReturn

from crowdblend.errors import InvalidInput


def refusal(code: str, message: str, remedy: str, where: str) -> InvalidInput:
    """Return an error about the data; its code begins with `data.`."""
    return InvalidInput(message, remedy=remedy, where=where, code=f"data.{code}")


def to_see(what: str) -> str:
    """Return where the steward sees what no refusal shows."""
    return f"To see {what}: `crowdblend check`."


def at_column(name: str) -> str:
    """Return the column that a refusal is about, in words."""
    return f"column {name!r}"


def missing_column(source: str, name: str, remedy: str = "Check its spelling.") -> InvalidInput:
    """Return the refusal of a source without a column that the policy names."""
    return refusal("missing-column", f"{source} has no column {name!r}.", remedy, at_column(name))


def no_rows() -> InvalidInput:
    """Return the refusal of a source without a single row."""
    return refusal("no-rows", "The data have no rows.", "Check `data.source`.", "`data.source`")


def outside_bounds(name: str, hint: str | None = None) -> InvalidInput:
    """The refusal of values of a column of numbers outside its bounds; the hint says what helps, where it is known."""
    usual = '`outside = "clamp"` or blank, or widen the bounds.'
    remedy = f"Set {usual}" if hint is None else f"{hint}. Or: set {usual}"
    message = f"Column {name!r} has blanks, or values outside its bounds."
    return refusal("outside-bounds", message, f"{remedy} {to_see('them')}", at_column(name))


def outside_weights(name: str) -> InvalidInput:
    """Return the refusal of design weights that contradict the rates of the policy."""
    message = f"A weight of column {name!r} is blank, no number, or outside the breaks or rates that bound weights."
    remedy = "Widen its breaks, or `sampling.low` and `sampling.high`; leave out people without a weight."
    return refusal("outside-weights", message, remedy, at_column(name))


def larger_survey(people: int) -> InvalidInput:
    """Return the refusal of a survey that has more people than were drawn."""
    message = f"`sampling.people` is {people}, and the table holds more people than that."
    return refusal("people", message, "Count them and correct it.", "`sampling.people`")


def outside_domain(name: str, remedy: str) -> InvalidInput:
    """Return the refusal of values of a column that belong to no class."""
    message = f"Column {name!r} has blanks, or values outside its declared domain."
    return refusal("outside-domain", message, f"{remedy} {to_see('them')}", at_column(name))


def missing_person(name: str) -> InvalidInput:
    """Return the refusal of a row that names nobody."""
    message = f"A row of person column {name!r} is blank."
    return refusal("missing-person", message, f"Remove or complete such rows. {to_see('how many')}", at_column(name))


def repeated_person(name: str) -> InvalidInput:
    """Return the refusal of a person with several rows."""
    message = f"Someone has several rows in person column {name!r}."
    remedy = 'Merge them, or set `data.duplicates = "one"` to keep one at random (not for statistics).'
    return refusal("repeated-person", message, f"{remedy} {to_see('who')}", at_column(name))


def refuse_blanks(name: str, what: str) -> NoReturn:
    """Refuse a row of a network's tables without a name or value."""
    raise refusal("blank", f"Column {name!r} of the {what} has blanks.", "Remove those rows.", at_column(name))


def refuse_broken_name(name: str, kind: str) -> NoReturn:
    """Refuse people's names that are numbers with fractions."""
    message = f"Column {name!r} holds names of people, and its type is {kind}."
    raise refusal("name-type", message, "Convert it to whole numbers or texts.", at_column(name))


def out_of_memory() -> InvalidInput:
    """Return the refusal of data that do not fit the memory that the steward allows."""
    message = "Reading and grouping the data takes more than `release.memory` allows."
    return refusal("memory", message, "Raise it, or coarsen the columns.", "`release.memory`")
