"""The policy: source, design, budget and columns once, and one or more publications.

    policy  =  source  +  design  +  budget  +  columns  +  publications

A policy made in Python goes through the same checks as one read from TOML. What each publication is planned by is a
value of its kind, `Policy.parts`: the terms of the policy and what is the publication's own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Never, cast

from crowdblend.html_summary import html_summary
from crowdblend.policies.choosing import Choosing, check_choice
from crowdblend.policies.columns import Column
from crowdblend.policies.domains import Domain
from crowdblend.policies.publication import Publication
from crowdblend.policies.publication_policy import About, PublicationPolicy, SampledPolicy
from crowdblend.policies.refusals import did_you_mean, refusal, speaking_python
from crowdblend.policies.sampling_section import Sampling
from crowdblend.policies.source import DataSource, Format, Resources
from crowdblend.policies.terms import SHARED, Terms, left_by_proposals
from crowdblend.policies.write import write_policy

if TYPE_CHECKING:
    import os

    from crowdblend.planning.plan import Plan
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
_ELSEWHERE = {
    **dict.fromkeys(_OF_DESIGNS, "It belongs to the design: sampling=Poisson(0.5), for example."),
    **dict.fromkeys(_OF_PUBLICATIONS, "It belongs to a publication: publish=Table(k=20), for example."),
}


class Policy:
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

    # Whether it was written in Python, and is spoken of in its words; not in a policy file.
    in_python: bool = False
    # How a policy is planned is told by the layer that can: crowdblend.kinds, when it is loaded.
    _planner: ClassVar[Callable[[Any], Any]]

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
        **unknown: Never,
    ) -> None:
        given = {name: value for name, value in locals().items() if name in SHARED}
        for wrong in unknown:
            message = f"Policy has no argument {wrong[:60]!r}."
            remedy = _ELSEWHERE.get(wrong) or did_you_mean(wrong, [*SHARED, "publish", "split"])
            raise refusal("unknown-argument", message, remedy, wrong[:60])
        self.in_python = True
        with speaking_python():
            self._settle(Terms(**given), publish, split)

    @classmethod
    def of(cls, terms: Terms, publish: Publication | Sequence[Publication], split: Split | None = None) -> Policy:
        """Return the policy with these `terms`; `publish` and `split` are as for a new one."""
        made = cls.__new__(cls)
        made._settle(terms, publish, split)
        return made

    def _settle(self, terms: Terms, publish: object, split: Split | None) -> None:
        listed = (publish,) if isinstance(publish, Publication) else publish
        if not isinstance(listed, list | tuple) or not all(isinstance(one, Publication) for one in listed):
            message = "publish takes publications, such as Table(…) or a list of them."
            raise refusal("type", message, 'Write publish=Table("sex", "age"), for example.', "[[publish]]")
        if not listed:
            message = "The policy publishes nothing."
            raise refusal("no-publication", message, 'Add [[publish]] with kind = "table", for example.', "[[publish]]")
        if split is not None and (not isinstance(split, str) or split not in SPLITS):
            message = f"split in [privacy] is {str(split)[:60]!r}."
            raise refusal("choice", message, did_you_mean(str(split), SPLITS), "[privacy] split")
        self.terms = terms
        written = tuple(cast("Sequence[Publication]", listed))
        self.publish = tuple(level for one in written for level in one.expand(terms, split))
        # Levels of one column are about the same people.
        self.split = "budget" if split is None and len(self.publish) > len(written) else split
        self._check_names()
        self._check_budget()
        _ = self.parts
        self._check_choice()

    def _check_names(self) -> None:
        if not self.is_programme:
            (only,) = self.publish
            if only.share is not None or self.split is not None:
                what, where = ("share", "[[publish]] share") if only.share is not None else ("split", "[privacy] split")
                message = f"There is one publication, and {what} is about several."
                raise refusal("one-publication", message, f"Remove {what}, or add a publication.", where)
            return
        seen: set[str] = set()
        for one in self.publish:
            if one.policy.rows_are_links:
                message = f'kind = "{one.kind}" is about links, and several publications share one table of people.'
                raise refusal("split", message, "Publish it in a policy of its own.", "[[publish]] kind")
            if one.name is None:
                message = f"One of several publications, of kind {one.kind!r}, has no name."
                raise refusal("publication-name", message, "Name each; its file is called so.", "[[publish]] name")
            if self.split == "fresh" and one.weight != 1:
                message = f'Publication {one.name!r} has a weight, and with split = "fresh" nothing is divided.'
                raise refusal("weight", message, "Remove weight.", "[[publish]] weight")
            if one.name.lower() in seen:
                message = f"Two publications are called {one.name!r}."
                raise refusal("publication-twice", message, "Rename one.", "[[publish]] name")
            seen.add(one.name.lower())

    def _check_budget(self) -> None:
        """Refuse a programme that leaves its budget open: its publications share it."""
        sampling = self.terms.sampling
        wanted = ("epsilon",) if sampling is not None and sampling.everybody else ("epsilon", "delta")
        missing = next((name for name in wanted if getattr(self.terms, name) is None), None)
        if self.is_programme and missing is not None:
            message = f"Several publications share epsilon and delta, and {missing} is missing."
            raise refusal("planned", message, f"Add {missing} to [privacy].", f"[privacy] {missing}")
        zero = next((name for name in wanted if getattr(self.terms, name) == 0), None)
        if self.is_programme and zero is not None:
            remedy = f"Raise {zero}, for example to {'1.0' if zero == 'epsilon' else '1e-6'}."
            raise refusal("planned", f"{zero} must be above 0.", remedy, f"[privacy] {zero}")

    def _check_choice(self) -> None:
        """Refuse a choice among recodings that the publications cannot share."""
        if self.is_programme and self.terms.recoding is not None:
            check_choice(self.terms.recoding, self.terms.columns, self.split)

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
        """The decisions about every publication, in their order."""
        if not self.is_programme:
            self._refuse_foreign(self.publish[0])
            return (self.publish[0].within(self.own_terms),)
        # How often is for the programme to say, not for its parts.
        terms = self.own_terms.replace(releases=1)
        fixed = terms.replace(recoding=None)
        return tuple(
            one.within_programme(terms if any(column.chooses for column in one.columns_of(terms)) else fixed)
            for one in self.publish
        )

    @cached_property
    def own_terms(self) -> Terms:
        """The terms with what is left of epsilon and delta, after what proposed the domains has spent its part."""
        return left_by_proposals(self.terms)

    @property
    def proposed(self) -> tuple[str, ...]:
        """The folders of the releases that proposed domains."""
        return self.terms.proposed

    @property
    def proposes(self) -> bool:
        """True if it proposes domains of later policies."""
        return self.terms.proposes

    def _refuse_foreign(self, only: Publication) -> None:
        """Refuse terms that the one publication's kind does not have: they would be ignored."""
        for field in SHARED:
            if field not in only.policy.__struct_fields__ and self.terms.gives(field):
                message = f'kind = "{only.kind}" has no {field.replace("_", " ")}.'
                raise refusal("unknown-key", message, f"Remove {field}.", field)

    @property
    def only(self) -> PublicationPolicy:
        """The decisions about the one publication; refuses a programme of several."""
        if self.is_programme:
            message = "This takes a policy with one publication, and there are several."
            raise refusal("one-publication", message, "Take one of them at a time.", "[[publish]]")
        return self.parts[0]

    @cached_property
    def data(self) -> DataSource:
        """The source, ready to be opened; without one, the policy waits for rows from Python."""
        return self.parts[0].data

    @property
    def sampling(self) -> Sampling:
        """The way in which people are drawn."""
        return self.parts[0].sampling

    @property
    def design(self) -> DeclaredStrata | None:
        """The strata or weights by which people are sampled, as the publications declare them; None without any."""
        declared = (part.design for part in self.parts if isinstance(part, SampledPolicy))
        return max(filter(None, declared), key=lambda design: design.high, default=None)

    @property
    def epsilon(self) -> float | None:
        """The privacy loss of everything together."""
        return self.terms.epsilon

    @property
    def delta(self) -> float | None:
        """The probability beyond epsilon."""
        return self.terms.delta

    @property
    def columns(self) -> tuple[Column, ...]:
        """The declared columns."""
        return self.terms.columns

    @property
    def resources(self) -> Resources:
        """The resources that the engine may use."""
        return self.terms.resources

    @property
    def accept_epsilon(self) -> bool:
        """True if the steward accepts an epsilon above 10."""
        return self.terms.accept_epsilon

    @property
    def about(self) -> About | None:
        """The text for readers beside the data."""
        return self.terms.about

    @property
    def format(self) -> str:
        """The format of the published files."""
        return self.terms.format

    def with_source(self, data: DataSource) -> Policy:
        """Return the same policy about rows that lie elsewhere, in files or in Python: in `data`."""
        made = Policy.of(
            self.terms.with_source(data) if data.format != "frame" else self.terms, self.publish, self.split
        )
        made.__dict__["parts"] = tuple(part.with_source(data) for part in made.parts)
        return made

    def replace(self, **changes: Any) -> Policy:
        """Return the same policy with `changes`, other values for some arguments, checked as a new one."""
        publish, split = changes.pop("publish", self.publish), changes.pop("split", self.split)
        with speaking_python(self.in_python):
            terms = self.terms.replace(**changes)
            alone = publish[0] if isinstance(publish, list | tuple) and len(publish) == 1 else publish
            if "sampling" in changes and "delta" not in changes and isinstance(alone, Publication):
                terms = alone.under_design(terms)
            made = Policy.of(terms, publish, split)
        made.in_python = self.in_python
        return made

    def plan(self) -> Plan:
        """Return what follows from the policy alone: what was left open, the guarantees, the assumptions.

        No data are read.
        """
        with speaking_python(self.in_python):
            planned: Plan = type(self)._planner(self)
        return planned

    def recode(self, data: Any) -> Any:
        """Return the columns of `data`, a pandas, Polars or Arrow frame, with the labels that a release uses.

        For comparing a release with the truth, with last year's data or with a test set: rows stay in their order,
        nothing is published and nothing is recorded. Columns that the frame lacks are left out.
        """
        with speaking_python(self.in_python):
            return import_module("crowdblend.api.recoding").recode(self, data)

    def to_toml(self) -> str:
        """Return the policy as TOML, which reads back as an equal policy."""
        return write_policy(self.terms, self.publish, self.split)

    def save(self, path: str | os.PathLike[str], *, force: bool = False) -> None:
        """Write the policy as TOML; the paths in it are relative to its folder.

        A file at `path` is refused, or replaced with `force`.
        """
        write_policy(self.terms, self.publish, self.split, Path(path), force=force)

    def __eq__(self, other: object) -> bool:
        same = ("terms", "publish", "split")
        return isinstance(other, Policy) and all(getattr(self, one) == getattr(other, one) for one in same)

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
        for field in SHARED:
            if field == "columns":
                yield field, [column.name for column in self.columns]
            elif self.terms.gives(field):
                yield field, getattr(self.terms, field)
        if self.split is not None:
            yield "split", self.split
        yield "publish", list(self.publish) if self.is_programme else self.publish[0]
