"""Many releases in one run, for the audit's own power, where millions of them are needed.

A release is a chain of steps. Some draw: who is in the sample, noise, choices. The others follow from what was drawn:
adding up, rounding, writing the files, reading them again. A batch runs each step for many releases at once, by the
very function that a release calls:

    draws       get one array for all releases, in which every release has entries of its own
    the others  are functions of their input; an input that came before has the output that it had

Theorem. Let the entries of the arrays be drawn independently, and let every other step of a release depend on that
release's entries alone. Then the releases of a batch are independent, and each has the law of a single one.

Proof. Each is the same function of its own entries, as in a single release, and these are independent of those of all
others. To look up what a function returned before changes nothing. ∎

Coins: marks of different people are independent for an ideal keyed function, and no person is in two releases of a
batch. Noise: every number has its own bits of one stream. A policy is audited one release at a time, which assumes
nothing of this.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from typing import TypeVar

# Releases that are run as one, and people who are made up for them, at most.
RELEASES, PEOPLE = 500, 1 << 17
# What was seen is kept up to so many different outcomes; then it is forgotten, and seen again.
_MOST_KNOWN = 20_000

Seen = TypeVar("Seen")


class Known(dict[Hashable, Seen]):
    """What a function returned for each of its inputs so far."""

    def of_all(self, given: Sequence[Hashable], compute: Callable[[list[int]], Iterable[Seen]]) -> list[Seen]:
        """The outputs of several inputs; `compute` gets the places of those that did not come before."""
        if len(self) >= _MOST_KNOWN:
            self.clear()
        first = {one: place for place, one in reversed([*enumerate(given)]) if one not in self}
        if first:
            self.update(zip(first, compute([*first.values()]), strict=True))
        return [self[one] for one in given]

    def of(self, given: Hashable, compute: Callable[[], Seen]) -> Seen:
        """The output that this input has, or had."""
        if given not in self:
            if len(self) >= _MOST_KNOWN:
                self.clear()
            self[given] = compute()
        return self[given]


def releases_of(people: int) -> int:
    """How many releases about so many people are run as one."""
    return max(1, min(RELEASES, PEOPLE // people))


def endless(batch: Callable[[], Iterable[Seen]]) -> Iterator[Seen]:
    """One release after the other: when a batch is used up, the next one is run."""
    while True:
        yield from batch()
