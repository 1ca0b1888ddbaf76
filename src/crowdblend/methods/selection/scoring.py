"""The scores of all nodes from one count of the finest classes; the data are not read again.

Columns are settled one after the other, a branch for each level. A table on the way has some columns settled and the
others still finest:

    group   the combination of the settled columns' classes, numbered
    suffix  the combination of the other columns' finest classes, numbered

Suffixes are numbered by (suffix without its first column, first column), and finest classes so that every level is a
rising function of them. So a table sorted by (group, suffix) stays sorted while the next column is coarsened step by
step, and equal neighbours are added up; a level that tears classes of the one before begins at the finest again. Only
when a column is settled its class joins the group and the table is sorted anew. No number exceeds (classes)² times the
size of a column; where that is beyond 64 bits, pairs are sorted instead. Memory is one table per column.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from crowdblend.methods.recoding.code_rows import begins
from crowdblend.methods.selection.lattice import Lattice
from crowdblend.methods.selection.scores import Score

Numbers = NDArray[np.int64]


@dataclass(frozen=True)
class _Suffixes:
    """The suffixes that begin at one column: the rank in that column, and the suffix after it."""

    ranks: Numbers
    after: Numbers
    following: int  # how many suffixes begin at the next column


@dataclass(frozen=True)
class _Table:
    """Classes on the way, sorted by (group, suffix)."""

    groups: Numbers
    suffixes: Numbers
    sizes: Numbers
    kept: Numbers


def score_nodes(lattice: Lattice, codes: NDArray[np.int32], counts: Numbers, score: Score) -> Numbers:
    """The score of every node, in the lattice's order; row i of `codes` is a finest class of counts[i] people."""
    # The column with most levels last, because its levels cost no sorting; fixed columns first.
    order = sorted(range(len(lattice.ladders)), key=lambda column: lattice.shape[column])
    steps, parts, ranks = [], [], []
    merges = [lattice.ladders[column].merges for column in order]
    for column in order:
        ranked, levels, kept = lattice.ladders[column].ranks
        ranks.append(ranked[codes[:, column]])
        steps.append(levels)
        parts.append(kept)
    suffixes, finest = _suffixes(ranks, [len(levels[0]) for levels in steps])
    nothing = np.zeros(len(counts), np.int64)
    by_suffix = np.argsort(finest, kind="stable")
    start = _Table(nothing, finest[by_suffix], counts[by_suffix].astype(np.int64), nothing)
    scores = np.fromiter(_settle(start, 0, suffixes, steps, parts, merges, score), np.int64, lattice.size)
    shape = [lattice.shape[column] for column in order]
    return np.ascontiguousarray(scores.reshape(shape).transpose(np.argsort(order))).ravel()


def _suffixes(ranks: list[Numbers], sizes: list[int]) -> tuple[list[_Suffixes], Numbers]:
    """Return the suffixes from each column on, and the whole rows' suffixes."""
    suffixes: list[_Suffixes] = []
    suffix, known = np.zeros(len(ranks[0]), np.int64), 1
    for rank, size in zip(reversed(ranks), reversed(sizes), strict=True):
        keys, suffix_here = np.unique(suffix * size + rank, return_inverse=True)
        suffixes.append(_Suffixes(keys % size, keys // size, known))
        suffix, known = suffix_here.ravel(), len(keys)
    return suffixes[::-1], suffix


def _settle(
    table: _Table,
    depth: int,
    suffixes: list[_Suffixes],
    steps: list[tuple[Numbers, ...]],
    parts: list[tuple[Numbers, ...]],
    merges: list[tuple[bool, ...]],
    score: Score,
) -> Iterator[int]:
    """Yield the scores of all nodes below a table, the last column's levels fastest."""
    here = suffixes[depth]
    last = depth == len(suffixes) - 1
    groups, sizes, kept = table.groups, table.sizes, table.kept
    ranks, after = here.ranks[table.suffixes], here.after[table.suffixes]
    rest = groups if last else groups * here.following + after
    finest = groups, sizes, kept, ranks, after, rest
    for level, classes in enumerate(steps[depth]):
        if not merges[depth][level]:
            groups, sizes, kept, ranks, after, rest = finest
        labels = classes[ranks]
        if level or len(classes) > classes[-1] + 1:
            starts = np.flatnonzero(begins((rest, labels)))
            if len(starts) < len(rest):
                sizes, kept, labels, ranks = np.add.reduceat(sizes, starts), kept[starts], labels[starts], ranks[starts]
                rest, groups, after = rest[starts], groups[starts], after[starts]
        keeps = kept + parts[depth][level][labels] if score.weighted else kept
        if last:
            yield score.of(sizes, keeps)
            continue
        # The table by (group, suffix), with groups numbered from 0 anew so that numbers stay small.
        below = _Table(groups, after, sizes, keeps)
        if classes[-1]:
            joined = groups * (int(classes[-1]) + 1) + labels
            order = _order(joined, after, here.following)
            below = _Table(joined[order], after[order], sizes[order], keeps[order])
        numbered = np.zeros(len(below.groups), np.int64)
        np.cumsum(below.groups[1:] != below.groups[:-1], out=numbered[1:])
        yield from _settle(replace(below, groups=numbered), depth + 1, suffixes, steps, parts, merges, score)


def _order(groups: Numbers, after: Numbers, following: int) -> Numbers:
    """Return the order by (group, suffix) of rows sorted by suffix within each group."""
    if int(groups.max(initial=0)) >> 16 == 0:
        # A stable sort keeps the suffixes in order, and one of short numbers takes linear time.
        return np.argsort(groups.astype(np.uint16), kind="stable")
    if int(groups.max()) >= (1 << 63) // following - 1:
        return np.lexsort((after, groups))
    keys, bits = groups * following + after, len(groups).bit_length()
    if int(keys.max()) >> (63 - bits):
        return np.argsort(keys)
    # Sorting numbers is faster than sorting places.
    packed = keys << bits
    packed |= np.arange(len(keys))
    packed.sort()
    packed &= (1 << bits) - 1
    return packed
