"""Texts that a spreadsheet would take for formulas, and run: refused where they are declared, else neutralized.

A cell may be run when it begins with one of a few signs, whatever blanks stand before it. Where a spreadsheet divides
the fields of a CSV file by `;` or a tab, and not by the comma, a cell begins behind each of these too.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from crowdblend.policies.refusals import refusal

_NUMBER = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?")
# East Asian spreadsheets take the wide signs as well.
_BEGIN = re.compile(r"[\s']*[=@+\-\uff1d\uff20\uff0b\uff0d]")
_BLANK = " '"
_BETWEEN = re.compile(r"([;\t\r\n])")
_BROKEN = re.compile(r"'*[\t\r\n]")


def is_formula(text: str) -> bool:
    """Return whether a spreadsheet may take a cell for a formula, and run it.

    >>> [is_formula(text) for text in ("=1+1", "@x", "+a", "-1.5", "- 5", "a=b", "\\t=1", " =1", "a;=b", "'=1")]
    [True, True, True, False, True, False, True, True, True, False]
    """
    parts = (part.lstrip() for part in _BETWEEN.split(text))
    return text[:1] in ("\t", "\r", "\n") or any(not part.startswith("'") and _may_run(part) for part in parts)


def neutral_text(text: str) -> str:
    """Return a text with an apostrophe before whatever may be run; different texts stay different.

    So a text that begins with apostrophes and a formula gets another one.

    >>> [neutral_text(text) for text in ("=1+1", "'=1+1", "-1.5", "a=b", "a;=b", " @x", "\\tx")]
    ["'=1+1", "''=1+1", '-1.5', 'a=b', "a;'=b", "' @x", "'\\tx"]
    """
    if text.isalnum():
        return text
    first, *others = _BETWEEN.split(text)
    parts = [_neutral_part(first, broken=_BROKEN.match(text) is not None), *map(_neutral_part, others)]
    return "".join(parts)


def _neutral_part(part: str, *, broken: bool = False) -> str:
    return f"'{part}" if broken or _may_run(part) else part


def _may_run(part: str) -> bool:
    """Return whether a cell begins as a formula does, apostrophes aside, and is no number."""
    return _BEGIN.match(part) is not None and _NUMBER.fullmatch(part.lstrip(_BLANK).rstrip()) is None


def refuse_formulas(texts: Iterable[tuple[str, str]]) -> None:
    """Refuse the first text that is a formula; each comes with its place in the policy.

    Only labels that are declared are known here; those of a prefix come from the data, and are neutralized.
    """
    for where, text in texts:
        if is_formula(text):
            message = f"{where}: the text {text[:30]!r} would be a formula in a spreadsheet."
            raise refusal("formula", message, 'Rename it, or publish with `release.format = "parquet"`.', where)
