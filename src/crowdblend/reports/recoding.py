"""The chosen recoding, the loss of each column, and its neighbours, from the facts alone."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from crowdblend.lazy import lazy_imports
from crowdblend.releases.crowd_facts import Around, Level, NearRecoding, RecodingFacts
from crowdblend.reports.page import Block, Heading, Table, figure
from crowdblend.reports.text import distinct_labels, fact, label

with lazy_imports():
    from crowdblend.figures import recodings

HEADING = "Which recoding was chosen"
_SCORES = {
    "loss": "People whom a release is expected to publish, each counted by the share of the labels that is kept,",
    "published": "People whom a release is expected to publish",
}
_EVERYBODY = "Everybody in the data took part in the choice; the published sample was drawn separately."
_SPLIT = "A part of the sample made the choice; nobody in that part is published."
_LONGEST = 18


def chosen_recoding(facts: RecodingFacts | None, figures: bool = True) -> list[Block]:
    """Return what was chosen, what each column lost and what lies around; nothing where nothing was chosen."""
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
    return [intro, levels, *_around(facts, figures)]


def _around(facts: RecodingFacts, drawn: bool) -> list[Block]:
    """Return the recodings one level away with their scores; nothing where the policy spends no budget on them."""
    around = facts.around
    near = [] if around is None else list(_near(around, facts.chosen))
    if around is None or not near:
        return []
    own = around.score
    caption = (
        f"{_SCORES.get(facts.score, 'Scores')} with the chosen recoding and with those one level away"
        f"{'; darker is more' if drawn else ''}. "
        f"Every number carries noise, {fact(around.mean_error)} on average."
    )
    cost = (
        "Only these scores are published, with noise added. The guarantee covers them; they cost "
        f"ε = {fact(facts.choice.show_epsilon)}."
    )
    finer, coarser = ([(name, score) for name, side, score in near if side == which] for which in ("finer", "coarser"))
    blocks: list[Block] = [Heading("The recodings around it"), cost]
    if drawn:
        headings = ("one column finer", "", "one column coarser")
        picture = recodings.neighbours(("chosen", own), finer, coarser, headings=headings)
        blocks.append(figure(lambda _: picture, caption, scrolls=True))
    rows = [["chosen", "", f"{own:,.0f}"], *([name, side, f"{score:,.0f}"] for name, side, score in near)]
    return [*blocks, Table(["recoding", "than the chosen one", "score"], rows, caption, {2}, drawn)]


def _near(around: Around, levels: Mapping[str, Level]) -> Iterator[tuple[str, str, float]]:
    """Yield name, side and score of every recoding one level away."""
    names = distinct_labels(levels, _LONGEST)
    for entry in around.near:
        if entry.column in levels:
            side = "coarser" if entry.step > levels[entry.column].step else "finer"
            yield f"{names[entry.column]} · {_place(entry)}", side, entry.score


def _place(level: NearRecoding) -> str:
    """Return a level by the name that the policy has for it."""
    if level.width is not None:
        return f"width {level.width:g}"
    return f"step {level.step + 1}" if level.level is None else f"level {level.level}"
