"""The HTML by which a notebook shows a value: a sentence, a table and lists."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from crowdblend.trusted.machine.lazy import lazy_imports

with lazy_imports():
    import html


def html_summary(
    sentence: str | None, rows: Iterable[tuple[str, str]] = (), lists: Mapping[str, Iterable[str]] | None = None
) -> str:
    """Return a sentence, rows of two cells and lists with their titles as HTML; every text is escaped."""
    parts = [f"<p><b>{html.escape(sentence)}</b></p>"] if sentence else []
    cells = "".join(f"<tr>{_cell('th', what)}{_cell('td', how)}</tr>" for what, how in rows)
    parts += [f"<table>{cells}</table>"] if cells else []
    for title, lines in (lists or {}).items():
        items = "".join(f"<li>{html.escape(line)}</li>" for line in lines)
        parts += [f"<p>{html.escape(title)}</p><ul>{items}</ul>"] if items else []
    return f"<div>{''.join(parts)}</div>"


def _cell(tag: str, text: str) -> str:
    return f'<{tag} style="text-align:left">{html.escape(text)}</{tag}>'
