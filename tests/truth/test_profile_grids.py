"""Totals on the grid that is used are within 1 % of those on a grid that is ten times as fine, and never below them."""

import pytest

from crowdblend.trusted.calculus.loss_curves import curve_of, grid_of, pair_of, together
from crowdblend.trusted.guarantees.profiles import (
    AmplifiedCurve,
    BiasedCurve,
    ClosenessCurve,
    CrowdCurve,
    GaussianCurve,
    LossCurve,
    NoisyCountCurve,
    OutlierCurve,
    PointCurve,
    Profile,
    ReplacedCurve,
    SplitCurve,
    SurveyCurve,
    ThresholdCurve,
    Uses,
)
from crowdblend.trusted.guarantees.programme import (
    OneSampleCurve,
    PartInCrowds,
    PartWithNoise,
    PrivatePart,
    ProgrammeCurve,
    UnequalSampleCurve,
)
from crowdblend.trusted.numerics.series import cut_for
from tests.cases import for_each

DELTA = 1e-5
QUICK: dict[str, tuple[LossCurve, ...]] = {
    "crowds": (CrowdCurve(8, 0.0, 0.1),),
    "crowds at rate 0.5": (CrowdCurve(42, 0.0, 0.5),),
    "blending": (CrowdCurve(20, 0.5, 0.1),),
    "amplified": (AmplifiedCurve(1.0, 1e-8, 0.1),),
    "discrete Laplace": (ClosenessCurve(0.5, 0.0),),
    "two kinds of noise": (ClosenessCurve(0.1, 0.0), ClosenessCurve(0.23, 0.0)),
    "pair": (ClosenessCurve(0.5, 1e-9),),
    "parts": (
        ProgrammeCurve(0.5, (PartInCrowds(0.5, 25, 0.0), PartInCrowds(0.3, 22, 0.0), PartInCrowds(0.2, 18, 0.0))),
    ),
    "one sample": (OneSampleCurve(0.1, (Uses(ClosenessCurve(0.3, 0.0), 5),)),),
    "one sample, two kinds of noise": (
        OneSampleCurve(0.1, (Uses(ClosenessCurve(0.5, 0.0), 2), Uses(ClosenessCurve(0.3, 1e-9), 3))),
    ),
    "one unequal sample": (UnequalSampleCurve(0.05, 0.1, 0, 0.1, (Uses(ClosenessCurve(0.3, 0.0), 5),)),),
    "a noisy part": (
        ProgrammeCurve(0.1, (PartInCrowds(0.5, 9, 0.0), PrivatePart(0.4, (Uses(ClosenessCurve(1.5, 0.0), 1),)))),
    ),
    "a survey of noise": (SurveyCurve(1, 10, False, (Uses(ReplacedCurve(ClosenessCurve(0.5, 0.0)), 1),)),),
    "Gaussian noise": (GaussianCurve(20.0),),
    "a threshold": (ThresholdCurve(0.3, 80),),
    "recoding by a part": (SplitCurve(0.5, 20, 0.2, 0.1),),
}
SLOW: dict[str, tuple[LossCurve, ...]] = {
    "recoding by the population": (CrowdCurve(8, 0.0, 0.1), ClosenessCurve(0.05, 0.0)),
    "noise below k": (NoisyCountCurve(8, 2.0, 0.1, False),),
    "noise below k, flagged": (NoisyCountCurve(10, 2.0, 0.1, True),),
    "noise below k in a part": (ProgrammeCurve(0.1, (PartWithNoise(0.5, 8, 2.0, False), PartInCrowds(0.5, 9, 0.0))),),
    "points": (PointCurve(20, 1.0, 0.1),),
    "biased": (BiasedCurve(25, 0.0, 0.08, 0.12, 2, 0.12),),
    "biased blending": (BiasedCurve(25, 0.3, 0.08, 0.12, 0, 0.12),),
    "outliers": (OutlierCurve(0.2, 50, 100),),
    "a thinned survey": (SurveyCurve(1, 10, False, (Uses(ReplacedCurve(CrowdCurve(20, 0.0, 0.5)), 1),)),),
    "replaced": (ReplacedCurve(CrowdCurve(8, 0.0, 0.1)),),
    "mixed": (CrowdCurve(8, 0.0, 0.1), ClosenessCurve(0.1, 0.0), NoisyCountCurve(8, 2.0, 0.1, False)),
}


def epsilon(uses: tuple[Uses, ...], spacing: float) -> float:
    pair = together(uses, spacing, cut_for(DELTA, sum(use.releases for use in uses)))
    found = [law.epsilon(DELTA) for law in (pair.up, pair.down)]
    assert None not in found
    return max(value for value in found if value is not None)


def compare(curves: tuple[LossCurve, ...], releases: int, monkeypatch: pytest.MonkeyPatch) -> None:
    uses = Profile(tuple(Uses(curve, releases) for curve in curves)).uses
    ours = epsilon(uses, grid_of(uses))
    spacing = grid_of(uses) / 10
    monkeypatch.setattr("crowdblend.trusted.numerics.loss_law.LONGEST", 1 << 19)
    pair_of.cache_clear()
    for use in uses:
        # Points of the curve are asked for as much more closely as places of the grid.
        curve = curve_of(use.curve)
        for found in (curve, getattr(curve, "kernel", None), getattr(curve, "curve", None)):
            if "density" in dir(found) and not isinstance(getattr(type(found), "density", None), property):
                monkeypatch.setattr(found, "density", found.density * 10)  # type: ignore[union-attr]
    finer = epsilon(uses, spacing)
    pair_of.cache_clear()
    together.cache_clear()
    assert finer * (1 - 1e-9) <= ours <= finer * 1.01


@for_each("name", QUICK, daily=3)
def test_within_one_percent_of_a_finer_grid(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    compare(QUICK[name], 10, monkeypatch)


def test_one_release_is_within_one_percent_of_a_finer_grid(monkeypatch: pytest.MonkeyPatch) -> None:
    compare(QUICK["a survey of noise"], 1, monkeypatch)


@pytest.mark.slow
@pytest.mark.parametrize("releases", [1, 2, 10, 50])
@pytest.mark.parametrize("name", [*QUICK, *SLOW])
def test_every_curve_is_within_one_percent_of_a_finer_grid(
    name: str, releases: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    compare((QUICK | SLOW)[name], releases, monkeypatch)
