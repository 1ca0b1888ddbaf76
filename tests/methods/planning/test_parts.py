"""Plans for several tables from parts of one sample."""

import json
from collections.abc import Callable

import pytest

from crowdblend.errors import Infeasible, InvalidInput
from crowdblend.methods.planning.parts import derive_parts, equal_shares, largest_noise, smallest_k, smallest_thresholds
from crowdblend.methods.planning.plan import answer, plan
from crowdblend.methods.planning.request import PlanRequest
from crowdblend.trusted.calculus import RULES, verify
from crowdblend.trusted.calculus.loss_curves import part_delta
from crowdblend.trusted.calculus.rules.mechanisms import histogram_suppressed
from crowdblend.trusted.guarantees.profiles import ClosenessCurve, Uses
from crowdblend.trusted.guarantees.programme import PartInCrowds, PartOfPoints, PartOfSample, PartWithNoise, PrivatePart
from tests.cases import for_each
from tests.commands import crowdblend


def delta_of(shares: tuple[float, ...], ks: tuple[int, ...], rate: float = 0.5) -> float:
    claims = [histogram_suppressed(k=k) for k in ks]
    delta: float = derive_parts(claims, shares, rate, 1.0).conclusion.delta
    return delta


@for_each(("rate", "tables", "k"), [(0.5, 10, 16), (0.5, 5, 18), (0.5, 2, 25), (0.5, 1, 35), (0.2, 10, 8)])
def test_the_smallest_k_of_equal_parts(rate: float, tables: int, k: int) -> None:
    planned = plan(rate=rate, epsilon=1.0, delta=1e-6, parts=tables)
    assert planned.k == k
    assert planned.rule == ("programme.parts" if tables > 1 else "suppression.exact")
    assert planned.summary().get("parts", 1) == tables


def test_each_part_has_its_own_k_and_all_keep_one_guarantee() -> None:
    shares = (0.8, 0.1, 0.05, 0.05)
    ks = smallest_thresholds(shares, 0.5, 1.0, 1e-6)
    assert ks[0] > ks[1] > ks[2] == ks[3]
    assert delta_of(shares, ks) <= 1e-6
    assert delta_of(shares, tuple(k - 1 for k in ks)) > 1e-6


def test_what_is_solved_for_is_proved_and_hardly_improved() -> None:
    shares = equal_shares(4)
    for request in (
        PlanRequest(rate=0.3, k=20, epsilon=1.0, shares=shares),
        PlanRequest(rate=0.3, k=20, delta=1e-6, shares=shares),
        PlanRequest(k=20, epsilon=1.0, delta=1e-6, shares=shares),
    ):
        planned = answer(request)
        assert planned.thresholds == (20,) * 4
        delta = derive_parts(
            [planned.mechanism.claim()] * 4, shares, planned.rate or 0.0, planned.epsilon
        ).conclusion.delta
        assert 0.99 * planned.delta <= delta <= planned.delta


def test_the_certificate_of_a_plan_is_about_the_parts() -> None:
    certificate = plan(rate=0.5, epsilon=1.0, delta=1e-6, parts=2).certificate()
    again = verify(certificate.to_json())
    assert [part.name for part in again.description.parts] == ["part", "part"]
    assert {dict(part.details)["share"] for part in again.description.parts} == {0.5}
    found = again.differential()
    assert found is not None
    assert (found.epsilon, found.delta <= 1e-6) == (1.0, True)
    assert sum("probability 0.5" in made.sentence() for made in again.assumptions()) >= 1


@for_each(
    "given",
    [
        {"parts": 0},
        {"parts": 2.5},
        {"parts": True},
        {"parts": 101},
        {"parts": 2, "below_k": "noise"},
        {"parts": 2, "blend_epsilon": 0.1},
        {"parts": 2, "low": 0.1, "high": 0.6},
    ],
)
def test_what_no_theorem_covers_is_refused(given: dict) -> None:
    with pytest.raises(InvalidInput) as caught:
        plan(rate=0.5, epsilon=1.0, delta=1e-6, **given)
    assert caught.value.code in ("parameter.range", "plan.parts")


def test_shares_beyond_the_sample_are_refused_and_rounding_is_not() -> None:
    assert answer(PlanRequest(rate=0.5, epsilon=1.0, delta=1e-6, shares=(0.1,) * 10)).k == 16
    for shares in ((0.6, 0.5), (0.5, 0.0), (1.0,)):
        with pytest.raises(InvalidInput):
            PlanRequest(rate=0.5, epsilon=1.0, delta=1e-6, shares=shares)


