"""Which recoding was chosen, what each column lost, and what lies around: from the certificate's facts alone."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from crowdblend.lazy import lazy
from crowdblend.reading.release import PublishedRelease
from crowdblend.reports.page import Block, Heading, Table, figure
from crowdblend.reports.text import distinct_labels, fact, label

if TYPE_CHECKING:
    from crowdblend.figures import recodings
else:
    recodings = lazy("crowdblend.figures.recodings")

HEADING = "Which recoding was chosen"
_SCORES = {
    "loss": "People whom a release is expected to publish, each counted by the share of the labels that is kept,",
    "published": "People whom a release is expected to publish",
    "discernibility": "People whom a release is expected to publish, counted less in large classes,",
    "entropy": "Bits that the published classes are expected to tell",
}
_DECIDED = {
    "population": "Everybody in the data took part in the choice; the published sample was drawn separately.",
    "split": "A part of the sample made the choice; nobody in that part is published.",
}
_LONGEST = 18


def chosen_recoding(folder: PublishedRelease, figures: bool = True) -> list[Block]:
    """Return what was chosen, what each column lost and what lies around; nothing where nothing was chosen."""
    facts = folder.fact("recoding", dict)
    chosen = facts.get("chosen")
    if not isinstance(chosen, Mapping) or not chosen:
        return []
    rows = [[label(str(name)), *_level(level)] for name, level in chosen.items() if isinstance(level, Mapping)]
    choices = facts.get("choices")
    steps = f", in {choices} steps with some columns each" if isinstance(choices, int) and choices > 1 else ""
    intro = (
        f"How coarse the labels are was chosen among {fact(facts.get('recodings'))} combinations of levels, at random, "
        f"favouring those that keep more{steps}. {_DECIDED.get(str(facts.get('using')), '')} The guarantee covers the "
        f"choice, which costs ε = {fact(facts.get('epsilon'))}."
    )
    caption = "The chosen levels: step 1 is the finest; lost is 0 % where all values are kept, 100 % where none is"
    levels = Table(["column", "step", "labels", "lost"], rows, caption, {1, 2, 3})
    return [intro, levels, *_around(facts, chosen, figures)]


def _level(level: Mapping[str, Any]) -> list[str]:
    step, steps, classes, loss = (level.get(name) for name in ("step", "steps", "classes", "loss"))
    place = f"{step + 1} of {steps}" if isinstance(step, int) and isinstance(steps, int) else "?"
    lost = f"{100 * loss:.3g} %" if isinstance(loss, int | float) else "?"
    return [place, fact(classes), lost]


def _around(facts: Mapping[str, Any], chosen: Mapping[str, Any], drawn: bool) -> list[Block]:
    """Return the recodings one level away with their scores; nothing where the policy spends no budget on them."""
    around = facts.get("around")
    if not isinstance(around, Mapping) or not isinstance(own := around.get("score"), int | float):
        return []
    near = list(_near(around, chosen))
    if not near:
        return []
    caption = (
        f"{_SCORES.get(str(facts.get('score')), 'Scores')} with the chosen recoding and with those one level away"
        f"{'; darker is more' if drawn else ''}. "
        f"Every number carries noise, {fact(around.get('mean_error'))} on average."
    )
    cost = (
        "Only these scores are published, with noise added. The guarantee covers them; they cost "
        f"ε = {fact(facts.get('show_epsilon'))}."
    )
    finer, coarser = ([(name, score) for name, side, score in near if side == which] for which in ("finer", "coarser"))
    blocks: list[Block] = [Heading("The recodings around it"), cost]
    if drawn:
        headings = ("one column finer", "", "one column coarser")
        picture = recodings.neighbours(("chosen", own), finer, coarser, headings=headings)
        blocks.append(figure(lambda _: picture, caption, scrolls=True))
    rows = [["chosen", "", f"{own:,.0f}"], *([name, side, f"{score:,.0f}"] for name, side, score in near)]
    return [*blocks, Table(["recoding", "than the chosen one", "score"], rows, caption, {2}, drawn)]


def _near(around: Mapping[str, Any], chosen: Mapping[str, Any]) -> Iterator[tuple[str, str, float]]:
    """Yield the entries that have a column, a step and a score: name, side and score."""
    names = distinct_labels((str(name) for name in chosen), _LONGEST)
    entries = around.get("near")
    for entry in entries if isinstance(entries, list) else ():
        if not isinstance(entry, Mapping):
            continue
        column, step, score = (entry.get(name) for name in ("column", "step", "score"))
        level = chosen.get(column) if isinstance(column, str) else None
        before = level.get("step") if isinstance(level, Mapping) else None
        if isinstance(before, int) and isinstance(step, int) and isinstance(score, int | float):
            side = "coarser" if step > before else "finer"
            yield f"{names[str(column)]} · {_place(entry, step)}", side, float(score)


def _place(level: Mapping[str, Any], step: int) -> str:
    """Return a level by the name that the policy has for it."""
    if isinstance(level.get("width"), int | float):
        return f"width {level['width']:g}"
    return f"level {level['level']}" if isinstance(level.get("level"), int) else f"step {step + 1}"
