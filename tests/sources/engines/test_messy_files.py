"""Files as offices have them: released rightly, or refused with a sentence whose remedy works.

Every case is a file, and what happens step by step until it is counted as the truth has it. A step is the code of a
refusal and its remedy: an option, which the sentence must spell out, or an edit of the file, which it must name.
"""

import tomllib
from typing import Any

import pandas as pd
import pytest

import crowdblend as cb
from crowdblend.errors import InvalidInput
from crowdblend.methods.designs.draw import Everybody
from crowdblend.notation import TOML
from crowdblend.policies.source import DataSource
from crowdblend.sources.engines.choice import count_classes
from crowdblend.sources.engines.frames import opened_frame
from tests.cases import some_daily

_TOWNS, _PAYS = ("Köln", "Århus", "Genève"), ("0.5", "999.25", "1234.5", "1250000")
_PEOPLE = [(n, _TOWNS[n % 3], _PAYS[n % 4], f"{1960 + n % 40}-{n % 12 + 1:02}-{n % 28 + 1:02}") for n in range(120)]
_COLUMNS = {
    "town": cb.values(*_TOWNS),
    "pay": cb.breaks(0, 1000, 2000, 2_000_000),
    "born": cb.date("year", "1900-01-01", "2030-01-01"),
}


def _same(text):
    return text


def _file(
    delimiter=",", number=_same, date=_same, end="\n", encoding="utf-8", head=("id", "town", "pay", "born"), last=""
):
    """The people in some notation."""
    rows = [delimiter.join(head) + last]
    rows += [delimiter.join([str(n), town, number(pay), date(born)]) + last for n, town, pay, born in _PEOPLE]
    return (end.join(rows) + end).encode(encoding)


def _grouped(separator, decimal):
    def written(pay):
        whole, _, rest = pay.partition(".")
        return f"{int(whole):,}".replace(",", separator) + (decimal + rest if rest else "")

    return written


def _quoted(written):
    return lambda pay: f'"{written(pay)}"'


def _dated(pattern):
    return lambda born: pd.Timestamp(born).strftime(pattern)


def _comma(pay):
    return pay.replace(".", ",")


def _edit(old, new, count=-1):
    return lambda content: content.replace(old.encode(), new.encode(), count)


_OUTSIDE, _DELIMITER = "data.outside-domain", ("data.delimiter", 'delimiter = ";"')
_COMMA, _GERMAN_DAYS = (_OUTSIDE, 'decimal = ","'), (_OUTSIDE, 'date_format = "%d.%m.%Y"')
CASES = {
    "plain": (_file(), []),
    "semicolons": (_file(";"), [_DELIMITER]),
    "tabs": (_file("\t"), [("data.delimiter", 'delimiter = "\\t"')]),
    "pipes": (_file("|"), [("data.delimiter", 'delimiter = "|"')]),
    "decimal comma": (_file(";", _comma), [_DELIMITER, _COMMA]),
    "decimal comma in quotes": (_file(",", _quoted(_comma)), [_COMMA]),
    "German everything": (
        _file(";", _grouped(".", ","), _dated("%d.%m.%Y"), "\r\n", "cp1252"),
        [
            ("data.encoding", 'encoding = "cp1252"'),
            _DELIMITER,
            (_OUTSIDE, 'decimal = ","', 'thousands = "."'),
            _GERMAN_DAYS,
        ],
    ),
    "dd.mm.yyyy": (_file(date=_dated("%d.%m.%Y")), [_GERMAN_DAYS]),
    "d/m/yyyy beyond the twelfth": (_file(date=_dated("%d/%m/%Y")), [(_OUTSIDE, 'date_format = "%d/%m/%Y"')]),
    "mm/dd/yyyy": (_file(date=_dated("%m/%d/%Y")), [(_OUTSIDE, 'date_format = "%m/%d/%Y"')]),
    "yyyymmdd": (_file(date=_dated("%Y%m%d")), [(_OUTSIDE, 'date_format = "%Y%m%d"')]),
    "dates with a time": (_file(date=_dated("%d.%m.%Y 07:05")), [(_OUTSIDE, 'date_format = "%d.%m.%Y %H:%M"')]),
    "months": (_file(date=_dated("%Y-%m")), [(_OUTSIDE, 'date_format = "%Y-%m"')]),
    "months as 03/1980": (_file(date=_dated("%m/%Y")), [(_OUTSIDE, 'date_format = "%m/%Y"')]),
    "years": (_file(date=_dated("%Y")), [(_OUTSIDE, 'date_format = "%Y"')]),
    "ISO moments": (_file(date=lambda born: born + "T07:05:00"), []),
    "thin spaces": (_file(";", _grouped("\u2009", ",")), [_DELIMITER, (_OUTSIDE, 'decimal = ","', 'thousands = " "')]),
    "non-breaking spaces": (_file(";", _grouped("\u00a0", ".")), [_DELIMITER, (_OUTSIDE, 'thousands = " "')]),
    "American thousands": (_file(number=_quoted(_grouped(",", "."))), [(_OUTSIDE, 'thousands = ","')]),
    "Swiss apostrophes": (_file(number=_grouped("’", ".")), [(_OUTSIDE, 'thousands = "\'"')]),
    "Latin-1": (_file(encoding="latin-1"), [("data.encoding", 'encoding = "cp1252"')]),
    "UTF-16 of Excel": (
        _file("\t", encoding="utf-16"),
        [("data.encoding", 'encoding = "utf-16"'), ("data.delimiter", 'delimiter = "\\t"')],
    ),
    "byte order mark of Excel": (_file(";", encoding="utf-8-sig", end="\r\n"), [_DELIMITER]),
    "sep= of Excel": (
        b"sep=;\r\n" + _file(";", end="\r\n"),
        [("data.no-header", 'delimiter = ";"', ("Remove the first line", _edit("sep=;\r\n", "", 1)))],
    ),
    "a delimiter ends every line": (_file(last=","), []),
    "a delimiter ends every line but the first": (
        _file(last=",").replace(b"born,", b"born"),
        [("data.field-count", ("Add a delimiter at the end of the first line", _edit("born\n", "born,\n", 1)))],
    ),
    "line ends of old Macs": (_file(end="\r"), []),
    "blank lines at the end": (_file() + b"\n\n", []),
    "two kinds of line ends": (
        _file(end="\r\n").replace(b"\r\n", b"\n", 5),
        [("data.line-ends", ("Convert it to one kind", _edit("\r\n", "\n")))],
    ),
    "quotation marks inside": (
        _file() + b'120,K"oln,1,1980-01-01\n',
        [("data.quotes", ("Put the whole field between quotation marks", _edit('120,K"oln,1,1980-01-01\n', "")))],
    ),
    "spaces around names": (
        _file(head=("id", " town", " pay", " born")),
        [("data.missing-column", ("remove the spaces there", _edit(", ", ",", 3)))],
    ),
    "spaces around values": (
        _file().replace(b",K", b", K"),
        [(_OUTSIDE, ("Remove the spaces around the values", _edit(", K", ",K")))],
    ),
    "two columns of one name": (
        _file(head=("id", "town", "pay", "born"))
        .replace(b"born\n", b"born,pay\n", 1)
        .replace(b"-", b"-")
        .replace(b"\n", b",1\n")
        .replace(b"pay,1\n", b"pay\n", 1),
        [("data.repeated-column", ("Rename one", _edit("born,pay\n", "born,pay2\n", 1)))],
    ),
    "currency signs": (
        _file(number=lambda pay: f"€{pay}"),
        [(_OUTSIDE, ("Remove the units or signs", _edit("€", "")))],
    ),
    "a workbook with another name": (
        b"PK\x03\x04" + bytes(200),
        [("data.workbook", ("Save it as CSV", lambda _: _file()))],
    ),
    "an empty file": (b"", [("data.empty-file", ("Check that it was written", lambda _: _file()))]),
    "a quotation mark that never ends": (
        _file() + b'120,"K\n',
        [("data.open-quote", ("Correct the line", _edit('120,"K\n', "")))],
    ),
}