SHARES = (0.5, 0.2, 0.2, 0.1)
PLANNED: dict[str, tuple[Callable[[int], PartOfSample], int]] = {
    "suppressed": (lambda k: PartInCrowds(0.5, k, 0.0), 7),
    "blending": (lambda k: PartInCrowds(0.2, k, 0.5), 7),
    "noise": (lambda k: PartWithNoise(0.2, k, largest_noise(SHARES, 0.1, 1.0), False), 4),
    "noise that says so": (lambda k: PartWithNoise(0.2, k, 2.0, True), 6),
    "points": (lambda k: PartOfPoints(0.1, k, 1.0), 8),
}


@for_each("name", PLANNED)
def test_every_mechanism_has_its_smallest_k_and_all_keep_one_guarantee(name: str) -> None:
    part, expected = PLANNED[name]
    k = smallest_k(part, SHARES, rate=0.1, epsilon=1.0, delta=1e-6)
    assert part_delta(part(k), SHARES, 0.1, 1.0) <= 1e-6 < part_delta(part(k - 1), SHARES, 0.1, 1.0)
    assert k == expected


def test_the_numbers_of_the_page_of_proofs() -> None:
    shares, noise = (0.5, 0.5), largest_noise((0.5, 0.5), 0.5, 1.0)
    assert 1.489 < noise < 1.49
    kept = {"rate": 0.5, "epsilon": 1.0, "delta": 1e-6}
    assert smallest_k(lambda k: PartWithNoise(0.5, k, noise, False), shares, **kept) == 17


def test_parts_that_each_keep_to_delta_keep_to_it_together() -> None:
    noise = largest_noise(SHARES, 0.1, 1.0)
    kinds = [PLANNED[name][0] for name in ("suppressed", "noise", "noise that says so")]
    parts = [part(smallest_k(part, SHARES, rate=0.1, epsilon=1.0, delta=1e-6)) for part in kinds]
    own = PrivatePart(0.1, (Uses(ClosenessCurve(noise, 0.0), 1),))
    made = RULES["programme.parts"].conclude(*parts, own, rate=0.1, epsilon=1.0)
    assert 1e-8 < made.delta <= 1e-6
    # Noise of that loss costs nothing at ε, and a hair more something.
    assert (
        part_delta(own, SHARES, 0.1, 1.0)
        == 0
        < part_delta(PrivatePart(0.1, (Uses(ClosenessCurve(noise * 1.001, 0.0), 1),)), SHARES, 0.1, 1.0)
    )


def test_a_target_that_nothing_reaches() -> None:
    with pytest.raises(Infeasible):
        smallest_thresholds((0.5, 0.5), 0.5, 0.0, 1e-9)
    with pytest.raises(Infeasible, match="lower its loss"):
        smallest_k(lambda k: PartWithNoise(0.5, k, 3.0, False), (0.5, 0.5), rate=0.5, epsilon=1.0, delta=1e-6)


def test_the_command_plans_parts() -> None:
    given = ("--rate", 0.2, "--epsilon", 1, "--delta", "1e-6", "--parts", 5)
    document = json.loads(crowdblend("plan", *given, "--json").stdout)
    assert (document["k"], document["parts"], document["bounds"]) == (9, 5, {"parts": 9})


@pytest.mark.parametrize(("unknown", "given"), [("k", {"delta": 1e-6}), ("epsilon", {"k": 40, "delta": 1e-6})])
def test_a_series_of_releases_of_parts_keeps_its_totals(unknown: str, given: dict) -> None:
    """By the profile of the parts, not by that of one table of the whole sample."""
    epsilon = {} if unknown == "epsilon" else {"epsilon": 1.0}
    planned = plan(rate=0.5, parts=5, releases=3, **epsilon, **given)
    whole = plan(rate=0.5, releases=3, **epsilon, **given)
    assert planned.bounds["profile"] < whole.bounds["profile"]
    assert planned.thresholds == (planned.k,) * 5
    found = verify(planned.certificate().to_json()).differential()
    assert found is not None
    assert found.epsilon <= planned.epsilon
    assert found.delta <= planned.delta
    if unknown == "k":
        assert planned.k < 40
        fewer = answer(PlanRequest(rate=0.5, k=planned.k - 1, epsilon=1.0, shares=equal_shares(5), releases=3))
        assert fewer.delta > 1e-6
