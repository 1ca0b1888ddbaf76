"""Plans of network statistics keep their promise with the least noise, and know when they are useless."""

import math
from dataclasses import replace

import pytest

from crowdblend.errors import Infeasible
from crowdblend.methods.planning.networks.request import NAMES, Bounds, NetworkRequest, derive_release
from crowdblend.methods.planning.networks.solve import error_of, least_people, plan_network, refuse_useless, trades
from crowdblend.trusted.guarantees.aggregates import Neighbourhood
from tests.cases import for_each
from tests.refusals import refuses

BOUNDS = Bounds(100_000, 30, 6.0)
MORE = {"average": {"width": 50.0}, "histogram": {"classes": 4}, "degrees": {"classes": 5}}


def question(name: str, **given: float) -> NetworkRequest:
    return NetworkRequest(name, BOUNDS, **given, **MORE.get(name, {}))  # type: ignore[arg-type]


@for_each("name", NAMES)
@for_each("epsilon", [0.1, 0.7, 1.3])
def test_the_noise_keeps_the_promise_and_no_less_would(name: str, epsilon: float) -> None:
    planned = plan_network(question(name, epsilon=epsilon, samples=3_000))
    assert epsilon * (1 - 1e-9) <= planned.epsilon <= epsilon
    less = derive_release(
        planned.request, BOUNDS, planned.derivation.premises[0], planned.scale * 0.999, planned.resolution
    )
    assert less.conclusion.epsilon > epsilon


@for_each("name", NAMES)
def test_two_of_three_give_the_third(name: str) -> None:
    planned = plan_network(question(name, epsilon=0.7, samples=3_000))
    by_error = plan_network(question(name, epsilon=0.7, error=planned.error))
    assert by_error.samples <= 3_000
    assert by_error.error <= planned.error
    fewer = plan_network(question(name, epsilon=0.7, samples=int(by_error.samples * 0.95)))
    assert fewer.error > planned.error
    by_both = plan_network(question(name, samples=3_000, error=planned.error))
    assert by_both.epsilon <= 0.7 * (1 + 1e-9)
    assert by_both.epsilon >= 0.69


def test_light_ends_are_counted_where_degrees_may_be_huge() -> None:
    plain = question("average-degree", epsilon=1, samples=2_000)
    huge = replace(plain, bounds=Bounds(100_000, 50_000, 6.0))
    seen = [plan_network(asked).derivation.conclusion.aggregate for asked in (plain, huge)]
    assert [isinstance(aggregate, Neighbourhood) and aggregate.radius for aggregate in seen] == [1, 2]


def test_the_stated_error_is_exceeded_once_in_twenty() -> None:
    for ratio in (0.001, 0.1, 2.0):
        a = math.exp(-ratio)
        beyond = round(error_of(1 / ratio, 1.0) + 0.5)
        assert 2 * a**beyond / (1 + a) <= 0.05
        assert beyond == 1 or 2 * a ** (beyond - 1) / (1 + a) > 0.05


def test_how_many_people_it_takes() -> None:
    bounds = Bounds(2_000, 30, 6.0)
    asked = NetworkRequest("connectivity", bounds, epsilon=1.0, samples=2_500)
    planned = plan_network(asked)
    with pytest.raises(Infeasible, match="publish about at least 2501 people"):
        refuse_useless([planned])
    assert least_people([planned]) == 2501
    refuse_useless([plan_network(replace(asked, bounds=replace(bounds, people=2_501)))])
    noisy = plan_network(NetworkRequest("connectivity", bounds, epsilon=0.2, samples=100))
    with pytest.raises(Infeasible, match="half its range"):
        refuse_useless([noisy])


@for_each(
    ("given", "code"),
    [
        ({"epsilon": 0.0}, "plan.epsilon"),
        ({"samples": None}, "plan.unknown-of-statistic"),
        ({"error": 0.1}, "plan.unknown-of-statistic"),
        ({"samples": -1}, "parameter.range"),
    ],
)
def test_requests_that_contradict_themselves_are_refused(given: dict[str, float], code: str) -> None:
    whole = {"name": "connectivity", "bounds": BOUNDS, "epsilon": 1.0, "samples": 100}
    with refuses(code):
        NetworkRequest(**{**whole, **given})  # type: ignore[arg-type]


@for_each("name", NAMES)
def test_more_people_or_a_weaker_promise_mean_less_error(name: str) -> None:
    planned = plan_network(question(name, epsilon=0.3, samples=3_000))
    varied = trades(planned)
    assert set(varied) == {"4 times the samples", "twice the epsilon"}
    assert all(error < planned.error * 0.9 for error in varied.values())
    larger = plan_network(question(name, epsilon=planned.epsilon, samples=12_000))
    assert varied["4 times the samples"] == pytest.approx(larger.error)
