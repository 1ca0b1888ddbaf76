"""The steps that are still missing before a policy in the making can go on, in sentences."""

from __future__ import annotations

from pathlib import Path

from crowdblend.errors import CrowdblendError
from crowdblend.studio.model.choices import WAY, Choices, column_of, policy_of

READY, INCOMPLETE, UNUSED = "ready", "incomplete", "unused"


def missing_in_data(choices: Choices, names: tuple[str, ...]) -> str | None:
    """Return why the data are not settled: no source, nobody who is protected, or no name for the people."""
    if not choices.text("data", "source") or not names:
        return "Choose the file or table with the data."
    if "person" in choices.declared_by_section["data"]:
        person = choices.value("data", "person")
        if not person and choices.text("data", "rows_are_people") != "true":
            return "Choose the column that tells people apart, or confirm that every row is another person."
        if person and person not in names:
            return "The data have no column of the name that is to tell people apart."
    if not choices.text("data", "population").strip():
        return "Name the people the data are about: the ledger adds up under that name what was guaranteed to them."
    return None


def column_status(choices: Choices, name: str, folder: Path | str = ".") -> tuple[str, CrowdblendError | None]:
    """Return whether a column is ready, incomplete with the reason, or not published."""
    if not choices.columns.get(name, {}).get(WAY):
        return UNUSED, None
    try:
        column_of(choices, name, folder)
    except CrowdblendError as refused:
        return INCOMPLETE, refused
    return READY, None


def missing_in_columns(choices: Choices, folder: Path | str = ".") -> str | None:
    """Return why the columns are not settled: none is declared, or one is incomplete."""
    if not choices.has_columns:
        return None
    if not choices.used_columns:
        return "Declare the domain of at least one column that is to be published."
    refusals = (column_status(choices, name, folder)[1] for name in choices.used_columns)
    return next((str(refused.in_notation(None)) for refused in refusals if refused is not None), None)


def missing_in_release(choices: Choices, folder: Path | str = ".") -> str | None:
    """Return why nothing can be planned: what the policy or the plan refuses."""
    try:
        policy_of(choices, folder).plan()
    except CrowdblendError as refused:
        return str(refused.in_notation(None))
    return None
