"""Read the data for a release whose recoding is chosen: who decides, and who is published.

    population   everybody decides; then a sample is drawn with a coin that the choice has not seen
    split        a second coin sends each sampled person to the part that decides or to the part that is published

There is no way to hand the published sample to the choice: what decides is read here, on its own, and forgotten.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from crowdblend.engines.draw import Coin, Everybody, Part
from crowdblend.engines.engine import ClassCounts, Source
from crowdblend.engines.sampling import thinned
from crowdblend.kinds.outcome import Chosen
from crowdblend.mechanisms import SampledClasses
from crowdblend.policies.offered import lattice_of
from crowdblend.randomness import ReleaseKey
from crowdblend.selection import Lattice, Node, noisy_scores_around, rolled_up

if TYPE_CHECKING:
    from crowdblend.kinds.table import Promise

_LABEL = b"choosing the recoding"
_SHOWING = b"showing scores around the chosen recoding"


@dataclass(frozen=True)
class Reading:
    """Counts of those who decide, and of those of whom classes are published."""

    deciding: SampledClasses
    released: SampledClasses
    facts: dict[str, Any]
    same_people: int | None


def read(promised: Promise, source: Source, key: ReleaseKey) -> Reading:
    """Read who decides and who is published, in two passes over the data.

    Where rows have no person to flip a coin for, a split reads them once and divides the counts: in a second pass over
    data that changed meanwhile, the same row could fall into the other part as well.
    """
    policy = promised.policy
    assert policy.recoding is not None
    share = policy.recoding.share
    coin = key.coin()
    row_key = key.coin(b"rows of a person")

    def everybody(part: Part | None = None) -> ClassCounts:
        return source.class_counts(policy.columns, Everybody(part, row_key))

    def drawn(part: Part | None = None) -> ClassCounts:
        if policy.sampling.already_drawn:
            return everybody(part)
        assert promised.draw_rate is not None
        return source.class_counts(policy.columns, Coin(coin, promised.draw_rate, part, row_key))

    if share is None:
        deciding, sample = everybody().classes, drawn()
        return Reading(deciding, sample.classes, _facts(sample, sample.classes, deciding), sample.same_people)
    other = key.coin(b"choosing part")
    choosing, rest = Part(other, share, choosing=True), Part(other, share, choosing=False)
    if policy.data.person is None:
        sample = drawn()
        deciding, released = (thinned(policy.columns, sample.classes, Everybody(part)) for part in (choosing, rest))
    else:
        deciding, sample = drawn(choosing).classes, drawn(rest)
        released = sample.classes
    return Reading(deciding, released, _facts(sample, released, deciding), sample.same_people)


def _facts(sample: ClassCounts, released: SampledClasses, deciding: SampledClasses) -> dict[str, Any]:
    seen = {"people_sampled": released.people, "classes": len(released.counts), "people_deciding": deciding.people}
    return {**sample.facts, **seen}


def decide(
    promised: Promise, deciding: SampledClasses, key: ReleaseKey, told: Callable[[str, int], None] | None
) -> Chosen:
    """The level of every column, chosen by the exponential mechanism, and what is shown around it."""
    choosing = promised.policy.recoding
    assert choosing is not None
    lattice = lattice_of(promised.policy.columns, deciding.labels)
    if told:
        told("choosing", 0)
    search = choosing.search_of(lattice)
    node = search.run(
        lattice,
        deciding.codes,
        deciding.counts,
        promised.score,
        epsilon=choosing.step_epsilon(search),
        source=key.source(_LABEL),
    )
    return Chosen(node, _shown(promised, lattice, deciding, node, key))


def _shown(
    promised: Promise, lattice: Lattice, deciding: SampledClasses, node: Node, key: ReleaseKey
) -> dict[Node, int] | None:
    """Noisy scores around the chosen node, by those who decided; nothing where no budget was given."""
    choosing = promised.policy.recoding
    if choosing is None or choosing.show_epsilon is None:
        return None
    return noisy_scores_around(
        lattice,
        node,
        deciding.codes,
        deciding.counts,
        promised.score,
        epsilon=choosing.show_epsilon,
        source=key.source(_SHOWING),
    )


def recoded(promised: Promise, released: SampledClasses, node: Node) -> SampledClasses:
    """The released classes at the chosen levels."""
    columns = promised.policy.columns
    lattice = lattice_of(columns, released.labels)
    sizes = [int(ladder.maps[level].max()) + 1 for ladder, level in zip(lattice.ladders, node, strict=True)]
    codes, counts = rolled_up(lattice.recoded(released.codes, node), released.counts, sizes)
    labels = [
        column.recodings[level].labels or seen
        for column, level, seen in zip(columns, node, released.labels, strict=True)
    ]
    return SampledClasses(released.columns, tuple(labels), codes, counts)
