"""How releases and reports show themselves in a notebook: HTML in which every text is escaped."""

from __future__ import annotations

import re
from html import escape
from typing import TYPE_CHECKING

from crowdblend.guarantees.guessing import lead
from crowdblend.reports.html import Html, element, label

if TYPE_CHECKING:
    import pyarrow as pa

    from crowdblend.api.published import Release
    from crowdblend.calculus.certificate import Certificate

MOST_ROWS = 8
# The figures of a report are drawn by us, with every label escaped, and hold no script.
_FIGURE = re.compile(r"<svg\b.*?</svg>", re.DOTALL)


def release_html(done: Release) -> str:
    """The guarantee in one sentence, the first figure of the report, and the first rows."""
    tables = done.data if isinstance(done.data, dict) else {"data": done.data}
    name, table = next(iter(tables.items()))
    figure = _FIGURE.search(done.report.html)
    others = f"; also published: {', '.join(list(tables)[1:])}" if len(tables) > 1 else ""
    where = "in memory" if done.folder is None else str(done.folder)
    return element(
        "div",
        element("p", element("b", guarantee_sentence(done.certificate))),
        Html(figure.group(0)) if figure else "",
        element("p", f"{name}: the first of {table.num_rows:,} rows{others}"),
        _rows(table),
        element(
            "p", element("small", f"{where}{'' if done.entry is None else f', release {done.entry} of the ledger'}")
        ),
    )


def page_html(page: str) -> str:
    """A whole page inside another one: in a frame of its own that runs no script."""
    return f'<iframe sandbox="" srcdoc="{escape(page)}" width="100%" height="600" style="border:0"></iframe>'


def guarantee_sentence(certificate: Certificate) -> str:
    """The guarantee for somebody who has never heard of ε; else the strongest one, precisely."""
    return lead(certificate.guarantees) or (certificate.differential() or certificate.guarantees[0]).words()


def _rows(table: pa.Table) -> Html:
    head = element("tr", *(element("th", label(name)) for name in table.column_names))
    rows = [
        element("tr", *(element("td", label("" if value is None else str(value))) for value in row.values()))
        for row in table.slice(0, MOST_ROWS).to_pylist()
    ]
    return element("table", element("thead", head), element("tbody", *rows))
