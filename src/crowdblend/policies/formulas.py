"""Labels that a spreadsheet would run: a published CSV file holds none.

A cell that begins with = or @, or with + or - and is no number, is a formula to a spreadsheet. Labels of a policy are
declared, so such a label is refused where the policy publishes CSV; Parquet has no such cells. The labels of a prefix
come from the data and are not known beforehand: see docs/release.md.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from crowdblend.policies.columns import Column
from crowdblend.policies.refusals import refusal
from crowdblend.recoding.classes import Lookup

_NUMBER = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?")


def is_formula(text: str) -> bool:
    """Return whether a spreadsheet may take a cell for a formula.

    >>> [is_formula(text) for text in ("=1+1", "@x", "+a", "-1.5", "- 5", "a=b", "\\t=1")]
    [True, True, True, False, True, False, True]
    """
    return text[:1] in ("=", "@", "+", "-", "\t", "\r") and not _NUMBER.fullmatch(text)


def refuse_formulas(texts: Iterable[tuple[str, str]]) -> None:
    """Refuse the first text that is a formula; each comes with its place in the policy."""
    for where, text in texts:
        if is_formula(text):
            message = f"{where}: the text {text[:30]!r} would be a formula in a spreadsheet."
            raise refusal("formula", message, 'Rename it, or publish with format = "parquet".', where)


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
