"""Membership of a draw, for every engine: the rows, or the people of each class.

Where every row is a person there is nothing to flip a coin for. All rows are counted and every class is thinned.

Theorem. Keeping each of n_c people of class c independently with probability `rate` and counting what is left gives
independent Binomial(n_c, rate) counts. So thinning the counts is the same draw. ∎

Theorem. The k people with the smallest keyed marks are a uniformly random set of k people, for an ideal keyed function.

Proof. Marks are uniform and independent between people, so every order of them is equally likely. ∎

Theorem. For an ideal keyed function, keeping each person whose mark lies below the rate of their stratum keeps them
with probability exactly that rate, independently of the others.

Proof. Marks are uniform and independent between people, and a person's stratum does not depend on marks. ∎
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from crowdblend.methods.designs.draw import Coin, Everybody, Part, StratifiedCoin
from crowdblend.methods.mechanisms.mechanism import SampledClasses
from crowdblend.policies.columns import Column
from crowdblend.policies.source import DataSource
from crowdblend.sources.engines.class_counter import PackedCodes
from crowdblend.sources.engines.packing import Packing, only_occurring
from crowdblend.sources.engines.persons import Mask, Persons, RandomRowPerPerson
from crowdblend.trusted.machine.packages import pyarrow as pa
from crowdblend.trusted.randomness import DrawKey, below_rate, distinct, thin

Marks = NDArray[np.uint64]


def in_part(part: Part, persons: Persons) -> Mask:
    """Return the rows in this part."""
    below = persons.drawn(part.key.persons, part.stop)
    return below & ~persons.drawn(part.key.persons, part.start) if part.start else below


def thin_classes(
    columns: Sequence[Column], classes: SampledClasses, draw: Everybody | Coin | StratifiedCoin
) -> SampledClasses:
    """Return the classes after a binomial draw from each, in the order of the codes."""
    if isinstance(draw, StratifiedCoin):
        return _thinned_by_stratum(columns, classes, draw)
    counts = classes.counts
    if isinstance(draw, Everybody) and draw.part is None:
        return classes
    if isinstance(draw, Coin):
        counts = thin(counts, draw.rate, draw.key.thinning())
    if draw.part is not None:
        counts = _part_of(draw.part, counts)
    left = SampledClasses(classes.columns, classes.labels, classes.codes, counts).where(counts > 0)
    return only_occurring(left, [not column.recoding.closed for column in columns])


def _part_of(part: Part, counts: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the number of people of each class in this part, the first or the last of two."""
    if not part.start:
        return thin(counts, part.stop, part.key.part())
    assert part.stop == 1, "counts are divided into two parts"
    return counts - thin(counts, part.start, part.key.part())


def smallest_marks(marked_batches: Iterable[tuple[pa.RecordBatch, Marks]], samples: int) -> Iterator[pa.Table]:
    """Yield the rows with the smallest marks, in no particular order; fewer if there are not as many.

    The engine has already dropped everybody whose mark is too large to be among them.
    """
    batches, marks = [], [np.empty((0, 2), dtype=np.uint64)]
    for batch, of_batch in marked_batches:
        batches.append(batch)
        marks.append(of_batch)
    if batches:
        yield pa.Table.from_batches(batches).filter(pa.array(smallest(np.concatenate(marks), samples)))


def smallest(marks: Marks, samples: int) -> NDArray[np.bool_]:
    """Return a mask of the smallest marks; the low word decides where high words are equal."""
    if len(marks) <= samples:
        return np.ones(len(marks), dtype=np.bool_)
    high = np.ascontiguousarray(marks[:, 1])
    last = np.partition(high, samples - 1)[samples - 1]
    keep: NDArray[np.bool_] = high < last
    equal = np.flatnonzero(high == last)
    keep[equal[np.argsort(marks[equal, 0])[: samples - np.count_nonzero(keep)]]] = True
    return keep


def random_places(samples: int, population: int, key: DrawKey) -> NDArray[np.int64]:
    """Return different places, in order; where rows have no names, who is drawn depends on the order of the rows."""
    return distinct(samples, population, key.places())


def kept_rows(
    each: RandomRowPerPerson, packing: Packing, data: DataSource, draw: StratifiedCoin | None
) -> tuple[PackedCodes, int, int]:
    """The packed codes of the rows that are kept of everybody, how many people have them, how many rows were dropped.

    By stratum, a coin decides about the rows that were kept.
    """
    if data.unit.several:
        crowds = packing.crowds if data.unit.counts_people else None
        codes, marks, people = each.several(packing.content, data.unit.most, crowds)
        kept = codes if draw is None else drawn_codes(packing, codes, marks, draw)
        return kept, people, each.rows - len(codes[0])
    codes, marks = each.choose_rows(packing.content)
    return codes if draw is None else drawn_codes(packing, codes, marks, draw), len(marks), each.rows - len(marks)


def drawn_codes(packing: Packing, codes: PackedCodes, marks: NDArray[np.uint64], draw: StratifiedCoin) -> PackedCodes:
    """The packed codes of those who are drawn; `marks` are the two words of everybody's mark, in the same order."""
    position = [column.name for column in packing.columns].index(draw.stratum)
    strata = packing.digits(codes, position)
    drawn = np.zeros(len(strata), dtype=np.bool_)
    for rate in sorted(set(draw.rates)):
        here = np.flatnonzero(np.isin(strata, _codes_of(rate, draw)))
        drawn[here] = _in_stratum(marks[here], rate, draw.part)
    return tuple(code[drawn] for code in codes)


def _in_stratum(marks: Marks, rate: float, part: Part | None) -> Mask:
    """Whose mark is below the rate; of a part, between two shares of it."""
    if part is None:
        return below_rate(marks, rate)
    start, stop = (share * Fraction(rate) * 2**128 // 1 for share in (part.start, part.stop))
    return below_rate(marks, Fraction(stop, 2**128)) & ~below_rate(marks, Fraction(start, 2**128))


def _thinned_by_stratum(columns: Sequence[Column], classes: SampledClasses, draw: StratifiedCoin) -> SampledClasses:
    """Return the classes after a binomial draw from each at the rate of its stratum, in the order of the codes."""
    assert draw.part is None, "without ids nobody is sent to one part and to no other"
    strata = classes.codes[:, classes.columns.index(draw.stratum)]
    counts, source = np.zeros_like(classes.counts), draw.key.thinning()
    # One stream for all strata: every one begins where the last one ended.
    for rate in sorted(set(draw.rates)):
        here = np.flatnonzero(np.isin(strata, _codes_of(rate, draw)))
        counts[here] = thin(classes.counts[here], rate, source)
    left = SampledClasses(classes.columns, classes.labels, classes.codes, counts).where(counts > 0)
    return only_occurring(left, [not column.recoding.closed for column in columns])


def _codes_of(rate: float, draw: StratifiedCoin) -> list[int]:
    return [code for code, own in enumerate(draw.rates) if own == rate]
