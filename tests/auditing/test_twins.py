"""Every broken twin is caught, and its honest twin is not."""

from __future__ import annotations

import pytest

from crowdblend.auditing.twins import TWINS

# Each of the exact ones is certain; each of those that are run is a false alarm with probability 1e-6 at most.
ASKED_FOR = {
    "off-by-one",
    "empty-cells",
    "seed-reused",
    "bins-from-data",
    "row-order",
    "same-sample-choice",
    "rate-understated",
    "float-laplace",
    "noisy-threshold",
    "two-tables",
    "best-of-drawn",
    "star-rows",
    "forked-noise",
    "two-rows",
    "min-max-recoding",
    "delta-rounded-down",
    "fixed-size",
    "degree-unchecked",
}


def test_the_classic_mistakes_are_there() -> None:
    assert set(TWINS) >= ASKED_FOR


@pytest.mark.parametrize("twin", TWINS.values(), ids=lambda twin: twin.name)
def test_the_broken_one_is_caught(twin) -> None:
    found = twin.broken.finding()
    assert found is not None
    assert len(found.describe().splitlines()) >= 5


@pytest.mark.parametrize("twin", TWINS.values(), ids=lambda twin: twin.name)
def test_the_honest_one_is_not(twin) -> None:
    assert twin.honest.finding() is None
