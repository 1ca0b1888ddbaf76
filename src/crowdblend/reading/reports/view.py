"""A release as its kind shows it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from crowdblend.kinds.shared.crowd_facts import RecodingFacts
from crowdblend.policies.registry import part
from crowdblend.reading.release import PublishedRelease
from crowdblend.reading.reports.blocks import Block, Figure, Table, figures
from crowdblend.reading.reports.text import label
from crowdblend.trusted.guarantees.wording import fact

CHOSEN_RECODING = "Which recoding was chosen"
_EVERYBODY = "Everybody in the data took part in the choice; the published sample was drawn separately."
_SPLIT = "A part of the sample made the choice; nobody in that part is published."


@dataclass(frozen=True)
class Part:
    """A section of the page; one that continues another is not listed in the contents."""

    name: str
    heading: str
    blocks: Sequence[Block]
    listed: bool = True


@dataclass(frozen=True)
class View:
    """A release as its kind shows it: `what` completes "This release is …", `keys` are its first numbers."""

    heading: str
    what: str
    keys: Sequence[tuple[str, str]]
    reading: Sequence[str]
    parts: Sequence[Part]

    @property
    def figure(self) -> Figure | None:
        """The first figure; None where there is none."""
        return next(figures([block for part in self.parts for block in part.blocks]), None)


def view_of(folder: PublishedRelease, figures: bool) -> View:
    """Return the view of a release by its kind: what `view(folder, figures)` in the kind's module `view` returns."""
    view: View = part(folder.kind, "view").view(folder, figures)
    return view


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
