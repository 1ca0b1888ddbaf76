"""Publications: what a policy publishes, each with what is its own, and nothing of the policy."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from copy import copy
from functools import wraps
from typing import Annotated, Any, ClassVar, TypeVar, cast

from crowdblend.guarantees.parameters import Parameter
from crowdblend.policies.columns import Column
from crowdblend.policies.key import Key, Rule, Section, conflicts, key, keys_of, parts_of
from crowdblend.policies.publication_policy import PublicationPolicy
from crowdblend.policies.refusals import did_you_mean, refusal, speaking_python
from crowdblend.policies.terms import SHARED, Terms
from crowdblend.policies.value_types import Names

# Files that a release has beside its publications.
_WEIGHT = Parameter(0, 10**6, "", low_open=True)
_TAKEN = ("totals", "certificate", "datapackage", "report", "readme")
# Names that no file can have on Windows, whatever its ending: such a folder could not be unpacked there.
_DEVICE = re.compile(r"con|prn|aux|nul|com[0-9]|lpt[0-9]", re.IGNORECASE)
PUBLICATION_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,99}")
PolicyT = TypeVar("PolicyT", bound=PublicationPolicy)


class CommonKeys(Section, frozen=True, kw_only=True):
    """Keys that every publication may have, of any kind."""

    section = "[[publish]]"
    rules: ClassVar[tuple[Rule, ...]] = (
        conflicts("share", "weight", code="weight", because="shares are planned by weights"),
    )

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
        Names, key("The columns that it publishes, all declared in [columns]; all of them unless given.")
    ] = ()

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.name is not None and not PUBLICATION_NAME.fullmatch(self.name):
            message = f"name in [[publish]] is {self.name[:60]!r}, which cannot be a file name."
            raise refusal("publication-name", message, "Use at most 100 letters, digits, - and _.", "[[publish]] name")
        if self.name is not None and _DEVICE.fullmatch(self.name):
            message = f"name in [[publish]] is {self.name!r}, and Windows has a device of this name."
            raise refusal("publication-name", message, "Choose another name.", "[[publish]] name")
        if self.name is not None and self.name.lower() in _TAKEN:
            message = f"A file called {self.name!r} is written beside the data."
            raise refusal("publication-name", message, "Choose another name.", "[[publish]] name")
        if len(set(self.columns)) < len(self.columns):
            message = "A publication names a column twice."
            raise refusal("publication-columns", message, "Name each column once.", "[[publish]] columns")


class Publication:
    """One thing to publish. `keys` are those of its own that are given, by the names of their fields."""

    kind: ClassVar[str]
    policy: ClassVar[type[PublicationPolicy]]
    # Which of the common keys it may have: statistics and networks name columns one by one.
    common: ClassVar[tuple[str, ...]] = tuple(keys_of(CommonKeys))

    def __init__(
        self,
        columns: Sequence[str],
        name: str | None,
        share: float | None,
        weight: float,
        keys: Mapping[str, Any],
        unknown: Mapping[str, object],
    ) -> None:
        own = own_keys(self.policy)
        for wrong in unknown:
            known = [*own, *self.common]
            message = f"{type(self).__name__} has no argument {wrong[:60]!r}."
            raise refusal("unknown-argument", message, did_you_mean(wrong, known), wrong[:60])
        said = CommonKeys(columns=cast("tuple[str, ...]", columns), name=name, share=share, weight=weight)
        self.columns, self.name, self.share, self.weight = said.columns, said.name, said.share, said.weight
        read = {
            field: own[field].read(value) if field in own and value is not None else value
            for field, value in keys.items()
        }
        self.keys: dict[str, Any] = {field: value for field, value in read.items() if _is_given(own.get(field), value)}

    def __init_subclass__(cls) -> None:
        """Refuse wrong arguments in the words of Python; policy files call `from_keys`."""
        made = cls.__init__

        @wraps(made)
        def speaking(self: Publication, *columns: Any, **arguments: Any) -> None:
            with speaking_python():
                made(self, *columns, **arguments)

        cls.__init__ = speaking  # type: ignore[method-assign]

    @classmethod
    def from_keys(
        cls,
        keys: Mapping[str, Any],
        *,
        columns: Sequence[str] = (),
        name: str | None = None,
        share: float | None = None,
        weight: float = 1.0,
    ) -> Publication:
        """Return the publication with these `keys` of its own, by the names of their fields, as TOML has them.

        `columns`, `name`, `share` and `weight` are what every publication may have.
        """
        made = cls.__new__(cls)
        Publication.__init__(made, columns, name, share, weight, keys, {})
        return made

    def without_share(self) -> Publication:
        """Return the same with no part of the sample of its own."""
        made = copy(self)
        made.share = None
        return made

    def expand(self, terms: Terms, split: str | None) -> tuple[Publication, ...]:
        """Return the publications that it stands for: itself, or several that share its budget.

        `terms` are what the policy says once, `split` how its publications share people or epsilon.
        """
        del terms, split
        return (self,)

    def within(self, terms: Terms, **own: object) -> PublicationPolicy:
        """Return what a policy with these `terms` decides about this publication; refuses what does not go together.

        `own` are fields that stand before those of the terms.
        """
        fields = self.policy.__struct_fields__
        shared = {field: getattr(terms, field) for field in SHARED if field in fields and terms.gives(field)}
        if "columns" in fields:
            shared["columns"] = self.columns_of(terms)
            drawn_by = () if terms.sampling is None else (terms.sampling.stratum, terms.sampling.weight)
            if "beside" in fields:
                named = {column.name for column in shared["columns"]}
                shared["beside"] = tuple(
                    column for column in terms.columns if column.name in drawn_by and column.name not in named
                )
        if "people" in fields and terms.sampling is not None and terms.sampling.population is not None:
            shared["people"] = terms.sampling.population
        given = {**shared, **self.keys, "called": self.name, **own}
        self._refuse_missing(given)
        return self.policy(**given)

    def _refuse_missing(self, parameters: Mapping[str, Any]) -> None:
        """Refuse terms without what this kind needs."""
        drawn = parts_of(self.policy).get("sampling")
        if drawn is not None and drawn.required and "sampling" not in parameters:
            message = "The policy has no section [sampling]."
            raise refusal("missing-section", message, "Add it, with design.", "[sampling]")
        for field, declared in keys_of(self.policy).items():
            if declared.required and field not in parameters:
                of = keys_of(type(parameters["sampling"])).get("of") if field == "people" else None
                raise (of or declared).missing()

    def under_design(self, terms: Terms) -> Terms:
        """Return the `terms` without what it has no use for under their design, which took another one's place."""
        return terms

    def within_programme(self, terms: Terms) -> PublicationPolicy:
        """Return the same as one of several under these `terms`; of everybody the delta is theirs together."""
        everybody = terms.sampling is not None and terms.sampling.everybody
        return self.within(terms.replace(delta=None) if everybody else terms)

    def columns_of(self, terms: Terms) -> tuple[Column, ...]:
        """Return the columns of the `terms` that this publication names, in its order; all where it names none."""
        by_name = {column.name: column for column in terms.columns}
        for name in self.columns:
            if name not in by_name:
                who = f"{self.kind} {self.name!r}" if self.name else self.kind
                message = f"The {who} takes a column {name[:60]!r}, which [columns] does not declare."
                raise refusal("unknown-column", message, did_you_mean(name, by_name), "[[publish]] columns")
        return tuple(by_name[name] for name in self.columns) if self.columns else terms.columns

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and vars(self) == vars(other)

    def __hash__(self) -> int:
        return hash((self.kind, self.columns, self.name))

    def __repr__(self) -> str:
        given: dict[str, Any] = {"name": self.name, "share": self.share, **self.keys}
        if self.weight != 1:
            given["weight"] = self.weight
        said = [*map(repr, self.columns), *(f"{key}={value!r}" for key, value in given.items() if value is not None)]
        return f"{type(self).__name__}({', '.join(said)})"


def own_keys(policy: type[PublicationPolicy]) -> dict[str, Key]:
    """Return the keys that are a publication's own, by the name of their field."""
    return {field: key for field, key in keys_of(policy).items() if key.section == "[[publish]]"}


def own_parts(policy: type[PublicationPolicy]) -> dict[str, Any]:
    """Return the sections inside a publication, by the name of their field."""
    return {field: part for field, part in parts_of(policy).items() if part.title.startswith("[[publish")}


def _is_given(key: Key | None, value: object) -> bool:
    return value not in (None, ()) if key is None else key.is_given(value)
