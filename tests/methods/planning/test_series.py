"""Plans for several releases together: the numbers, the safe side, and what shares of epsilon and delta would need."""

import pytest

from crowdblend.errors import Infeasible, InvalidInput
from crowdblend.methods.planning.plan import plan
from crowdblend.methods.planning.request import PlanRequest
from crowdblend.methods.planning.series import share_of
from crowdblend.trusted.calculus import verify
from crowdblend.trusted.calculus.loss_curves import delta_of
from crowdblend.trusted.guarantees.aggregates import IidSampling
from crowdblend.trusted.guarantees.profiles import CrowdCurve, Profile, Uses

# Smallest k so that m releases at a rate keep (1, 1e-6) together, as a float prototype found them, and by shares.
SMALLEST = {
    0.5: {2: (42, 78), 5: (72, 308), 10: (113, 1033)},
    0.2: {2: (13, 20), 5: (15, 53), 10: (18, 143), 20: (26, 449)},
    0.1: {2: (8, 11), 5: (9, 22), 10: (9, 49), 20: (10, 130), 50: (15, 598)},
    0.05: {2: (6, 7), 5: (6, 12), 10: (7, 22), 20: (7, 47), 50: (8, 176)},
}
QUICK = ((0.2, 5), (0.1, 20))
CASES = [(rate, times) for rate, row in SMALLEST.items() for times in row]


@pytest.mark.parametrize(
    ("rate", "times"), [case if case in QUICK else pytest.param(*case, marks=pytest.mark.slow) for case in CASES]
)
def test_k_is_as_small_as_known_or_smaller(rate: float, times: int) -> None:
    planned = plan(rate=rate, epsilon=1.0, delta=1e-6, releases=times)
    most, shares = SMALLEST[rate][times]
    assert planned.k <= most
    assert planned.bounds == {"profile": planned.k, "added": shares}
    assert planned.rule == "composition.repeated"
    fewer = Profile((Uses(CrowdCurve(planned.k - 1, 0.0, rate), times),))
    assert delta_of(fewer, 1.0) > 1e-6 >= delta_of(Profile((Uses(CrowdCurve(planned.k, 0.0, rate), times),)), 1.0)


def test_each_parameter_is_solved_for_on_the_safe_side() -> None:
    given = {"rate": 0.1, "k": 9, "epsilon": 1.0, "delta": 1e-6}
    for unknown in given:
        asked = {name: value for name, value in given.items() if name != unknown}
        planned = plan(**asked, releases=10)  # type: ignore[arg-type]
        uses = (Uses(CrowdCurve(planned.k, 0.0, planned.rate or 0.0), 10),)
        assert delta_of(Profile(uses), planned.epsilon) <= planned.delta * (1 + 1e-7)
        assert set(planned.bounds) == {"profile", "added"}
        best = max if unknown == "rate" else min
        assert getattr(planned, unknown) == best(planned.bounds.values())
        assert planned.summary()["releases"] == 10


def test_one_release_is_planned_as_ever() -> None:
    assert share_of(PlanRequest(rate=0.1, k=8, delta=1e-6, releases=10)).releases == 1
    once = plan(rate=0.1, epsilon=1.0, delta=1e-6, releases=1)
    assert once == plan(rate=0.1, epsilon=1.0, delta=1e-6)
    assert "releases" not in once.summary()


def test_the_certificate_of_a_series_is_about_all_of_it_and_verifies() -> None:
    planned = plan(rate=0.1, epsilon=1.0, delta=1e-6, releases=20)
    certificate = verify(planned.certificate().to_json())
    found = certificate.differential()
    assert found is not None
    assert found.epsilon <= 1.0
    assert found.delta <= 1e-6
    assert certificate.zero_knowledge().aggregate == IidSampling(0.1, 20)  # type: ignore[union-attr]
    # One of the releases by itself has a smaller δ at the same ε.
    (_, alone, *_) = planned.derivations(planned.mechanism)
    assert alone.conclusion.epsilon == 1.0
    assert alone.conclusion.delta < 1e-6 / 20


@pytest.mark.parametrize(
    "given",
    [
        {"form": "moved", "noise_epsilon": 0.5},
        {"blend_epsilon": 0.2},
        {"parts": 4},
        pytest.param({"below_k": "noise"}, marks=pytest.mark.slow),
        pytest.param({"low": 0.09, "high": 0.1, "rate": None}, marks=pytest.mark.slow),
    ],
)
def test_other_mechanisms_are_planned_together_too(given: dict[str, object]) -> None:
    shares: dict[str, float] = {}
    asked = {"rate": 0.1, "epsilon": 1.0, "delta": 1e-6, "releases": 3, **given}
    planned = plan(**asked)  # type: ignore[arg-type]
    shares |= planned.bounds
    assert planned.k == shares["profile"] <= shares["added"]
    found = planned.certificate().differential()
    assert found is not None
    assert (found.epsilon <= 1.0, found.delta) == (True, 1e-6)


def test_what_cannot_be_planned_says_why() -> None:
    with pytest.raises(InvalidInput, match="releases"):
        plan(rate=0.1, epsilon=1.0, delta=1e-6, releases=0)
    with pytest.raises(InvalidInput, match="releases"):
        plan(rate=0.1, epsilon=1.0, delta=1e-6, releases=2.5)  # type: ignore[arg-type]
    with pytest.raises(InvalidInput, match="noise_epsilon"):
        plan(rate=0.1, k=8, epsilon=1.0, below_k="noise", releases=3)
    with pytest.raises(Infeasible, match="Raise delta"):
        plan(rate=0.5, k=3, delta=1e-9, releases=3)
