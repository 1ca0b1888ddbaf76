"""The policy: source, design, budget and columns once, and one or more publications.

    policy  =  terms  +  publications

A policy made in Python goes through the same checks as one read from TOML. What each publication is planned by is
`Policy.parts`: the terms as it has them, and the publication.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self, cast

from msgspec.structs import force_setattr, replace

from crowdblend.policies.choosing import Choosing, check_choice
from crowdblend.policies.columns import Column
from crowdblend.policies.domains import Domain
from crowdblend.policies.key import arguments_of, unknown_argument
from crowdblend.policies.proposed import left_by_proposals
from crowdblend.policies.publication import Publication
from crowdblend.policies.publication_policy import PublicationPolicy
from crowdblend.policies.refusals import did_you_mean, refusal
from crowdblend.policies.registry import policy_class
from crowdblend.policies.sampling_section import Sampling
from crowdblend.policies.source import DataSource, Format
from crowdblend.policies.terms import About, Terms
from crowdblend.policies.write import write_policy
from crowdblend.trusted.machine.html_summary import html_summary

if TYPE_CHECKING:
    import os

    from crowdblend.methods.planning.plan import Plan
    from crowdblend.policies.strata import DeclaredStrata

Split = Literal["people", "fresh", "budget"]
SPLITS: dict[Split, str] = {
    "people": "Each publication is computed from a part of the sample of its own; nobody is in two.",
    "fresh": "Each publication is computed from a sample of its own, drawn from everybody in the data.",
    "budget": "All publications are noisy, and each spends a part of epsilon.",
}
# What a policy of several publications is one of: no kind, but what the ledger writes down.
PROGRAMME = "programme"
Domains = Mapping[str, Domain | Sequence[str]] | Sequence[Column]

_OF_DESIGNS = ("rate", "rates", "thin", "already_drawn", "weights", "low", "high", "max_rate", "design")
_OF_PUBLICATIONS = ("k", "below_k", "noise_epsilon", "show_from", "statistics", "name", "share", "count", "kind")


class Policy(Terms, frozen=True, kw_only=True):
    """The decisions of the steward, complete and free of contradictions.

    A policy says who the people are (`person`), how they are sampled (`sampling`), what may be lost (`epsilon`,
    `delta`), which labels and numbers each column may have (`columns`), and what is published (`publish`). What is left
    open, such as k, is planned: `plan()` says what follows, without data. `replace` returns the policy with other
    arguments, `save` writes it to a file, which `load_policy` reads. A wrong argument is refused with what to do.

    Parameters:
        publish: What is published: Table, Microdata, Points, OutlierTable, Statistics, Synopsis, Synthetic or Graph,
            or a list of several.
        columns: The domain of every column, by name: from values, intervals, breaks, date, hierarchy, prefix, bounds or
            axis; a list of labels is one too. Columns that nothing uses are ignored.
        split: How several publications share people or epsilon. "people": each is computed from its own part of the
            sample. "fresh": each from its own sample of everybody. "budget": all are noisy, and each spends a part of
            epsilon.
    """

    elsewhere: ClassVar[Mapping[str, str]] = {
        **dict.fromkeys(_OF_DESIGNS, "It belongs to the design: sampling=Poisson(0.5), for example."),
        **dict.fromkeys(_OF_PUBLICATIONS, "It belongs to a publication: publish=Table(k=20), for example."),
    }

    publish: tuple[Publication, ...]
    split: Split | None = None

    if TYPE_CHECKING:  # what is taken besides what is kept: one publication, domains by name, a path

        def __init__(
            self,
            *,
            publish: Publication | Sequence[Publication],
            columns: Domains = (),
            sampling: Sampling | None = None,
            epsilon: float | None = None,
            delta: float | None = None,
            releases: int = 1,
            split: Split | None = None,
            person: str | None = None,
            unit_word: str | None = None,
            population: str | None = None,
            people: int | None = None,
            rows_are_people: bool = False,
            rows_per_person: int | None = None,
            ids: Literal["people", "table"] = "people",
            duplicates: Literal["refuse", "one"] = "refuse",
            source: str | os.PathLike[str] | None = None,
            source_format: Format | None = None,
            table: str | None = None,
            query: str | None = None,
            delimiter: str | None = None,
            encoding: str | None = None,
            decimal: str | None = None,
            thousands: str | None = None,
            date_format: str | None = None,
            recoding: Choosing | None = None,
            accept_epsilon: bool = False,
            accept_delta: bool = False,
            proposed: str | Sequence[str] = (),
            proposes: bool = False,
            about: About | None = None,
            format: Literal["parquet", "csv"] = "parquet",  # noqa: A002  the key's name
            memory: str | None = None,
            threads: int | None = None,
        ) -> None: ...

    def __post_init__(self) -> None:
        super().__post_init__()
        listed: object = (self.publish,) if isinstance(self.publish, Publication) else self.publish
        if not isinstance(listed, list | tuple) or not all(isinstance(one, Publication) for one in listed):
            message = "publish takes publications, such as Table(…) or a list of them."
            raise refusal("type", message, 'Write publish=Table("sex", "age"), for example.', "`publish`")
        if not listed:
            message = "The policy publishes nothing."
            raise refusal("no-publication", message, 'Add `publish.kind = "table"`, for example.', "`publish`")
        if self.split is not None and (not isinstance(self.split, str) or self.split not in SPLITS):
            message = f"`privacy.split` is {str(self.split)[:60]!r}."
            raise refusal("choice", message, did_you_mean(str(self.split), SPLITS), "`privacy.split`")
        written = cast("Sequence[Publication]", listed)
        force_setattr(self, "publish", tuple(level for one in written for level in one.expand(self, self.split)))
        if self.split is None and len(self.publish) > len(written):  # levels of one column are about the same people
            force_setattr(self, "split", "budget")
        self._check_names()
        self._check_budget()
        _ = self.parts
        self._check_choice()

    @cached_property
    def terms(self) -> Terms:
        """The terms alone."""
        return Terms(**{field: getattr(self, field) for field in Terms.__struct_fields__})

    def _check_names(self) -> None:
        if not self.is_programme:
            (only,) = self.publish
            if only.share is not None or self.split is not None:
                where = "`publish.share`" if only.share is not None else "`privacy.split`"
                message = f"There is one publication, and {where} is about several."
                raise refusal("one-publication", message, f"Remove {where}, or add a publication.", where)
            return
        seen: set[str] = set()
        for one in self.publish:
            if one.rows_are_links:
                message = (
                    f'`publish.kind = "{one.kind}"` is about links, and several publications share one table of people.'
                )
                raise refusal("split", message, "Publish it in a policy of its own.", "`publish.kind`")
            if one.name is None:
                message = f"One of several publications, of kind {one.kind!r}, has no name."
                raise refusal("publication-name", message, "Name each with `publish.name`.", "`publish.name`")
            if self.split == "fresh" and one.weight != 1:
                message = (
                    f'Publication {one.name!r} has a weight, and with `privacy.split = "fresh"` nothing is divided.'
                )
                raise refusal("weight", message, "Remove `publish.weight`.", "`publish.weight`")
            if one.name.lower() in seen:
                message = f"Two publications are called {one.name!r}."
                raise refusal("publication-twice", message, "Rename one.", "`publish.name`")
            seen.add(one.name.lower())

    def _check_budget(self) -> None:
        """Refuse a programme that leaves its budget open: its publications share it."""
        wanted = ("epsilon",) if self.sampling.everybody else ("epsilon", "delta")
        missing = next((name for name in wanted if getattr(self, name) is None), None)
        if self.is_programme and missing is not None:
            message = f"Several publications share epsilon and delta, and {missing} is missing."
            raise refusal("planned", message, f"Add `privacy.{missing}`.", f"`privacy.{missing}`")
        zero = next((name for name in wanted if getattr(self, name) == 0), None)
        if self.is_programme and zero is not None:
            remedy = f"Raise {zero}, for example to {'1.0' if zero == 'epsilon' else '1e-6'}."
            raise refusal("planned", f"{zero} must be above 0.", remedy, f"`privacy.{zero}`")

    def _check_choice(self) -> None:
        """Refuse a choice among recodings that the publications cannot share."""
        if self.is_programme and self.recoding is not None:
            check_choice(self.recoding, self.columns, self.split)

    @property
    def is_programme(self) -> bool:
        """True if there are several publications under one budget."""
        return len(self.publish) > 1

    @property
    def kind(self) -> str:
        """The kind of the one publication, or "programme" for several."""
        return PROGRAMME if self.is_programme else self.publish[0].kind

    @cached_property
    def parts(self) -> tuple[PublicationPolicy, ...]:
        """Every publication under the terms as it has them, in their order."""
        if not self.is_programme:
            (only,) = self.publish
            self._refuse_foreign(only)
            return (policy_class(only.kind).of(only, self.own_terms),)
        # How often is for the programme to say, not for its parts.
        terms = self.own_terms.replace(releases=1)
        fixed = terms.replace(recoding=None)
        found = []
        for one in self.publish:
            own = one.among_others(terms if any(column.chooses for column in one.columns_of(terms)) else fixed)
            found.append(policy_class(one.kind).of(one, own, with_others=True))
        return tuple(found)

    @cached_property
    def own_terms(self) -> Terms:
        """The terms with what is left of epsilon and delta, after what proposed the domains has spent its part."""
        return left_by_proposals(self.terms)

    def _refuse_foreign(self, only: Publication) -> None:
        """Refuse terms that the one publication's kind does not have: they would be ignored."""
        for field in only.lacks:
            if self.gives(field):
                message = f'`publish.kind = "{only.kind}"` has no {field.replace("_", " ")}.'
                raise refusal("unknown-key", message, f"Remove {field}.", field)

    @property
    def only(self) -> PublicationPolicy:
        """The decisions about the one publication; refuses a programme of several."""
        if self.is_programme:
            message = "This takes a policy with one publication, and there are several."
            raise refusal("one-publication", message, "Take one of them at a time.", "`publish`")
        return self.parts[0]

    @cached_property
    def data(self) -> DataSource:
        """The source, ready to be opened; without one, the policy waits for rows from Python."""
        return self.parts[0].data

    @property
    def strata(self) -> DeclaredStrata | None:
        """The strata or weights by which people are sampled, as the publications declare them; None without any."""
        declared = (part.strata for part in self.parts)
        return max(filter(None, declared), key=lambda design: design.high, default=None)

    def with_source(self, data: DataSource) -> Self:
        if data.format != "frame":
            return super().with_source(data)
        placed = copy.copy(self)
        placed.__dict__["parts"] = tuple(part.with_source(data) for part in self.parts)
        return placed

    def replace(self, **changes: Any) -> Self:
        """Return the same policy with `changes`, other values for some arguments, checked as a new one."""
        known = {*self.__struct_fields__, *arguments_of(type(self))}
        for wrong in changes.keys() - known:
            raise unknown_argument(type(self), wrong)
        publish = changes.get("publish", self.publish)
        alone = publish[0] if isinstance(publish, list | tuple) and len(publish) == 1 else publish
        if "sampling" in changes and "delta" not in changes and isinstance(alone, Publication):
            changes["delta"] = alone.under_design(self.terms.replace(**_of_terms(changes))).delta
        return replace(self, **changes)

    def plan(self) -> Plan:
        """Return what follows from the policy alone: what was left open, the guarantees, the assumptions.

        No data are read.
        """
        planned: Plan = import_module("crowdblend.kinds").plan(self)
        return planned

    def recode(self, data: Any) -> Any:
        """Return the columns of `data`, a pandas, Polars or Arrow frame, with the labels that a release uses.

        For comparing a release with the truth, with last year's data or with a test set: rows stay in their order,
        nothing is published and nothing is recorded. Columns that the frame lacks are left out.
        """
        return import_module("crowdblend.api.recoding").recode(self, data)

    def to_toml(self) -> str:
        """Return the policy as TOML, which reads back as an equal policy."""
        return write_policy(self, self.publish, self.split)

    def save(self, path: str | os.PathLike[str], *, force: bool = False) -> None:
        """Write the policy as TOML; the paths in it are relative to its folder.

        A file at `path` is refused, or replaced with `force`.
        """
        write_policy(self, self.publish, self.split, Path(path), force=force)

    def __hash__(self) -> int:
        return hash((self.publish, self.split))

    def __repr__(self) -> str:
        return f"Policy({', '.join(f'{name}={value!r}' for name, value in self._arguments())})"

    def _repr_html_(self) -> str:
        """Return the arguments as a table, and the columns with their domains; every text is escaped."""
        rows = [(name, repr(value)) for name, value in self._arguments() if name != "columns"]
        return html_summary("Policy", rows, {"Columns": [f"{one.name}: {one.domain!r}" for one in self.columns]})

    def _arguments(self) -> Iterator[tuple[str, object]]:
        """Yield the arguments that differ from the default, columns by their names alone."""
        for field in Terms.__struct_fields__:
            if field == "columns":
                yield field, [column.name for column in self.columns]
            elif self.gives(field):
                yield field, getattr(self, field)
        if self.split is not None:
            yield "split", self.split
        yield "publish", list(self.publish) if self.is_programme else self.publish[0]


def _of_terms(changes: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in changes.items() if name in Terms.__struct_fields__}
