"""Every stratum is published by its own mechanism, with randomness of its own, and nothing else of it is."""

from __future__ import annotations

import numpy as np

from crowdblend.methods.mechanisms import NoisyHistogram, NoisyPoints, SampledClasses, SuppressedHistogram
from crowdblend.methods.mechanisms.strata import publish_classes, publish_points
from crowdblend.methods.recoding.blocks import Grid

from .test_histograms import key
from .test_independence import assert_independent

LABELS = tuple(f"label {number:03}" for number in range(200))


def crossed(counts: list[int]) -> SampledClasses:
    """Two strata with the same classes, all of these sizes."""
    codes = np.array([(stratum, place) for stratum in range(2) for place in range(len(counts))], np.int32)
    return SampledClasses(("stratum", "class"), (("a", "b"), LABELS), codes, np.array(counts * 2, np.int64))


def of_stratum(published: object, label: str) -> dict[str, int]:
    made = published
    strata, classes = made.labels  # type: ignore[attr-defined]
    return {
        classes[code]: int(count)
        for (stratum, code), count in zip(made.codes, made.counts, strict=True)  # type: ignore[attr-defined]
        if strata[stratum] == label
    }


def test_every_stratum_has_its_own_k() -> None:
    counts = [2, 3, 6, 7, 20]
    shown = publish_classes([SuppressedHistogram(3), SuppressedHistogram(7)], crossed(counts), "stratum", key(1))
    assert list(of_stratum(shown, "a").values()) == [3, 6, 7, 20]
    assert list(of_stratum(shown, "b").values()) == [7, 20]
    swapped = publish_classes([SuppressedHistogram(7), SuppressedHistogram(3)], crossed(counts), "stratum", key(1))
    assert list(of_stratum(swapped, "a").values()) == [7, 20]


def test_strata_have_independent_noise() -> None:
    """The same bits for both would make all of them equal."""
    counts = [5] * len(LABELS)
    noisy = NoisyHistogram(40, 0.5, show_from=None)
    shown = publish_classes([noisy, noisy], crossed(counts), "stratum", key(2))
    noise = [np.array(list(of_stratum(shown, label).values())) - 5 for label in ("a", "b")]
    assert len(noise[0]) == len(noise[1]) == len(LABELS)
    assert_independent(noise[0], noise[1], 0.5)


def points(rows: list[tuple[int, ...]], labels: tuple[str, ...]) -> SampledClasses:
    codes, counts = np.unique(np.array(rows, np.int32), axis=0, return_counts=True)
    axes = tuple(tuple(map(str, range(11))) for _ in range(2))
    names = ("stratum", "label", "x", "y")
    return SampledClasses(names, (("a", "b"), labels, *axes), codes, counts.astype(np.int64))


def test_points_of_a_stratum_have_its_own_k_and_noise_and_no_label_of_suppressed_people() -> None:
    rows = [(0, 0, 3, 3)] * 6 + [(1, 0, 3, 3)] * 6 + [(1, 1, 3, 3)] * 30 + [(0, 2, 3, 3)] * 2
    found = []
    for sizes in ((5, 20), (20, 5)):
        mechanisms = [NoisyPoints(k, 1.0, Grid((5, 5), (2, 2)), (10, 10)) for k in sizes]
        shown = publish_points(mechanisms, points(rows, ("some", "others", "secret")), "stratum", key(3))
        strata, labels = shown.labels
        assert "secret" not in labels
        pairs = [(strata[one], labels[other]) for one, other in np.repeat(shown.codes, shown.counts, axis=0)]
        found.append({pair: pairs.count(pair) for pair in pairs})
    assert found[0] == {("a", "some"): 6, ("b", "others"): 30}
    assert found[1] == {("b", "some"): 6, ("b", "others"): 30}


def test_points_of_two_strata_move_independently() -> None:
    rows = [(stratum, 0, 3, 3) for stratum in range(2) for _ in range(400)]
    mechanism = NoisyPoints(5, 1.0, Grid((5, 5), (2, 2)), (10, 10))
    shown = publish_points([mechanism, mechanism], points(rows, ("some",)), "stratum", key(4))
    codes, cells = np.repeat(shown.codes[:, 0], shown.counts), np.repeat(shown.cells[0], shown.counts)
    assert sorted(cells[codes == 0].tolist()) != sorted(cells[codes == 1].tolist())
