"""Every parameter's range, written down a second time and tried at its ends."""

import math
import re
import sys
from collections.abc import Callable
from functools import partial

import pytest

from crowdblend.errors import InvalidInput
from crowdblend.trusted.guarantees.aggregates import RobustSampling
from crowdblend.trusted.guarantees.parameters import PARAMETERS, Parameter, brief, check
from crowdblend.trusted.guarantees.programme import StrataOfSample, StratumOfSample
from tests.cases import for_each

RANGES = {
    "epsilon": "real [0, 1000000.0]",
    "rho": "real (0, 100000.0]",
    "delta": "real [0, 1]",
    "k": "whole [1, 1000000000]",
    "people": "whole [1, inf)",
    "rate": "real (0, 1)",
    "low": "real (0, 1)",
    "high": "real (0, 1)",
    "exceptions": "whole [0, inf)",
    "max_rate": "real (0, 1]",
    "samplings": "whole [0, inf)",
    "rounds": "whole [1, inf)",
    "share": "real (0, 1)",
    "releases": "whole [1, 1000000]",
    "blend_epsilon": "real [0, 700]",
    "copies": "whole [1, 1000000000000]",
    "inner_epsilon": "real [0, 1e6]",
    "noise_epsilon": "real (0, 700]",
    "sigma": "real [0.5, 20000]",
    "show_from": "whole [1, 1000000000]",
    "transition": "whole [1, inf)",
    "limit": "whole [1, 100000]",
    "factor": "real [1, 1000]",
    "size": "whole [0, inf)",
    "samples": "whole [0, inf)",
    "population": "whole [1, inf)",
    "accuracy": "real (0, inf)",
    "numerator": "whole [1, 1000000]",
    "denominator": "whole [2, 1000000]",
    "failure": "real [0, 1]",
    "sensitivity": "real [0, inf)",
    "scale": "real (0, inf)",
    "width": "real (0, inf)",
    "dimension": "whole [1, inf)",
    "lipschitz": "real [0, inf)",
    "weight": "real [0, 1]",
    "grid_steps": "whole [1, 9007199254740992]",
    "bins": "whole [1, 1000000]",
    "rows_per_person": "whole [1, 1000000]",
    "step": "real [0, inf)",
    "drift": "real [0, inf)",
    "reach": "real [0, inf)",
    "queries": "whole [1, inf)",
    "universe": "whole [1, inf)",
    "rows": "whole [1, inf)",
    "addends": "whole [1, inf)",
    "slack": "real (0, inf)",
    "counted_from": "whole [1, 1000000000]",
    "stands_for": "whole [1, inf)",
    "parts": "whole [1, inf)",
    "steps": "whole [1, 100]",
    "degree_bound": "whole [2, inf)",
    "explored": "whole [1, inf)",
    "radius": "whole [0, inf)",
    "average_bound": "real (0, inf)",
    "resolution": "real (0, inf)",
    "least_scale": "real [0, inf)",
}
ENDS = re.compile(r"(whole|real) ([\[(])(\S+), (\S+)([\])])")


def test_every_parameter_has_a_range_here() -> None:
    assert set(RANGES) == set(PARAMETERS)


@for_each("name", RANGES)
def test_a_range_ends_where_it_should(name: str) -> None:
    kind, first, low, high, last = ENDS.fullmatch(RANGES[name]).groups()  # type: ignore[union-attr]
    number = int if kind == "whole" else float
    allows = PARAMETERS[name].allows
    below = number(low) - 1 if kind == "whole" else math.nextafter(float(low), -math.inf)
    assert allows(number(low)) == (first == "[")
    assert not allows(below)
    assert allows(number(low) + 1 if kind == "whole" else math.nextafter(float(low), math.inf))
    if high == "inf":
        assert allows(sys.float_info.max if kind == "real" else 2**1000)
        assert not allows(math.inf)
        return
    above = number(high) + 1 if kind == "whole" else math.nextafter(float(high), math.inf)
    assert allows(number(high)) == (last == "]")
    assert not allows(above)
    assert allows(number(high) - 1 if kind == "whole" else math.nextafter(float(high), -math.inf))


@for_each("name", RANGES)
@for_each("value", [True, False, None, "1", float("nan"), -math.inf])
def test_what_is_no_number_is_in_no_range(name: str, value: object) -> None:
    assert not PARAMETERS[name].allows(value)


def test_a_whole_number_is_not_a_float_and_a_number_may_be_whole() -> None:
    assert not PARAMETERS["k"].allows(20.0)
    assert PARAMETERS["epsilon"].allows(1)


@for_each(
    ("parameter", "words"),
    [
        (Parameter(0, 1, ""), "a number between 0 and 1"),
        (Parameter(0, 1, "", low_open=True, high_open=True), "a number between 0 and 1 (exclusive)"),
        (Parameter(0, 1, "", low_open=True), "a number between 0 and 1 (0 excluded)"),
        (Parameter(0, 1, "", high_open=True), "a number between 0 and 1 (1 excluded)"),
        (Parameter(0, math.inf, "", low_open=True), "a number above 0"),
        (Parameter(2, math.inf, "", whole=True), "a whole number of at least 2"),
        (Parameter(1, 100, "", whole=True), "a whole number between 1 and 100"),
    ],
)
def test_a_range_in_words(parameter: Parameter, words: str) -> None:
    assert parameter.words() == words


@for_each("name", RANGES)
def test_a_refusal_names_the_parameter_and_what_to_do(name: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        check(name, "x")
    assert (caught.value.where, caught.value.code) == (name, "parameter.range")
    assert caught.value.remedy == PARAMETERS[name].remedy
    assert PARAMETERS[name].words() in caught.value.message


def test_long_values_are_cut() -> None:
    assert brief("x" * 58) == repr("x" * 58)
    assert brief("x" * 59) == repr("x" * 59)[:57] + "…"
    assert brief(2**40) == str(2**40)
    assert brief(1 << 999) == str(1 << 999)[:57] + "…"
    assert brief(1 << 1000) == hex(1 << 1000)[:57] + "…"


@for_each(
    "made",
    [
        partial(RobustSampling, exceptions=0),
        partial(StratumOfSample, epsilon=1.0, delta=0.0),
        partial(StrataOfSample, inner_epsilon=1.0, epsilon=1.0),
    ],
)
def test_probabilities_of_a_sample_do_not_fall(made: Callable[[float, float], object]) -> None:
    made(0.1, 0.1)
    with pytest.raises(InvalidInput, match=r"low must be at most high = 0\.1"):
        made(math.nextafter(0.1, 1), 0.1)
