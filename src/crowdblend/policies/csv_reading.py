"""Formats of CSV fields: delimiter, encoding, decimal mark, thousands separator, dates.

Every engine that reads CSV files takes these from here. Fields stay texts; only where a recoding reads a number or a
date is the text rewritten into the one spelling that recodings know, 1234.5 and 2024-02-29, without ever becoming a
floating-point number on the way. What does not follow the declared notation is no number or date, so that 1.234 is
never taken for a little more than one where "." separates thousands.
"""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass
from functools import cached_property

from crowdblend.policies.refusals import refusal

_SPACES = " \t\n\v\f\r"
# What begins so is neither a number nor a date nor blank.
_NEITHER = "?"
# What separates thousands where thousands = " ": the space, and those that do not break a line.
_THIN = " \u00a0\u2007\u2009\u202f"
_THOUSANDS = {".": ".", ",": ",", "'": "'\u2019", " ": _THIN}
_PARTS = {"%d": "d", "%m": "m", "%Y": "Y"}
_TIME = {"%H": "[0-9]{1,2}", "%M": "[0-9]{1,2}", "%S": "[0-9]{1,2}", "%f": "[0-9]{1,6}"}
_ZONE = re.compile(r"%[HMSf].*([Zz]|UTC|GMT|[+-][0-9]{1,2}(:?[0-9]{2})?)\s*$")
_SPELLINGS_OF_UTF8 = ("utf-8", "utf-8-sig")


@dataclass(frozen=True)
class CsvReading:
    """The notation of a CSV file; every part may be left to its default."""

    delimiter: str = ","
    encoding: str = "utf-8"
    decimal: str = "."
    thousands: str | None = None
    date_format: str | None = None

    def __post_init__(self) -> None:
        if len(self.delimiter) != 1 or self.delimiter in '"\n\r\0':
            message = f"`data.delimiter` takes one character that is no quote or line end, got {self.delimiter!r}."
            raise refusal("delimiter", message, 'Use for example ";".', "`data.delimiter`")
        if self.decimal not in (".", ","):
            raise refusal("decimal", f"`data.decimal` is {self.decimal!r}.", 'Use "." or ",".', "`data.decimal`")
        if self.thousands is not None and self.thousands not in _THOUSANDS:
            message = 'Use ".", ",", " " or "\'"; " " also takes thin and non-breaking spaces.'
            raise refusal("thousands", f"`data.thousands` is {self.thousands!r}.", message, "`data.thousands`")
        if self.thousands == self.decimal:
            message = "Set decimal to the mark before the fraction, and thousands to the other one."
            remedy = f"`data.decimal` and `data.thousands` are both {self.decimal!r}."
            raise refusal("thousands", remedy, message, "`data.thousands`")
        _check_encoding(self.encoding)
        if self.date_format is not None:
            _check_date_format(self.date_format)

    @property
    def is_utf8(self) -> bool:
        """True if the bytes are read as they are."""
        return codecs.lookup(self.encoding).name in _SPELLINGS_OF_UTF8

    @property
    def changes_numbers(self) -> bool:
        """True if numbers are written differently from 1234.5."""
        return self.decimal != "." or self.thousands is not None

    def number_sql(self, column: str) -> str:
        """Return the same number with a point and no thousands separators, in SQL; what is no number stays none.

        With decimal = "," and thousands = ".", 1.234,5 becomes 1234.5, and 1.23 becomes ?1.23.
        """
        if not self.changes_numbers:
            return column
        if self.thousands is None:
            return self._swapped_sql(column)
        text, among = _trimmed_sql(column), _quote(f"[{self._separators}]")
        return (
            f"CASE WHEN NOT regexp_matches({text}, {among}) THEN {self._swapped_sql(column)} "
            f"{self._when_grouped_sql(text)} WHEN {column} IS NOT NULL THEN {_quote(_NEITHER)} || {column} END"
        )

    def day_sql(self, column: str) -> str:
        """Return the same date as YYYY-MM-DD, in SQL; a text that does not follow the format is no date."""
        if self.date_format is None:
            return column
        text = _trimmed_sql(column)
        return (
            f"CASE WHEN {text} = '' THEN {column} {self._when_date_sql(text)} "
            f"WHEN {column} IS NOT NULL THEN {_quote(_NEITHER)} || {column} END"
        )

    def raw_text(self, reads: str, text: str) -> str:
        """Return the text of the file that was rewritten into this one, as far as it says: for the steward's eyes.

        >>> CsvReading(decimal=",").raw_text("number", "1,5")
        '1.5'
        """
        if reads != "text" and text.startswith(_NEITHER):
            return text.removeprefix(_NEITHER)
        swapped = reads == "number" and self.decimal == ","
        return text.translate({ord(","): ".", ord("."): ","}) if swapped else text

    def known_again_sql(self, column: str) -> str:
        """Return the text by which a value is recognized in a copy of another format."""
        text = _trimmed_sql(column)
        # Where digits alone are a date, or a part of one, numbers of other columns would be taken for dates.
        marked = (
            self.date_format is not None
            and "%d" in self.date_format
            and not self.date_format.replace("%", "").isalnum()
        )
        whens = [self._when_date_sql(text)] if marked else []
        if self.changes_numbers:
            ungrouped = f"[+-]?([0-9]+([{self.decimal}][0-9]*)?|[{self.decimal}][0-9]+)([eE][+-]?[0-9]+)?"
            whens.append(f"WHEN regexp_full_match({text}, {_quote(ungrouped)}) THEN {self._swapped_sql(text)}")
        if self.thousands is not None:
            whens.append(self._when_grouped_sql(text))
        return f"CASE {' '.join(whens)} ELSE {column} END" if whens else column

    def _when_grouped_sql(self, text: str) -> str:
        """Return the case of a number whose digits are in groups of three."""
        plain = f"regexp_replace({text}, {_quote(f'[{self._separators}]')}, '', 'g')"
        return f"WHEN regexp_full_match({text}, {_quote(self._grouped_pattern)}) THEN {self._swapped_sql(plain)}"

    def _when_date_sql(self, text: str) -> str:
        """Return the case of a date in the declared format."""
        pattern, order = _pattern(str(self.date_format))
        year, month, day = (
            f"regexp_extract({text}, {_quote(pattern)}, {order.index(one) + 1})" if one in order else "'1'"
            for one in "Ymd"
        )
        iso = f"{year} || '-' || lpad({month}, 2, '0') || '-' || lpad({day}, 2, '0')"
        return f"WHEN regexp_full_match({text}, {_quote(pattern)}) THEN {iso}"

    def _swapped_sql(self, column: str) -> str:
        """The two marks change places: what had a point then has a comma, and is no number."""
        return f"translate({column}, ',.', '.,')" if self.decimal == "," else column

    @cached_property
    def _separators(self) -> str:
        return _THOUSANDS[str(self.thousands)]

    @cached_property
    def _grouped_pattern(self) -> str:
        """A number whose digits are in groups of three."""
        around = f"[{_THIN}]*" if self.thousands == " " else ""
        digits = f"[+-]?[0-9]{{1,3}}([{self._separators}][0-9]{{3}})*([{self.decimal}][0-9]*)?([eE][+-]?[0-9]+)?"
        return around + digits + around


