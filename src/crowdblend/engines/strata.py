"""The draw of a stratified sample: one uniform mark for each person, compared with the rate of the person's stratum.

Theorem. For an ideal keyed function every person is kept with probability exactly the rate of the person's stratum,
independently of the others.

Proof. Marks are uniform and independent between people, and a person's stratum does not depend on marks. ∎

Where rows are people, the counts of every class are thinned at the rate of its stratum, which is the same draw
(engines/sampling.py).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from crowdblend.engines.class_counter import PackedCodes
from crowdblend.engines.draw import StratifiedCoin
from crowdblend.engines.packing import Packing, only_occurring
from crowdblend.mechanisms.classes import SampledClasses
from crowdblend.policies.columns import Column
from crowdblend.randomness import below_rate, thin


def drawn_codes(packing: Packing, codes: PackedCodes, marks: NDArray[np.uint64], draw: StratifiedCoin) -> PackedCodes:
    """The packed codes of those who are drawn; `marks` are the two words of everybody's mark, in the same order."""
    position = [column.name for column in packing.columns].index(draw.stratum)
    strata = packing.digits(codes, position)
    drawn = np.zeros(len(strata), dtype=np.bool_)
    for rate in sorted(set(draw.rates)):
        here = np.flatnonzero(np.isin(strata, _codes_of(rate, draw)))
        drawn[here] = below_rate(marks[here], rate)
    return tuple(code[drawn] for code in codes)


def thinned_by_stratum(columns: Sequence[Column], classes: SampledClasses, draw: StratifiedCoin) -> SampledClasses:
    """The classes after a binomial draw from each at the rate of its stratum, in the order of the codes."""
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
