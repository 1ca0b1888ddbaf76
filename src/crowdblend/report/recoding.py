"""Which recoding was chosen, and what each column lost: from the certificate's facts alone."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from crowdblend.report import words
from crowdblend.report.folder import Folder
from crowdblend.report.html import Html, element, join, label, table

HEADING = "Which recoding was chosen"
_DECIDED = {
    "population": "Everybody in the data had a say in it; the published sample was drawn with coins of its own.",
    "split": "A part of the sample decided; of that part nobody is published.",
}


def chosen_recoding(folder: Folder) -> Html:
    """The section's content; empty where nothing was chosen."""
    facts = folder.fact("recoding", dict)
    chosen = facts.get("chosen")
    if not isinstance(chosen, Mapping) or not chosen:
        return Html("")
    rows: list[list[str]] = [
        [label(str(name)), *_level(level)] for name, level in chosen.items() if isinstance(level, Mapping)
    ]
    intro = (
        f"How coarse the labels are was chosen among {words.shown(facts.get('recodings'))} combinations of levels, at "
        f"random, favouring those that keep more. {_DECIDED.get(str(facts.get('using')), '')} The choice is itself "
        f"part of the promise: it costs ε = {words.shown(facts.get('epsilon'))}."
    )
    headers = ["column", "step", "labels", "lost"]
    caption = "The chosen levels: step 1 is the finest; lost is 0 % where all values are kept, 100 % where none is"
    return join(element("p", intro), table(headers, rows, caption=caption, numbers=frozenset([1, 2, 3])))


def _level(level: Mapping[str, Any]) -> list[str]:
    step, steps, classes, loss = (level.get(name) for name in ("step", "steps", "classes", "loss"))
    place = f"{step + 1} of {steps}" if isinstance(step, int) and isinstance(steps, int) else "?"
    lost = f"{100 * loss:.3g} %" if isinstance(loss, int | float) else "?"
    return [place, words.shown(classes), lost]
