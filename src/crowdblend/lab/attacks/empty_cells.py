"""Noise on the cells where someone is: then a cell that is missing says that it is empty."""

from __future__ import annotations

import numpy as np

from crowdblend.lab.attacks.ours import laplace_reaches, our_table, repeat_sizes
from crowdblend.lab.attacks.trial import Attack, Bound, Trial, exactly, in_runs, unsafe
from crowdblend.trusted.randomness import SystemSource, discrete_laplace, thin

RATE = 0.25
SHOW_FROM = 1


def trials(runs: int) -> tuple[Trial, ...]:
    """Return noise on cells with people, and on all, of one person in a cell; values of at least 1 are shown."""
    ours = our_table(RATE, below_k="noise")
    loss, guarantee = ours.plan.noise_epsilon, ours.bound()
    assert loss is not None
    occupied, empty = (laplace_reaches(SHOW_FROM - people, loss) for people in (1, 0))

    def occupied_only(person: bool) -> int:
        """Cells without a sampled person are not in the table at all."""
        sampled = thin(np.full(runs, int(person)), RATE, SystemSource())
        noisy = sampled + discrete_laplace(runs, loss, SystemSource())
        return int(((sampled > 0) & (noisy >= SHOW_FROM)).sum())

    return (
        unsafe(
            "noise on the cells with people only",
            exactly(RATE * occupied, 0.0),
            in_runs(runs, occupied_only),
            Bound(guarantee.epsilon, 0.0, "noise on every count that there is"),
        ),
        Trial(
            f"ours, noise below k = {ours.k}, of a sample at {RATE:g}",
            True,
            guarantee,
            exactly(RATE * occupied + (1 - RATE) * empty, empty),
            in_runs(runs, lambda person: int((ours.publish(repeat_sizes(runs, int(person))) > 0).sum())),
        ),
    )


ATTACK = Attack(
    name="empty-cells",
    title="The cell that appears",
    source="the first trap of noisy histograms, docs/tables.md",
    story="A table by village, age and disease has far more cells than people. To save space only the cells that "
    "occur get noise and are published. The noise hides how many people are in a cell, and the list of cells says "
    "that somebody is. A cell for your village, your age and a rare disease appears in the publication only if you "
    "are in it; no amount of noise on its count takes that back.",
    event="the cell appears in the published table",
    question="How often does the cell appear?",
    worlds=("somebody is in the cell", "nobody is"),
    trials=trials,
    guarantee=lambda: our_table(RATE, below_k="noise").bound(),
    remark="A cell of the unsafe table is a person, for certain. Ours noises the empty cells as well, so a cell that "
    "appears raises the odds that somebody is there by a factor of at most e^ε, and some cells are shown in "
    "which nobody is: that is the price. Its noise is as small as the guarantee allows, which is why the cell "
    "appears just as often as it may.",
)