def _trimmed_sql(column: str) -> str:
    return f"trim({column}, {_quote(_SPACES)})"


def _quote(text: str) -> str:
    """Return a text as an SQL literal; importing that of recodings would load NumPy just to write a policy."""
    return "'" + text.replace("'", "''") + "'"


def _pattern(declaration: str) -> tuple[str, str]:
    """The pattern of a date format, and the order of its groups; a day or month has one digit where marks end it."""
    pieces = re.findall(r"%.|[^%]|%", declaration)
    pattern, order = "", ""
    for place, piece in enumerate(pieces):
        if piece in _PARTS:
            beside = pieces[place - 1 : place] + pieces[place + 1 : place + 2]
            apart = not any(one in _PARTS or one in _TIME or one.isdigit() for one in beside)
            digits = "4" if piece == "%Y" else "1,2" if apart else "2"
            pattern += f"([0-9]{{{digits}}})"
            order += _PARTS[piece]
        else:
            pattern += _TIME.get(piece, re.escape(piece))
    return pattern, order


def _check_date_format(declaration: str) -> None:
    pieces = re.findall(r"%.|%", declaration)
    unknown = [piece for piece in pieces if piece not in _PARTS and piece not in _TIME]
    if "%y" in unknown:
        message = "`data.date_format` has %y: two digits do not say the century."
        remedy = "Write years with four digits in the data, and %Y here."
        raise refusal("date-format", message, remedy, "`data.date_format`")
    if _ZONE.search(declaration):
        message = "`data.date_format` has a time zone: a moment falls on other days in other zones."
        remedy = "Convert the data to dates of the zone that you mean."
        raise refusal("date-format", message, remedy, "`data.date_format`")
    parts = sorted(piece for piece in pieces if piece in _PARTS)
    if unknown or parts not in (["%Y", "%d", "%m"], ["%Y", "%m"], ["%Y"]) or not declaration.isprintable():
        message = (
            'Use %d, %m and %Y once each, such as "%d.%m.%Y", or "%Y-%m" for months and "%Y" for years; '
            "%H, %M, %S and %f may follow."
        )
        raise refusal("date-format", f"`data.date_format` is {declaration!r}.", message, "`data.date_format`")


def _check_encoding(name: str) -> None:
    try:
        known = codecs.lookup(name)
        "".encode(known.name)
    except (LookupError, ValueError):
        message = f"`data.encoding` is {name!r}, which is no encoding of text."
        remedy = 'Use for example "latin-1", "cp1252" (Windows) or "utf-16".'
        raise refusal("encoding", message, remedy, "`data.encoding`") from None
