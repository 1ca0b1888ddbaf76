"""A sample divided by stratum, each with a mechanism of its own, and all of it published together (rule strata.worst).

The strata are the labels of a published column, so nobody is in two of them, and the randomness of every stratum is its
own. The rows of all strata together are put into the order that the rows of one sample have.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from crowdblend.methods.mechanisms.histograms import NoisyHistogram, SuppressedHistogram
from crowdblend.methods.mechanisms.mechanism import Labels, PublishedClasses, SampledClasses, only_used
from crowdblend.methods.mechanisms.points import NoisyPoints, PublishedPoints
from crowdblend.trusted.randomness import ReleaseKey


def publish_classes(
    mechanisms: Sequence[SuppressedHistogram | NoisyHistogram],
    sample: SampledClasses,
    stratum: str | None,
    key: ReleaseKey,
) -> PublishedClasses:
    """The classes of every stratum by the mechanism of its label, in the order of the labels; without one, of all."""
    if stratum is None:
        (mechanism,) = mechanisms
        return mechanism.publish(sample, key)
    divided = zip(mechanisms, _strata(sample, stratum, key), strict=True)
    found = [mechanism.publish(part, own) for mechanism, (part, own) in divided]
    codes = np.concatenate([_codes(made.labels, made.codes, sample.labels) for made in found])
    counts = np.concatenate([made.counts for made in found])
    order = np.lexsort(codes.T[::-1])
    return PublishedClasses(sample.columns, sample.labels, codes[order], counts[order])


def publish_points(
    mechanisms: Sequence[NoisyPoints], sample: SampledClasses, stratum: str | None, key: ReleaseKey
) -> PublishedPoints:
    """The points of every stratum by the mechanism of its label, in an order that says nothing; without one, of all."""
    if stratum is None:
        (mechanism,) = mechanisms
        return mechanism.publish(sample, key)
    found = [
        mechanism.publish(part, own)
        for mechanism, (part, own) in zip(mechanisms, _strata(sample, stratum, key), strict=True)
    ]
    along = sample.labels[: len(found[0].labels)]
    codes = np.concatenate([_codes(made.labels, made.codes, along) for made in found])
    cells = tuple(np.concatenate(of_axis) for of_axis in zip(*(made.cells for made in found), strict=True))
    some = [made.blocks for made in found if made.blocks is not None]
    blocks = np.concatenate(some) if some else None
    order = np.lexsort((*cells[::-1], *([] if blocks is None else [blocks]), *codes.T[::-1]))
    labels, renumbered = only_used(along, codes[order])
    return PublishedPoints(
        labels,
        renumbered,
        None if blocks is None else blocks[order],
        tuple(of_axis[order] for of_axis in cells),
        np.concatenate([made.counts for made in found])[order],
    )


def _strata(sample: SampledClasses, stratum: str, key: ReleaseKey) -> Iterator[tuple[SampledClasses, ReleaseKey]]:
    """Yield the sample of every stratum, whose column has that one label, and the key of its randomness."""
    place = sample.columns.index(stratum)
    for code, label in enumerate(sample.labels[place]):
        part = sample.where(sample.codes[:, place] == code)
        codes = part.codes.copy()
        codes[:, place] = 0
        labels = (*sample.labels[:place], (label,), *sample.labels[place + 1 :])
        own = key.part(b"stratum %d" % code)
        yield SampledClasses(sample.columns, labels, codes, part.counts), own


def _codes(labels: Labels, codes: NDArray[np.int32], known_labels: Labels) -> NDArray[np.int32]:
    """Return the codes of published rows among all labels of the sample."""
    found = np.empty_like(codes)
    for place, (own, every) in enumerate(zip(labels, known_labels, strict=True)):
        at = {label: code for code, label in enumerate(every)}
        found[:, place] = np.array([at[label] for label in own], np.int32)[codes[:, place]] if own else 0
    return found
