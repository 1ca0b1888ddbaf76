"""A plan as a notebook shows it: what would happen, what it would mean, and what is taken for granted."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape

from crowdblend.calculus import Certificate
from crowdblend.guarantees.guessing import lead


def plan_html(lines: Iterable[tuple[str, str]], certificate: Certificate, releases: int) -> str:
    """Return the plan of this many releases as HTML in which every text is escaped."""
    sentence = lead(certificate.guarantees, releases)
    rows = "".join(
        f'<tr><th style="text-align:left">{escape(what)}</th><td style="text-align:left">{escape(how)}</td></tr>'
        for what, how in lines
    )
    guarantees = _list_items(guarantee.words() for guarantee in certificate.guarantees)
    assumptions = _list_items(assumed.sentence() for assumed in certificate.assumptions())
    opening = f"<p><b>{escape(sentence)}</b></p>" if sentence else ""
    return f"<div>{opening}<table>{rows}</table><p>Guarantees</p>{guarantees}<p>Assumptions</p>{assumptions}</div>"


def _list_items(lines: Iterable[str]) -> str:
    return "<ul>" + "".join(f"<li>{escape(line)}</li>" for line in lines) + "</ul>"
