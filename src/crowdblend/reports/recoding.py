"""Which recoding was chosen, what each column lost, and what lies around: from the certificate's facts alone."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from crowdblend.reports.charts import distinct_labels, figure, numbers
from crowdblend.reports.folder import Folder
from crowdblend.reports.html import Html, element, join, label, table
from crowdblend.reports.numbers import fact

_SCORES = {
    "loss": "People whom a release is expected to publish, each counted by the share of the labels that is kept,",
    "published": "People whom a release is expected to publish",
    "discernibility": "People whom a release is expected to publish, counted less in large classes,",
    "entropy": "Bits that the published classes are expected to tell",
}
_LONGEST = 18


@dataclass(frozen=True)
class _Near:
    """A recoding one level away."""

    name: str
    coarser: bool
    score: float


def around_the_choice(facts: Mapping[str, Any], chosen: Mapping[str, Any], *, drawn: bool) -> Html:
    """The figure with its numbers; empty where the policy spends no budget on it."""
    around = facts.get("around")
    own = around.get("score") if isinstance(around, Mapping) else None
    near = list(_near(around, chosen)) if isinstance(around, Mapping) else []
    if not near or not isinstance(around, Mapping) or not isinstance(own, int | float):
        return Html("")
    finer, coarser = ([(each.name, each.score) for each in near if each.coarser is side] for side in (False, True))

    def draw(_: bool) -> str:
        from crowdblend.figures import neighbours  # noqa: PLC0415  only where figures are drawn

        return neighbours(("chosen", own), finer, coarser, headings=("one column finer", "", "one column coarser"))

    caption = (
        f"{_SCORES.get(str(facts.get('score')), 'Scores')} with the chosen recoding and with those one level away"
        f"{'; darker is more' if drawn else ''}. "
        f"Every number carries noise, {fact(around.get('mean_error'))} on average."
    )
    cost = (
        "Only these scores are published, with noise added. The guarantee covers them; they cost "
        f"ε = {fact(facts.get('show_epsilon'))}."
    )
    rows = [["chosen", "", f"{own:,.0f}"]]
    rows += [[each.name, "coarser" if each.coarser else "finer", f"{each.score:,.0f}"] for each in near]
    return join(
        element("h3", "The recodings around it"),
        element("p", cost),
        figure(draw, caption, drawn=drawn, narrow=False),
        numbers(["recoding", "than the chosen one", "score"], rows, caption, frozenset([2]), folded=drawn),
    )


def _near(around: Mapping[str, Any], chosen: Mapping[str, Any]) -> Iterator[_Near]:
    """The entries that have a column, a step and a score."""
    names = distinct_labels((str(name) for name in chosen), _LONGEST)
    entries = around.get("near")
    for entry in entries if isinstance(entries, list) else ():
        if not isinstance(entry, Mapping):
            continue
        column, step, score = (entry.get(name) for name in ("column", "step", "score"))
        level = chosen.get(column) if isinstance(column, str) else None
        before = level.get("step") if isinstance(level, Mapping) else None
        if isinstance(before, int) and isinstance(step, int) and isinstance(score, int | float):
            yield _Near(f"{names[str(column)]} · {_place(entry, step)}", step > before, float(score))


def _place(level: Mapping[str, Any], step: int) -> str:
    """A level by the name that the policy has for it."""
    if isinstance(level.get("width"), int | float):
        return f"width {level['width']:g}"
    return f"level {level['level']}" if isinstance(level.get("level"), int) else f"step {step + 1}"


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
    return join(element("p", intro), levels, around_the_choice(facts, chosen, drawn=folder.figures))


def _level(level: Mapping[str, Any]) -> list[str]:
    step, steps, classes, loss = (level.get(name) for name in ("step", "steps", "classes", "loss"))
    place = f"{step + 1} of {steps}" if isinstance(step, int) and isinstance(steps, int) else "?"
    lost = f"{100 * loss:.3g} %" if isinstance(loss, int | float) else "?"
    return [place, fact(classes), lost]
