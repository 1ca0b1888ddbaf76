"""The columns of a policy: a name, its declared domain, and the recodings that follow from it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial

from crowdblend.errors import InvalidInput
from crowdblend.methods.recoding.classes import Lookup, Recoding
from crowdblend.methods.recoding.reading import exact
from crowdblend.policies.domains import DOMAINS, AxisDomain, Domain, NumberDomain, ValueDomain
from crowdblend.policies.key import keys_of
from crowdblend.policies.refusals import did_you_mean, naming, problem_of, refusal, show_value
from crowdblend.policies.source import PolicyFolder, read_keys

_EXAMPLE = 'Write `columns.sex = { values = ["Female", "Male"] }`, for example.'
# The functions that declare a domain.
_WAYS = "values(…), intervals(…), breaks(…), prefix(…), date(…), hierarchy(…), bounds(…) or axis(…)"


@dataclass(frozen=True)
class Column:
    """A published column and the recodings it may take, finest first; `weight` is how much it matters in a choice."""

    name: str
    recodings: tuple[Recoding, ...]
    weight: float = 1.0
    domain: Domain | None = None

    @classmethod
    def of(cls, name: str, domain: Domain | Sequence[str]) -> Column:
        """Return the column with that domain; a list of labels stands for their values."""
        if isinstance(domain, list | tuple):
            labels = tuple(domain)
            domain = naming(f"column {name!r}", lambda: ValueDomain(values=labels))
        if not isinstance(domain, Domain):
            message = f"Column {name!r} has no domain."
            raise refusal("column-domain", message, f"Declare it with one of {_WAYS}.", f"column {name!r}")
        return naming(f"column {name!r}", lambda: cls(name, domain.recodings(), domain.importance, domain))

    @property
    def recoding(self) -> Recoding:
        """The recoding in which people are counted: the only one, or the finest to choose from."""
        return self.recodings[0]

    def refusal(self, code: str, problem: str, remedy: str) -> InvalidInput:
        """Return an error about the column."""
        return refusal(code, f"Column {self.name!r} {problem}", remedy, f"column {self.name!r}")

    @property
    def steps_of_block(self) -> int | None:
        """The steps of an axis in one of its blocks; None where blocks are no grid, or it is no axis."""
        domain = self.domain
        if not isinstance(domain, AxisDomain) or domain.width is None:
            return None
        return int(Fraction(exact("width", domain.width)) / Fraction(exact("resolution", domain.resolution)))

    @property
    def chooses(self) -> bool:
        """True if there is something to choose."""
        return len(self.recodings) > 1


def columns_of(domains: object) -> tuple[Column, ...]:
    """Return the columns: at least one, each named once, whatever their case."""
    if isinstance(domains, Mapping):
        columns = tuple(Column.of(check_name(name), domain) for name, domain in domains.items())
    elif isinstance(domains, str | bytes) or not isinstance(domains, Iterable):
        raise refusal("type", f"`columns` takes domains by name, got {show_value(domains)}.", _EXAMPLE, "`columns`")
    else:
        columns = tuple(domains)
    for column in columns:
        if not isinstance(column, Column):
            raise refusal("type", f"`columns` takes domains by name, got {show_value(column)}.", _EXAMPLE, "`columns`")
    if not columns:
        raise refusal("no-columns", "`columns` names no column.", _EXAMPLE, "`columns`")
    seen: dict[str, str] = {}
    for name in (check_name(column.name) for column in columns):
        if name.lower() in seen:
            message = f"`columns` names {seen[name.lower()]!r} and {name!r}, which differ in case at most."
            raise refusal("column-twice", message, "Keep one of them, or rename one in the data.", f"column {name!r}")
        seen[name.lower()] = name
    return columns


def check_name(name: object) -> str:
    """Return a name that a column can have, or refuse it."""
    if not isinstance(name, str) or not name.strip() or problem_of(name) is not None:
        message = f"`columns` has a column called {show_value(name)}."
        raise refusal("column-name", message, "Use the name of the column in the data.", "`columns`")
    return name


def read_columns(table: object, folder: PolicyFolder, *, axes: Collection[str] | None = ()) -> dict[str, Domain]:
    """Return the domains of a policy's columns in the order they are written.

    A column with a resolution is an axis where it is among `axes`, or where these are None.
    """
    if not isinstance(table, Mapping) or not table:
        raise refusal("no-columns", "`columns` names no column.", _EXAMPLE, "`columns`")
    return {
        check_name(name): _read_domain(name, declared, folder, axes is None or name in axes)
        for name, declared in table.items()
    }


def _read_domain(name: str, table: object, folder: PolicyFolder, axes: bool) -> Domain:
    where = f"column {name!r}"
    if not isinstance(table, Mapping) or not table:
        message = f"{where} has {show_value(table)} instead of a domain in braces."
        remedy = f"Use one of {', '.join(DOMAINS)}, for example `{{ values = ['a', 'b'] }}`."
        raise refusal("column-domain", message, remedy, where)
    holder = AxisDomain if axes and "resolution" in table else DOMAINS[_way(where, table)]
    given = read_keys(keys_of(holder), table, where, folder)
    return naming(where, partial(holder, **given))


def _way(where: str, table: Mapping[str, object]) -> str:
    ways = [way for way in DOMAINS if way in table]
    if len(ways) == 1:
        return ways[0]
    known = dict.fromkeys(key.name for domain in DOMAINS.values() for key in keys_of(domain).values())
    unknown = next((name for name in table if name not in known), None)
    if ways:
        problem, remedy = f"declares its domain in {len(ways)} ways, {' and '.join(ways)}.", "Keep one of them."
    elif unknown is not None:
        raise refusal("unknown-key", f"{where} has no key {unknown!r}.", did_you_mean(unknown, known), where)
    elif "from" in table or "to" in table:
        problem, remedy = "has from and to alone.", "Add width for numbers, or date for dates."
    else:
        problem, remedy = "declares no domain.", f"Add one of {', '.join(DOMAINS)}."
    raise refusal("column-domain", f"{where} {problem}", remedy, where)


def refuse_numbers(columns: Iterable[Column]) -> None:
    """Refuse columns without classes, where classes are published."""
    for column in columns:
        if isinstance(column.domain, NumberDomain) or not column.recodings:
            raise column.refusal(
                "no-classes", "declares numbers to be averaged, and has no classes.", "Use width instead of resolution."
            )


def refuse_finer_dates(columns: Iterable[Column], date_format: str) -> None:
    """Refuse periods that are shorter than what the file writes: the day of a month or year is not known."""
    shorter = {"%d": ("day", "week"), "%m": ("day", "week", "month", "quarter")}
    for column in columns:
        period = getattr(column.domain, "date", None)
        finest = period[0] if isinstance(period, tuple) else period
        if any(mark not in date_format and finest in periods for mark, periods in shorter.items()):
            known, wider = ("months", "month") if "%m" in date_format else ("years", "year")
            problem = f"is cut to {finest}, and `data.date_format = {show_value(date_format)}` gives {known}."
            raise column.refusal("date-format", problem, f'Write `date = "{wider}"` for it.')


def refuse_choice(columns: Iterable[Column], kind: str) -> None:
    """Refuse columns that offer several recodings, where nothing chooses."""
    for column in columns:
        if column.chooses:
            raise column.refusal(
                "recoding", f"offers several recodings, and {kind} takes one.", "Name one level or width."
            )


def check_names(columns: Sequence[Column], person: str | None, reserved_names: tuple[str, ...]) -> None:
    """Refuse to publish who someone is, and names that the published table has itself."""
    for column in columns:
        if person is not None and column.name.lower() == person.lower():
            raise column.refusal(
                "person-published", "tells people apart and cannot be published.", "Remove it from `columns`."
            )
        if column.name.lower() in reserved_names:
            problem = "has the name of a column that the published data have of their own."
            raise column.refusal("reserved-name", problem, "Rename the column in the data.")


def check_closed(columns: Sequence[Column], kind: str, *, or_else: str = "") -> None:
    """Refuse open domains where every class is published; `or_else` is another way out."""
    for column in columns:
        if not column.recoding.closed:
            problem = f"has an open domain, and {kind} needs every class beforehand, empty ones included."
            remedy = "List its classes (values, width, breaks, a hierarchy, or from and to for dates)."
            raise column.refusal("open-domain", problem, f"{remedy} {or_else}".strip())


def column_texts(columns: Iterable[Column]) -> Iterator[tuple[str, str]]:
    """Yield the names of columns, and those of their labels that are declared as texts."""
    for column in columns:
        where = f"column {column.name!r}"
        yield where, column.name
        for recoding in column.recodings:
            texts = recoding.own_labels if isinstance(recoding, Lookup) else ()
            for text in (*texts, recoding.other, recoding.missing):
                if text is not None:
                    yield where, text
