"""Subjects of an audit: a black box with a guarantee, neighbouring populations, an observer."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from itertools import pairwise
from typing import Any, Protocol

from crowdblend.trusted.guarantees.privacy import Differential

# By view, how often each outcome was seen.
Observed = Mapping[str, Mapping[str, int]]

_LONGEST = 80
_ENTRIES = 8
_DOUBLE = 53


def views_of(output: Any) -> dict[str, str]:
    """Several looks at numbers, tuples of numbers and tables; whatever it is, the whole of it is one of them.

    >>> views_of((3, 5))
    {'all of it': '(3, 5)', 'sum': '8', 'steps': '2', 'entry 0': '3', 'entry 1': '5'}
    """
    views = {"all of it": brief(output)}
    if isinstance(output, float):
        views |= _of_double(output)
    elif isinstance(output, Mapping):
        views |= {f"cell {name}": brief(value) for name, value in list(output.items())[:_ENTRIES]}
    elif isinstance(output, tuple | list) and output and all(isinstance(entry, int | float) for entry in output):
        views["sum"] = brief(sum(output))
        views["steps"] = ", ".join(brief(after - before) for before, after in pairwise(output[: _ENTRIES + 1]))
        views |= {f"entry {place}": brief(entry) for place, entry in enumerate(output[:_ENTRIES])}
    return views


def brief(value: Any) -> str:
    """Return a value as text, or as the hash of a long one."""
    text = value.hex() if isinstance(value, bytes) else str(value)
    return text if len(text) <= _LONGEST else blake2b(text.encode(), digest_size=12).hexdigest()


def _of_double(value: float) -> dict[str, str]:
    """Return the exponent of a double and the number of bits that its mantissa needs.

    Noise in floating point lands on grids that depend on the number it was added to, and this view sees grids.
    """
    if not math.isfinite(value):
        return {}
    mantissa, exponent = math.frexp(value)
    whole = abs(int(mantissa * 2**_DOUBLE))
    needed = _DOUBLE - ((whole & -whole).bit_length() - 1) if whole else 0
    return {"place": str(math.floor(value * 4)), "grid": f"{math.floor(value * 4)}, 2^{exponent - needed}"}


class Pair(Protocol):
    """Two neighbouring populations, and why they are hard."""

    @property
    def name(self) -> str:
        """The name of the pair in a report."""

    @property
    def more(self) -> Any:
        """The population with the person."""

    @property
    def fewer(self) -> Any:
        """The population without the person, or with another one instead."""


class Subject(Protocol):
    """A mechanism to be audited. It is sent to other processes, so it must be possible to pickle it.

    A subject may also have a number `together` of runs that take as long as one.
    """

    @property
    def name(self) -> str:
        """The name of the subject in the verdict."""

    @property
    def guarantee(self) -> Differential:
        """The guarantee that the subject claims."""

    def pairs(self) -> Sequence[Pair]:
        """Neighbouring populations under the relation of the guarantee."""

    def observe(self, population: Any, runs: int) -> Observed:
        """Run `runs` times with fresh randomness, and count the outcomes of one or more views."""


@dataclass(frozen=True)
class Neighbours:
    """A pair of populations."""

    name: str
    more: Any
    fewer: Any


@dataclass(frozen=True)
class BlackBox:
    """A function from a population to an output, with fresh randomness in every call."""

    name: str
    guarantee: Differential
    mechanism: Callable[[Any], Any]
    neighbours: tuple[Neighbours, ...]
    look: Callable[[Any], Mapping[str, str]] = views_of

    def pairs(self) -> Sequence[Neighbours]:
        """Return the pairs that were given."""
        return self.neighbours

    def observe(self, population: Any, runs: int) -> Observed:
        """Call the function, and look at what it returns."""
        seen: dict[str, Counter[str]] = {}
        for _ in range(runs):
            for view, outcome in self.look(self.mechanism(population)).items():
                seen.setdefault(view, Counter())[outcome] += 1
        return seen


# Beyond it the sizes do not change any more, and its exponential is still a double.
_LARGEST = 300.0


def hard_sizes(k: int, rate: float, epsilon: float) -> dict[str, int]:
    """Return class sizes worth auditing, the audited person included, each with its reason.

    Sampling and suppression lose most at the n where the divergence is attained: with X ~ Bin(n−1, rate) of the
    others, one more person shows best at the first n with s·rate·(n−k+1) ≥ (k−1)(1−rate), s = 1 + (e^ε−1)/rate, and
    one fewer at the first n with rate·(n−k+1) ≥ s'·(k−1)(1−rate), s' = e^ε·rate/(1 − e^ε(1−rate)), where positive.

    >>> hard_sizes(5, 0.5, 0.3)
    {'alone': 1, 'a crowd but one': 4, 'just a crowd': 5, 'a crowd and one': 6, 'one more shows best': 7, \
'expected at k': 10, 'one fewer shows best': 13}
    """
    growth = math.exp(min(epsilon, _LARGEST))
    odds = (k - 1) * (1 - rate) / rate
    sizes = {
        "alone": 1,
        "a crowd but one": k - 1,
        "just a crowd": k,
        "a crowd and one": k + 1,
        "one more shows best": k - 1 + math.ceil(odds / (1 + (growth - 1) / rate)),
        "expected at k": math.ceil(k / rate),
    }
    kept = 1 - growth * (1 - rate)
    if kept > 1e-3:
        sizes["one fewer shows best"] = k - 1 + math.ceil(odds * growth * rate / kept)
    reasons: dict[int, str] = {}
    for reason, size in sizes.items():
        if size >= 1:
            reasons.setdefault(size, reason)
    return {reason: size for size, reason in sorted(reasons.items())}
