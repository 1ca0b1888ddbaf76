"""Which recoding was chosen, what each column lost, and what lies around: from the certificate's facts alone."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from crowdblend.reports.around import around_the_choice
from crowdblend.reports.folder import Folder
from crowdblend.reports.html import Html, element, join, label, table
from crowdblend.reports.numbers import fact

HEADING = "Which recoding was chosen"
_DECIDED = {
    "population": "Everybody in the data took part in the choice; the published sample was drawn separately.",
    "split": "A part of the sample made the choice; nobody in that part is published.",
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
    choices = facts.get("choices")
    steps = f", in {choices} steps with some columns each" if isinstance(choices, int) and choices > 1 else ""
    among = fact(facts.get("recodings"))
    intro = (
        f"How coarse the labels are was chosen among {among} combinations of levels, at random, favouring those that "
        f"keep more{steps}. {_DECIDED.get(str(facts.get('using')), '')} The guarantee covers the choice, which "
        f"costs ε = {fact(facts.get('epsilon'))}."
    )
    headers = ["column", "step", "labels", "lost"]
    caption = "The chosen levels: step 1 is the finest; lost is 0 % where all values are kept, 100 % where none is"
    levels = table(headers, rows, caption=caption, numbers=frozenset([1, 2, 3]))
    return join(element("p", intro), levels, around_the_choice(facts, chosen))


def _level(level: Mapping[str, Any]) -> list[str]:
    step, steps, classes, loss = (level.get(name) for name in ("step", "steps", "classes", "loss"))
    place = f"{step + 1} of {steps}" if isinstance(step, int) and isinstance(steps, int) else "?"
    lost = f"{100 * loss:.3g} %" if isinstance(loss, int | float) else "?"
    return [place, fact(classes), lost]
