"""The chosen recoding and the loss of each column, from the facts alone."""

from __future__ import annotations

from crowdblend.releases.crowd_facts import RecodingFacts
from crowdblend.reports.page import Block, Table
from crowdblend.reports.text import fact, label

HEADING = "Which recoding was chosen"
_EVERYBODY = "Everybody in the data took part in the choice; the published sample was drawn separately."
_SPLIT = "A part of the sample made the choice; nobody in that part is published."


def chosen_recoding(facts: RecodingFacts | None) -> list[Block]:
    """Return what was chosen and what each column lost; nothing where nothing was chosen."""
    if facts is None or not facts.chosen:
        return []
    rows = [
        [label(name), f"{level.step + 1} of {level.steps}", fact(level.classes), f"{100 * level.loss:.3g} %"]
        for name, level in facts.chosen.items()
    ]
    steps = f", in {facts.choice.choices} steps with some columns each" if facts.choice.choices > 1 else ""
    intro = (
        f"How coarse the labels are was chosen among {fact(facts.recodings)} combinations of levels, at random, "
        f"favouring those that keep more{steps}. {_EVERYBODY if facts.share is None else _SPLIT} The guarantee covers "
        f"the choice, which costs ε = {fact(facts.choice.epsilon)}."
    )
    caption = "The chosen levels: step 1 is the finest; lost is 0 % where all values are kept, 100 % where none is"
    levels = Table(["column", "step", "labels", "lost"], rows, caption, {1, 2, 3})
    return [intro, levels]