def _policy(path, options):
    data = tomllib.loads("\n".join(options))
    return _table(source=str(path), **data)


def _table(columns=_COLUMNS, **data):
    given = {"person": "id", "sampling": cb.Poisson(0.5), "epsilon": 1.0, "delta": 1e-6}
    return cb.Policy(columns=columns, publish=cb.Table(), **given, **data)


def _counts(policy):
    classes = count_classes(policy, Everybody()).classes
    return classes.codes.tolist(), classes.counts.tolist()


@pytest.fixture(scope="module")
def truth(tmp_path_factory):
    path = tmp_path_factory.mktemp("truth") / "people.csv"
    path.write_bytes(_file())
    return _counts(_policy(path, []))


@pytest.mark.parametrize("name", some_daily(CASES, 19))
def test_released_rightly_or_refused_with_a_remedy_that_works(name, tmp_path, truth):
    content: Any
    steps: Any
    content, steps = CASES[name]
    path = tmp_path / "people.csv"
    options: list[Any] = []
    for code, *remedies in steps:
        path.write_bytes(content)
        with pytest.raises(InvalidInput) as caught:
            _counts(_policy(path, options))
        told = caught.value.in_notation(TOML)
        assert told.code == code, str(told)
        for secret in (*_TOWNS, *_PAYS, "1960"):
            assert secret not in str(told)
        for remedy in remedies:
            sentence, edit = remedy if isinstance(remedy, tuple) else (remedy, None)
            assert sentence in str(told.remedy), str(told)
            if edit is None:
                options.append(sentence)
            else:
                content = edit(content)
    path.write_bytes(content)
    assert _counts(_policy(path, options)) == truth


def test_mixed_types_of_a_frame(truth):
    """Numbers beside texts in one column, as pandas reads many spreadsheets."""
    frame = pd.DataFrame(_PEOPLE, columns=["id", "town", "pay", "born"])
    frame["pay"] = [float(pay) if n % 2 else pay for n, pay in enumerate(frame["pay"])]
    policy = _table()

    def counts():
        with opened_frame(frame) as held:
            return _counts(policy.with_source(DataSource(source=held.name, format="frame", frame=held)))

    with pytest.raises(InvalidInput) as caught:
        counts()
    assert (caught.value.code, caught.value.remedy) == ("data.column-type", "Convert it to text, numbers or dates.")
    frame["pay"] = frame["pay"].astype(str)
    assert counts() == truth


def test_words_for_no_value_have_a_class_where_other_is_declared(tmp_path):
    path = tmp_path / "people.csv"
    path.write_bytes(_file(number=lambda pay: "n/a" if pay == "0.5" else pay))
    with pytest.raises(InvalidInput) as caught:
        _counts(_policy(path, []))
    assert (caught.value.code, "Declare other" in caught.value.remedy) == (_OUTSIDE, True)
    columns = {**_COLUMNS, "pay": cb.breaks(0, 1000, 2000, 2_000_000, other="unknown")}
    found = count_classes(_table(columns, source=str(path)), Everybody())
    assert found.outside["pay"].values == (("n/a", 30),)
