"""The results of a check: every column against its domain, and the person column. Secret."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from typing import Any

from crowdblend.notation import PYTHON, Notation, spell

FOR_YOU_ALONE = "For you alone: values and counts of your rows. Nothing of this is recorded or kept."
# How the lines begin that name keys of the policy.
_ADVICE = ("  what helps: ", "  ids number the rows")
_LAST = (
    "Correct rows, or declare what you knew before you saw them: the questionnaire, the code book, the law. "
    "A domain that is copied from here is not covered by the certificate."
)


@dataclass(frozen=True)
class ListedValue:
    """A value, the rows that have it, and the declared value that it may be meant for."""

    value: str = field(repr=False)
    rows: int = field(repr=False)
    near: str | None = None

    def words(self) -> str:
        """Return the value with its rows, in a line."""
        return f"{self.value!r:<24} {_rows(self.rows)}" + (f"   (declared: {self.near!r})" if self.near else "")


@dataclass(frozen=True)
class ColumnCheck:
    """One column checked against its declared domain.

    `outside` rows have `different` values that the domain does not hold, of which the most frequent are in `values`;
    `outside_becomes` and `blank_becomes` say what a release makes of such rows, None where it refuses them. `unused`
    are declared values that no row has, looked for where others do not fit; `forms` are how dates are written, with 9
    for every digit. `hint` says what helps.
    """

    name: str
    domain: str
    rows: int = field(repr=False)
    blank: int = field(repr=False)
    outside: int = field(repr=False)
    outside_becomes: str | None = None
    blank_becomes: str | None = None
    different: int = field(default=0, repr=False)
    values: tuple[ListedValue, ...] = field(default=(), repr=False)
    unused: tuple[str, ...] = field(default=(), repr=False)
    forms: tuple[ListedValue, ...] = field(default=(), repr=False)
    hint: str | None = field(default=None, repr=False)

    @property
    def fits(self) -> bool:
        """True if a release takes every row."""
        return (not self.outside or self.outside_becomes is not None) and (
            not self.blank or self.blank_becomes is not None
        )

    def lines(self) -> Iterator[str]:
        """Yield what was found, line by line."""
        yield f"column {self.name!r}: {self.domain}"
        if not self.outside and not self.blank:
            yield "  every row fits"
        if self.outside:
            yield f"  {_share(self.outside, self.rows)} outside the domain: {self.outside_becomes or _REFUSED}"
            yield from (f"    {listed.words()}" for listed in self.values)
            if self.different > len(self.values):
                yield f"    and {self.different - len(self.values):,} other values"
        if self.forms:
            yield "  written as (9 is any digit, A are letters)"
            yield from (f"    {listed.words()}" for listed in self.forms)
        if self.blank:
            yield f"  {_share(self.blank, self.rows)} blank: {self.blank_becomes or _REFUSED}"
        if self.unused:
            yield f"  declared, and in no row: {', '.join(map(repr, self.unused))}"
        if self.hint is not None:
            yield f"  what helps: {self.hint}."


@dataclass(frozen=True)
class PersonCheck:
    """The column that tells people apart.

    `repeated` people have several rows, `repeated_rows` in all, of which up to `left_out` are left out. `row_numbers`
    says that ids are 1, 2, 3, … or begin with 0, and `alike` how many ids differ from another in case and spaces alone.
    The policy states how many people there are, `expected`, or `at_most`.
    """

    name: str
    rows: int = field(repr=False)
    people: int = field(repr=False)
    blank: int = field(repr=False)
    repeated: int = field(repr=False)
    repeated_rows: int = field(repr=False)
    repeated_become: str | None
    left_out: int = field(repr=False)
    most: tuple[ListedValue, ...] = field(repr=False)
    row_numbers: bool
    ids: str
    alike: int = field(repr=False)
    expected: int | None = None
    at_most: int | None = None

    @property
    def fits(self) -> bool:
        """True if a release takes every row."""
        return not self.blank and (not self.repeated or self.repeated_become is not None) and self._as_stated

    @property
    def _as_stated(self) -> bool:
        more = self.at_most is not None and self.people > self.at_most
        return not more and self.expected in (None, self.people)

    def lines(self) -> Iterator[str]:
        """Yield what was found, line by line."""
        yield f"person {self.name!r}: {self.people:,} different ids in {_rows(self.rows)}"
        if self.blank:
            yield f"  {_share(self.blank, self.rows)} blank: {_REFUSED}"
        if self.repeated:
            became = self.repeated_become or _REFUSED
            yield f"  {self.repeated:,} ids are in several rows, {self.repeated_rows:,} rows in all: {became}"
            if self.repeated_become is not None:
                yield f"  at most {_share(self.left_out, self.rows)} left out of all numbers"
            yield from (f"    {listed.words()}" for listed in self.most)
        if not self._as_stated:
            yield f"  the policy says {self.expected or self.at_most:,} people: {_REFUSED}"
        if self.alike:
            yield f"  {self.alike:,} ids differ from another one in upper and lower case or spaces alone"
        if self.row_numbers and self.ids == "people":
            yield '  ids number the rows: write `data.ids = "table"`, or another table numbered so'
            yield "  counts as the same people"


@dataclass(frozen=True)
class Check:
    """The result of a check of the rows, for the steward alone.

    Its repr has no value and no count of anyone, since notebooks keep what they show; `describe()` has both.
    """

    source: str
    rows: int = field(repr=False)
    columns: tuple[ColumnCheck, ...]
    person: PersonCheck | None = None

    @property
    def fits(self) -> bool:
        """True if a release would take every row."""
        return self.rows > 0 and not self.misfits

    @property
    def misfits(self) -> tuple[str, ...]:
        """The columns that a release refuses, by name."""
        parts = (*(() if self.person is None else (self.person,)), *self.columns)
        return tuple(part.name for part in parts if not part.fits)

    def __repr__(self) -> str:
        return f"Check({self.verdict()} describe() shows values and counts, for you alone.)"

    def verdict(self) -> str:
        """Return the outcome in a sentence, without a value or a count of rows."""
        if not self.rows:
            return f"{self.source} has no rows."
        if self.fits:
            return f"Every row of {self.source} fits the policy."
        return f"A release of {self.source} would be refused for {', '.join(map(repr, self.misfits))}."

    def describe(self, notation: Notation | None = PYTHON) -> str:
        """Return everything that was found, with values and counts, as text; keys in advice have the `notation`."""
        parts = (*(() if self.person is None else (self.person,)), *self.columns)
        found = [line for part in parts for line in ("", *part.lines())]
        lines = [spell(line, notation) if line.startswith(_ADVICE) else line for line in found]
        return "\n".join([FOR_YOU_ALONE, f"{self.source}: {_rows(self.rows)}", *lines, "", self.verdict(), _LAST])

    def to_dict(self, notation: Notation = PYTHON) -> dict[str, Any]:
        """Return everything that was found as JSON-ready data; keys in hints have the `notation`."""
        hints = [one.hint and spell(one.hint, notation) for one in self.columns]
        columns = zip(self.columns, hints, strict=True)
        parts = {"columns": [{**asdict(one), "hint": hint, "fits": one.fits} for one, hint in columns]}
        person = None if self.person is None else {**asdict(self.person), "fits": self.person.fits}
        head = {"note": FOR_YOU_ALONE, "source": self.source, "rows": self.rows, "fits": self.fits}
        return {**head, "person": person, **parts}


_REFUSED = "a release is refused"


def _rows(count: int) -> str:
    return f"{count:,} row{'' if count == 1 else 's'}"


def _share(count: int, among: int) -> str:
    share = 100 * count / among
    return f"{_rows(count)} ({'below 0.1' if share < 0.1 else f'{share:.1f}'} %)"
