"""Publications: what a policy publishes, each with the keys that are its own, and nothing of the policy.

The value that users write is the one that TOML is read into, and by which kinds plan.
"""

from __future__ import annotations

import re
from typing import Annotated, ClassVar

from msgspec.structs import fields

from crowdblend.policies.columns import Column
from crowdblend.policies.key import Rule, Section, key, keys_of
from crowdblend.policies.refusals import did_you_mean, refusal
from crowdblend.policies.rules import conflicts
from crowdblend.policies.terms import Terms
from crowdblend.policies.value_types import Names
from crowdblend.trusted.guarantees.parameters import Parameter

_WEIGHT = Parameter(0, 10**6, "", low_open=True)
# Files that a release has beside its publications.
_TAKEN = ("totals", "certificate", "datapackage", "report", "readme")
# Names that no file can have on Windows, whatever its ending: such a folder could not be unpacked there.
_DEVICE = re.compile(r"con|prn|aux|nul|com[0-9]|lpt[0-9]", re.IGNORECASE)
PUBLICATION_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,99}")


class Publication(Section, frozen=True, kw_only=True):
    """One thing to publish: its keys, and what its kind needs to know of a policy before it is planned.

    A kind declares its keys as fields. Type checkers are told of positional columns by an `__init__` beside them.
    """

    section = "publish"
    positional = "columns"
    rules: ClassVar[tuple[Rule, ...]] = (
        conflicts("share", "weight", code="weight", because="shares are planned by weights"),
    )

    kind: ClassVar[str]
    # The designs that it is certified for, the usual one first.
    designs: ClassVar[tuple[str, ...]] = ()
    # The terms that it has no use for, and refuses.
    lacks: ClassVar[tuple[str, ...]] = ()
    # What is written for noise on every cell, where that can be written.
    says_noise: ClassVar[str] = ""
    # Whether it may be one of several publications.
    joins_others: ClassVar[bool] = True
    # Whether rows of the data are links between people, columns may be axes of a map, or numbers within bounds.
    rows_are_links: ClassVar[bool] = False
    has_axes: ClassVar[bool] = False
    has_numbers: ClassVar[bool] = False
    # Whether what is published are cells with counts, and whether the audit knows how to draw it by strata.
    rows_are_counted: ClassVar[bool] = False
    audits_strata: ClassVar[bool] = False

    name: Annotated[
        str | None, key("Its name, and that of its file; data unless given, and needed where there are several.")
    ] = None
    share: Annotated[
        float | None,
        key(
            "The share of the sample that it is computed from, and no other publication; planned unless given.", "share"
        ),
    ] = None
    weight: Annotated[
        float,
        key("How much its error matters beside the others', where shares are planned; 1 unless given.", _WEIGHT),
    ] = 1.0
    columns: Annotated[
        Names, key("The columns that it publishes, all declared in `columns`; all of them unless given.")
    ] = ()

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.name is not None and not PUBLICATION_NAME.fullmatch(self.name):
            message = f"`publish.name` is {self.name[:60]!r}, which cannot be a file name."
            raise refusal("publication-name", message, "Use at most 100 letters, digits, - and _.", "`publish.name`")
        if self.name is not None and _DEVICE.fullmatch(self.name):
            message = f"`publish.name` is {self.name!r}, and Windows has a device of this name."
            raise refusal("publication-name", message, "Choose another name.", "`publish.name`")
        if self.name is not None and self.name.lower() in _TAKEN:
            message = f"A file called {self.name!r} is written beside the data."
            raise refusal("publication-name", message, "Choose another name.", "`publish.name`")
        if len(set(self.columns)) < len(self.columns):
            message = "A publication names a column twice."
            raise refusal("publication-columns", message, "Name each column once.", "`publish.columns`")

    def expand(self, terms: Terms, split: str | None) -> tuple[Publication, ...]:
        """Return the publications that it stands for: itself, or several that share its budget.

        `terms` are what the policy says once, `split` how its publications share people or epsilon.
        """
        del terms, split
        return (self,)

    def under_design(self, terms: Terms) -> Terms:
        """Return the `terms` without what it has no use for under their design, which took another one's place."""
        return terms

    def among_others(self, terms: Terms) -> Terms:
        """Return the `terms` as one of several publications has them; of everybody the delta is theirs together."""
        return terms.replace(delta=None) if terms.sampling.everybody else terms

    @property
    def asks_for_noise(self) -> bool:
        """True if all that it publishes is noisy, or can be as it is written, so that a budget may be shared."""
        return False

    def with_noise(self) -> Publication | None:
        """Return the same with noise on every cell, where it suppresses small ones; None where it cannot have it."""
        return None

    def columns_of(self, terms: Terms) -> tuple[Column, ...]:
        """Return the columns of the `terms` that this publication names, in its order; all where it names none."""
        by_name = {column.name: column for column in terms.columns}
        for name in self.columns:
            if name not in by_name:
                who = f"{self.kind} {self.name!r}" if self.name else self.kind
                message = f"The {who} takes a column {name[:60]!r}, which `columns` does not declare."
                remedy = did_you_mean(name, by_name) if by_name else "Declare it in `columns`."
                raise refusal("unknown-column", message, remedy, "`publish.columns`")
        return tuple(by_name[name] for name in self.columns) if self.columns else terms.columns

    def __hash__(self) -> int:
        return hash((self.kind, self.columns, self.name))

    def __repr__(self) -> str:
        values = ((field.name, getattr(self, field.name), field.default) for field in fields(type(self)))
        given = {name: value for name, value, default in values if value != default}
        said = [*map(repr, given.pop(self.positional, ())), *(f"{name}={value!r}" for name, value in given.items())]
        return f"{type(self).__name__}({', '.join(said)})"


# The keys that publications of most kinds have.
COMMON = tuple(keys_of(Publication))
