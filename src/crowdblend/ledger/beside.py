"""What may be promised next to what was promised before."""

from __future__ import annotations

from collections.abc import Iterable

from crowdblend.calculus.rules.composition import why_not_from_one_sample
from crowdblend.errors import DoesNotCompose
from crowdblend.ledger.entry import Entry, Promise


def refuse_what_does_not_compose(new: Promise, entries: Iterable[Entry]) -> None:
    """Raise DoesNotCompose when an earlier promise that was spent and the new one may not stand together."""
    spent = [entry for entry in entries if entry.counts]
    for entry in spent:
        if same_sample(new, entry.promise):
            reason = why_not_from_one_sample(entry.promise.guarantees, new.guarantees)
            raise DoesNotCompose(f"release {entry.id} has already used this sample. {reason.words()}")
    for entry in spent:
        if entry.promise.population == new.population and not (entry.promise.replaced and new.replaced):
            raise DoesNotCompose(
                f"release {entry.id} and this one are about the same people and must both promise differential privacy "
                "for one person, since only that adds up (composition.differential). Sample before releasing."
            )


def same_sample(one: Promise, other: Promise) -> bool:
    """Whether two releases see the same sample, under whichever policy or name of the population.

    A table that was released as an already drawn sample is also seen by a release that draws from it.
    """
    drawn_from = (not one.fresh and one.sample == other.population) or (
        not other.fresh and other.sample == one.population
    )
    one_table = one.source == other.source != "unknown" and one.fresh != other.fresh
    return one.sample == other.sample or drawn_from or one_table
