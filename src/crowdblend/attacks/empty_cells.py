"""Noise on the cells where somebody is: then a cell that is missing says that it is empty."""

from __future__ import annotations

import numpy as np

from crowdblend.attacks.attack import Attack, Finding
from crowdblend.attacks.chances import computed
from crowdblend.attacks.figure import chances_chart
from crowdblend.attacks.laws import laplace_reaches
from crowdblend.attacks.ours import our_table, repeated
from crowdblend.attacks.trial import Bound, Pair, Trial, in_runs
from crowdblend.randomness import SystemSource, discrete_laplace, thin

RATE = 0.25
SHOW_FROM = 1
WORLDS = ("somebody is in the cell", "nobody is")


def launch(runs: int) -> Finding:
    """One person in a cell where nobody else is; a cell is shown when its value is at least 1."""
    ours = our_table(RATE, below_k="noise")
    loss = ours.plan.noise_epsilon
    assert loss is not None
    guarantee = ours.bound()
    trials = (
        Trial(
            "noise on the cells with people only",
            False,
            Bound(guarantee.epsilon, 0.0, "noise on every count that there is"),
            Pair(computed(RATE * laplace_reaches(SHOW_FROM - 1, loss)), computed(0.0)),
            in_runs(runs, lambda person: _occupied_only(person, loss, runs)),
        ),
        Trial(
            f"ours, noise below k = {ours.k}, of a sample at {RATE:g}",
            True,
            guarantee,
            Pair(computed(_appears(RATE, loss)), computed(laplace_reaches(SHOW_FROM, loss))),
            in_runs(runs, lambda person: int((ours.publish(repeated(runs, int(person))) > 0).sum())),
        ),
    )
    remark = (
        "A cell of the unsafe table is a person, for certain. Ours noises the empty cells as well, so a cell that "
        "appears raises the odds that somebody is there by a factor of at most e^ε, and some cells are shown in "
        "which nobody is: that is the price. Its noise is as small as the guarantee allows, which is why the cell "
        "appears just as often as it may."
    )
    chart = chances_chart(trials, guarantee, worlds=WORLDS, title="How often does the cell appear?")
    return Finding(trials, guarantee, chart, remark)


def _appears(rate: float, loss: float) -> float:
    """The chance that a cell with one person is shown, when every cell has noise."""
    return rate * laplace_reaches(SHOW_FROM - 1, loss) + (1 - rate) * laplace_reaches(SHOW_FROM, loss)


def _occupied_only(person: bool, loss: float, runs: int) -> int:
    """The target: cells without a sampled person are not in the table at all."""
    sampled = thin(np.full(runs, int(person)), RATE, SystemSource())
    noisy = sampled + discrete_laplace(runs, loss, SystemSource())
    return int(((sampled > 0) & (noisy >= SHOW_FROM)).sum())


ATTACK = Attack(
    name="empty-cells",
    title="The cell that appears",
    source="the first trap of noisy histograms, docs/release.md",
    story="A table by village, age and disease has far more cells than people. To save space only the cells that "
    "occur get noise and are published. The noise hides how many people are in a cell, and the list of cells says "
    "that somebody is. A cell for your village, your age and a rare disease appears in the publication only if you "
    "are in it; no amount of noise on its count takes that back.",
    event="the cell appears in the published table",
    worlds=WORLDS,
    launch=launch,
)
