"""What may be released next to what was released before."""

from __future__ import annotations

from collections.abc import Iterable

from crowdblend.calculus.rules.composition import why_not_from_one_sample
from crowdblend.errors import DoesNotCompose
from crowdblend.ledger.entry import Entry, Spending


def refuse_what_does_not_compose(new: Spending, entries: Iterable[Entry]) -> None:
    """Raise DoesNotCompose when an earlier entry that was spent and the new one may not stand together."""
    spent = [entry for entry in entries if entry.counts]
    for entry in spent:
        if same_sample(new, entry.spending):
            reason = why_not_from_one_sample(entry.spending.guarantees, new.guarantees)
            raise DoesNotCompose(f"release {entry.id} has already used this sample. {reason.words()}")
    for entry in spent:
        if entry.spending.population == new.population and not (entry.spending.replaced and new.replaced):
            raise DoesNotCompose(
                f"release {entry.id} and this one are about the same people, and only differential privacy for one "
                "person adds up (composition.differential): one of them has none. Sample before releasing."
            )


def same_sample(one: Spending, other: Spending) -> bool:
    """Whether two releases see the same sample, under whichever policy or name of the population.

    A table that was released as an already drawn sample is also seen by a release that draws from it.
    """
    drawn_from = (not one.fresh and one.sample == other.population) or (
        not other.fresh and other.sample == one.population
    )
    one_table = one.source == other.source != "unknown" and one.fresh != other.fresh
    return one.sample == other.sample or drawn_from or one_table
