"""Presets of a starter policy, and proposals for its columns by their names, types and code book, never by values."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal

from crowdblend.errors import InvalidInput
from crowdblend.policies.code_book import Entry
from crowdblend.policies.header import ColumnKind
from crowdblend.policies.load import PLACEHOLDER
from crowdblend.policies.refusals import did_you_mean
from crowdblend.policies.write import toml_text

FILL = f'"{PLACEHOLDER}"'
_PERSONS = re.compile(
    r"(?i)(person|people|pers|respondent|resp|patient|participant|subject|case|individual|citizen|resident|member|user"
    r"|customer|client|student|employee)[_ .-]?(id|no|nr|num|number|key|code|nummer)|p?id|pnr|pid|ssn|uuid"
    r"|person(en)?nummer|(person(en)?)?kenn(ung|ziffer|nummer)|identifiant|matricule"
)
_DATES = re.compile(
    r"(?i)(.*[_ .-])?(date|dob|born|birth|birthday|birthdate|day|geburtsdatum|datum|naissance)([_ .-].*)?"
)
# Columns that may hold design weights, and amounts of money, of which medians are taken where they are whole too.
WEIGHTS = re.compile(
    r"(?i)((design|survey|sampling|sample|person|final|pop|inst|fnl|p)[_ .-]?)?(weights?|wts?|wgts?|gewicht)"
)
AMOUNTS = re.compile(
    r"(?i)(.*[_ .-])?(income|salary|wages?|earnings|pay|rent|spending|einkommen|gehalt|lohn|miete|revenu|salaire)"
    r"([_ .-].*)?"
)
_AXES = (
    *(("x", "y"), ("lon", "lat"), ("longitude", "latitude"), ("lng", "lat")),
    *(("easting", "northing"), ("east", "north")),
)
_ENDS = (("source", "target"), ("from", "to"), ("a", "b"), ("person", "friend"), ("src", "dst"), ("id1", "id2"))
AXIS = (
    f"{{ from = {FILL}, to = {FILL}, resolution = {FILL}, width = {FILL} }}"
    "   # the bounds, the step of the noise, and the width of the blocks"
)
_BY_KIND: dict[ColumnKind, str] = {
    "text": f'{{ values = [{FILL}] }}   # or {{ prefix = 3 }}, {{ hierarchy = {FILL}, level = 1 }}; other = "Other"',
    "whole": f"{{ breaks = [{FILL}], whole = true }}   # rising numbers; or from = …, to = …, width = …; top = true",
    "number": f"{{ breaks = [{FILL}] }}   # rising numbers; or {{ from = …, to = …, width = … }}; top = true",
    "date": f"{{ date = {FILL} }}   # year, quarter, month, week or day; from = …, to = … close the domain",
    "boolean": '{ values = [true, false] }   # missing = "unknown" where it may be empty',
    "unknown": f"{{ values = [{FILL}] }}   # or breaks, from + to + width, prefix, date, hierarchy",
}


def proposed_person(columns: Sequence[tuple[str, ColumnKind]]) -> str | None:
    """The column that tells people apart, by its name; dates, truth values and anything with a fraction do not."""
    fitting = [name for name, kind in columns if kind not in ("date", "boolean") and _PERSONS.fullmatch(name.strip())]
    return fitting[0] if fitting else None


def proposed_pair(columns: Sequence[tuple[str, ColumnKind]], *, links: bool) -> tuple[str, str] | None:
    """The axes of points or the two ends of links, by their names, else the first two columns that can be that."""
    lowered = {name.strip().lower(): name for name, _ in columns}
    for one, other in _ENDS if links else _AXES:
        if one in lowered and other in lowered:
            return lowered[one], lowered[other]
    types = ("number", "whole", *(("text", "unknown") if links else ("unknown",)))
    fitting = [name for name, found in columns if found in types]
    return (fitting[0], fitting[1]) if len(fitting) > 1 else None


def coordinates(columns: Sequence[tuple[str, ColumnKind]]) -> set[str]:
    """Return the columns of numbers that say where people are, by the names of both axes."""
    numbers = {name.strip().lower(): name for name, kind in columns if kind in ("number", "whole")}
    return {numbers[name] for pair in _AXES if numbers.keys() >= set(pair) for name in pair}


def proposed_domain(name: str, kind: ColumnKind, entry: Entry | None) -> str:
    """Return the declaration of a column, with gaps for what only the steward knows."""
    if entry is not None and entry.declared is not None:
        return f"{entry.declared}   # {entry.origin}"
    if entry is not None and entry.values:
        return f"{{ values = [{', '.join(map(toml_text, entry.values))}] }}   # from the code book"
    known: str = (entry.kind if entry is not None else None) or kind
    if entry is not None and (ends := _ends_of(entry, known)) is not None:
        return _range(known, *ends)
    if known in ("text", "unknown") and _DATES.fullmatch(name.strip()):
        return _BY_KIND["date"] + '; date_format = "%d.%m.%Y" in [data] if a CSV file writes it so'
    return _BY_KIND[known]  # type: ignore[index]


def proposed_measure(entry: Entry | None) -> str:
    """The declaration of a column to take medians of: bounds and a grid instead of classes."""
    low, high, step, why = FILL, FILL, FILL, "the bounds, and what to round to"
    if entry is not None and (ends := _ends_of(entry, "number")) is not None:
        (low, high), why = ends, entry.origin if entry.declared else "range from the code book"
        step = str(Decimal(10) ** ((Decimal(high) - Decimal(low)).adjusted() - 3)) if entry.declared else FILL
    return f'{{ from = {low}, to = {high}, resolution = {step}, outside = "clamp" }}   # {why}'


def _ends_of(entry: Entry, kind: str) -> tuple[str, str] | None:
    """Return the range of a code book as TOML writes it; None where its ends are no numbers, or no dates."""
    ends = [end.strip() for end in (entry.low, entry.high) if end is not None]
    pattern = _DAY if kind == "date" else _NUMBER
    return (ends[0], ends[1]) if len(ends) == 2 and all(map(pattern.fullmatch, ends)) else None


def _range(kind: str, low: str, high: str) -> str:
    """Return a range of the code book, whose largest value belongs to it."""
    if kind == "date":
        return f"{{ date = {FILL}, from = {low}, to = {high}, include_to = true }}   # range from the code book"
    whole = all(Decimal(end) == Decimal(end).to_integral_value() for end in (low, high))
    if whole and kind != "number":
        return f"{{ breaks = [{low}, {FILL}, {int(Decimal(high)) + 1}], whole = true }}   # range from the code book"
    return f"{{ breaks = [{low}, {FILL}, {high}], top = true }}   # range from the code book"


# An end of a range in a code book that TOML can write as it is.
_NUMBER = re.compile(r"[-+]?(0|[1-9][0-9]{0,29})(\.[0-9]{1,30})?([eE][-+]?[0-9]{1,2})?")
_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_CALLED = {
    "area": re.compile(
        r"(?i).*(area|region|district|county|state|canton|province|municip|neighbou?rhood|ward|gemeinde|kreis|bezirk"
        r"|commune|zip|plz|postcode).*"
    ),
    "sex": re.compile(r"(?i).*(sex|gender|geschlecht).*"),
    "age": re.compile(r"(?i)(.*[_ .-])?(age|alter|ages?[_ .-]?(group|band|class))([_ .-].*)?"),
}


@dataclass(frozen=True)
class Preset:
    """A kind, a design where it follows, the columns to publish, and what [sampling] and [privacy] say besides."""

    words: str
    kind: str | None
    design: str | None = None
    columns: tuple[str, ...] = ()
    said: Mapping[str, str] = field(default_factory=dict)

    def choose_columns(self, names: Sequence[str]) -> list[str]:
        """Return the columns of the data that are called as the preset's are, one for each.

        >>> PRESETS["yearly-counts"].choose_columns(["person_id", "gender", "age", "income", "district"])
        ['district', 'gender', 'age']
        """
        found = (next((name for name in names if _CALLED[one].fullmatch(name.strip())), None) for one in self.columns)
        return list(dict.fromkeys(name for name in found if name is not None))


PRESETS = {
    "yearly-counts": Preset(
        "yearly counts by area, sex and age, ten years under one budget",
        "table",
        columns=("area", "sex", "age"),
        said={"privacy.releases": "10"},
    ),
    "microdata": Preset("microdata for researchers", "microdata"),
    "survey-strata": Preset("a survey with strata", "table", "strata", said={"sampling.thin": "0.8"}),
    "register-by-district": Preset("a register by district", "table", "everybody", columns=("area", "sex")),
}


def preset_of(name: str | None) -> Preset:
    """Return the preset of a name; without one, a preset that says nothing."""
    if name is not None and name not in PRESETS:
        message = f"There is no preset {name[:60]!r}."
        raise InvalidInput(message, remedy=did_you_mean(name, PRESETS), where="`--preset`", code="init.preset")
    return Preset("", None) if name is None else PRESETS[name]


def area_of(names: Sequence[str]) -> str | None:
    """Return the column of areas, by its name."""
    return next((name for name in names if _CALLED["area"].fullmatch(name.strip())), None)
