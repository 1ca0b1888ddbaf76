"""Whatever a rule cannot use is refused in one sentence: what must hold, what was given, what to do."""

import math
from dataclasses import replace
from typing import Any

import pytest

from crowdblend.errors import InvalidInput, NotApplicable, NotProved
from crowdblend.trusted.calculus import RULES
from crowdblend.trusted.guarantees.aggregates import RandomSamples
from crowdblend.trusted.guarantees.parameters import PARAMETERS
from crowdblend.trusted.guarantees.privacy import CrowdBlending, Differential, Relation, ZeroKnowledge
from crowdblend.trusted.guarantees.profiles import Profile, Uses
from crowdblend.trusted.guarantees.programme import PartInCrowds, PartWithNoise, PrivatePart
from crowdblend.trusted.guarantees.utility import AVERAGE, AVERAGE_DEGREE, CONNECTED, HISTOGRAM, Estimator, Sampler
from tests.cases import for_each

from .examples import EXAMPLES
from .profile_examples import CROWDS, PURE, profile

NUMERIC = [(found.id, name) for found in RULES.values() for name in found.parameters if name in PARAMETERS]
SWITCHES = [(found.id, name) for found in RULES.values() for name in found.parameters if name not in PARAMETERS]


# What is said where several rules share a condition.
REASONS = r"under one relation|of one population|needs the replace relation|not sampled yet|starts from one person"


def _refused(rule_id: str, **changed: Any) -> str:
    example = EXAMPLES[rule_id][0]
    with pytest.raises(InvalidInput) as caught:
        RULES[rule_id].conclude(*example.premises, **{**example.parameters, **changed})
    return str(caught.value)


def _is_one_line(message: str) -> bool:
    return "\n" not in message and message.endswith(".") and len(message) < 300


def _out_of_range(name: str) -> list[Any]:
    parameter = PARAMETERS[name]
    values: list[Any] = [math.nan, math.inf, -math.inf, -1, "0.5", True, None, [0.5]]
    if parameter.whole:
        values += [2.5, 2.0]
    if parameter.low > 0:
        values.append(parameter.low - 1)
    if parameter.low_open:
        values.append(0)
    if math.isfinite(parameter.high):
        values.append(parameter.high if parameter.high_open else 2 * parameter.high)
    return values


@for_each(("rule_id", "name"), NUMERIC)
def test_bad_values_are_refused_with_name_range_value_and_remedy(rule_id: str, name: str) -> None:
    for value in _out_of_range(name):
        message = _refused(rule_id, **{name: value})
        assert message.startswith(f"{name} must be {PARAMETERS[name].words()}, got {value!r}. ")
        assert message.endswith(PARAMETERS[name].remedy)
        assert _is_one_line(message)


@for_each("name", PARAMETERS)
def test_each_range_is_told_in_words_with_a_remedy(name: str) -> None:
    parameter = PARAMETERS[name]
    assert "number" in parameter.words()
    assert f"{parameter.low:g}" in parameter.words()
    assert parameter.remedy.startswith("Pass ")
    assert parameter.remedy.endswith(".")


@for_each(("rule_id", "name"), SWITCHES)
@for_each("value", [1, 0.0, "yes", None])
def test_a_switch_takes_only_true_and_false(rule_id: str, name: str, value: Any) -> None:
    message = _refused(rule_id, **{name: value})
    assert name in message
    assert _is_one_line(message)


@for_each(("rule_id", "name"), NUMERIC + SWITCHES)
def test_a_missing_parameter_is_refused(rule_id: str, name: str) -> None:
    example = EXAMPLES[rule_id][0]
    left = {given: value for given, value in example.parameters.items() if given != name}
    with pytest.raises(InvalidInput, match=rf"^{rule_id} takes the parameters .*\b{name}\b.*, got ") as caught:
        RULES[rule_id].conclude(*example.premises, **left)
    assert _is_one_line(str(caught.value))


@for_each("rule_id", RULES)
def test_an_unexpected_parameter_is_refused(rule_id: str) -> None:
    message = _refused(rule_id, size=3)
    assert message.startswith(f"{rule_id} takes the parameters ")
    assert "size" in message.split("got")[1]
    assert _is_one_line(message)


@for_each("rule_id", RULES)
def test_premises_of_another_kind_are_refused(rule_id: str) -> None:
    found, example = RULES[rule_id], EXAMPLES[rule_id][0]
    stranger: Any = (
        CrowdBlending(3, 0.1) if CrowdBlending not in found.premises else Differential(1, 0, Relation.REPLACE)
    )
    wrong: list[tuple[Any, ...]] = [
        (stranger,) * max(1, len(example.premises)),
        ("text",),
        (*example.premises, stranger),
    ]
    if found.premises:
        wrong.append(())
    for premises in wrong:
        with pytest.raises(InvalidInput, match=f"^{rule_id} applies to ") as caught:
            found.conclude(*premises, **example.parameters)
        assert _is_one_line(str(caught.value))


GROUP = Differential(0.5, 0.0, Relation.ADD_REMOVE, people=2)
SWAPPED_GROUP = Differential(0.5, 0.0, Relation.REPLACE, people=2)
SWAPPED = Differential(0.5, 0.0, Relation.REPLACE)
LEAKY = Differential(0.5, 1e-6, Relation.ADD_REMOVE)
DRAWN = RandomSamples(1, 2)
SWAPPED_PROFILE, GROUP_PROFILE = profile(PURE, relation=Relation.REPLACE), profile(CROWDS, people=2)
# Profiles that rely on no sampling, with data replaced and for a group.
OTHER_NEIGHBOURS = (Profile((Uses(PURE, 1),), Relation.REPLACE), Profile((Uses(PURE, 1),), people=2))
GRAPHS = ("connected", "cycle-free", "eulerian", "average-degree")
SAMPLED = Differential(0.5, 0.0, Relation.ADD_REMOVE, samplings=1)
SAMPLED_SWAPPED = Differential(0.5, 0.0, Relation.REPLACE, samplings=1)
# Rules that must not read a promise under another relation, to a group, or with δ > 0, as the one they need.
CONDITIONS = [
    ("sampling.amplification", 0, (GROUP, SWAPPED, SAMPLED)),
    ("differential.replace", 0, (SWAPPED,)),
    ("differential.group", 0, (GROUP,)),
    ("rows.per-person", 0, (GROUP, SWAPPED, SAMPLED)),
    ("blending.differential", 0, (SWAPPED, LEAKY, SAMPLED)),
    ("composition.adaptive", 0, (GROUP, SWAPPED, SAMPLED)),
    ("composition.blending-differential", 1, (GROUP, SWAPPED, LEAKY)),
    ("composition.blending-differential-both", 1, (GROUP, SWAPPED, LEAKY)),
    ("composition.blending-differential-both", 2, (GROUP, SWAPPED_GROUP, LEAKY)),
    ("recoding.population", 0, (GROUP, SWAPPED, LEAKY)),
    ("recoding.split", 0, (GROUP, SWAPPED, LEAKY, SAMPLED)),
    ("profile.amplified", 0, (GROUP, SWAPPED, SAMPLED)),
    ("profile.recoding-population", 0, (GROUP, SWAPPED, LEAKY)),
    ("profile.recoding-population", 1, (SWAPPED_PROFILE, GROUP_PROFILE)),
    ("profile.recoding-split", 0, (GROUP, SWAPPED, LEAKY, SAMPLED)),
    ("profile.recoding-split", 1, (CrowdBlending(20, 0.1),)),
    ("composition.profiles", 1, (SWAPPED_PROFILE, GROUP_PROFILE)),
    ("profile.zero-knowledge", 0, (SWAPPED_PROFILE, GROUP_PROFILE, profile(PURE))),
    ("profile.replace", 0, (SWAPPED_PROFILE, GROUP_PROFILE)),
    ("profile.group", 0, (GROUP_PROFILE,)),
    *((f"survey.{name}profile", 0, (profile(CROWDS), GROUP_PROFILE)) for name in ("", "strata-", "groups-")),
    ("survey.zero-knowledge", 0, (profile(CROWDS), GROUP_PROFILE, SWAPPED_PROFILE)),
    ("differential.zero-knowledge", 0, (LEAKY,)),
    ("sample-and-sanitize.plain", 0, (LEAKY, SWAPPED_GROUP, SAMPLED_SWAPPED)),
    ("sample-and-sanitize.doubled", 0, (LEAKY, SWAPPED_GROUP, SAMPLED_SWAPPED)),
    (
        "sample-and-sanitize.linear",
        0,
        (LEAKY, SWAPPED_GROUP, SAMPLED_SWAPPED, Differential(1.5, 0.0, Relation.REPLACE)),
    ),
    ("sample-and-sanitize.sharp", 0, (LEAKY, SWAPPED_GROUP, SAMPLED_SWAPPED)),
    ("sample-and-sanitize.differential", 0, (LEAKY, SWAPPED_GROUP, SAMPLED_SWAPPED)),
    ("strata.copies", 0, (GROUP, SWAPPED, LEAKY, SAMPLED)),
    ("suppression.exact", 0, (CrowdBlending(20, 0.1),)),
    ("suppression.published", 0, (CrowdBlending(20, 0.1),)),
    ("programme.part-private", 0, (*OTHER_NEIGHBOURS, profile(PURE), profile(CROWDS))),
    ("programme.parts", 0, (PartInCrowds(0.76, 6, 0.0), PrivatePart(0.76, (Uses(PURE, 1),)))),
    ("profile.programme", 0, (PartInCrowds(0.76, 6, 0.0), PartWithNoise(0.76, 6, 1.0, False))),
    ("profile.unequal-programme", 0, (PartInCrowds(0.76, 10, 0.0), PartWithNoise(0.5, 10, 1.0, False))),
    ("profile.steps", 1, (*OTHER_NEIGHBOURS, profile(PURE), profile(CROWDS))),
    ("profile.one-sample", 0, (*OTHER_NEIGHBOURS, profile(PURE), profile(CROWDS))),
    ("profile.one-unequal-sample", 0, (*OTHER_NEIGHBOURS, profile(PURE), profile(CROWDS))),
    ("profile.strata", 0, (SWAPPED_PROFILE, GROUP_PROFILE, profile(PURE, CROWDS), profile(CROWDS, releases=2))),
    *(
        (f"graph.{form}.{name}", 0, (kind(AVERAGE_DEGREE if name == "distance" else CONNECTED, 0.1, 0.1, 1.0, DRAWN),))
        for form, kind in (("published", Sampler), ("sharp", Estimator))
        for name in ("distance", "degree")
    ),
    *(
        (
            f"graph.sharp.{statistic}",
            0,
            (
                Estimator(CONNECTED, 0.1, 0.1, 1.0, RandomSamples(400, 1000)),
                # One person is a larger part of fewer people.
                Estimator(statistic, 0.1, 0.1, 1.0, RandomSamples(400, 999)),
            ),
        )
        for statistic in (AVERAGE, HISTOGRAM)
    ),
    *((f"graph.{name}", 0, (Sampler(AVERAGE, 0.1, 0.1, 1.0, RandomSamples(1, 2)),)) for name in GRAPHS),
]


@for_each(("rule_id", "place", "strangers"), CONDITIONS)
def test_a_theorem_keeps_to_its_own_conditions(rule_id: str, place: int, strangers: tuple[Any, ...]) -> None:
    example = EXAMPLES[rule_id][0]
    for stranger in strangers:
        premises = (*example.premises[:place], stranger, *example.premises[place + 1 :])
        with pytest.raises(NotApplicable, match=rf"{rule_id}|{REASONS}") as caught:
            RULES[rule_id].conclude(*premises, **example.parameters)
        assert _is_one_line(str(caught.value))


@for_each(
    ("rule_id", "changed", "word"),
    [
        ("suppression.published", {"rate": 0.5, "epsilon": 0.5}, "suppression.exact"),
        ("blending.sharp", {"epsilon": 0.05}, "epsilon"),
        ("blending.explicit", {"epsilon": 0.05}, "epsilon"),
        ("robust.differential", {"exceptions": 19}, "exceptions"),
        ("robust.zero-knowledge", {"exceptions": 19}, "exceptions"),
        ("dps.lower-rate", {"rate": 0.6}, "rate"),
        ("outlier.histogram", {"epsilon": 0}, "epsilon"),
        ("outlier.histogram", {"transition": 15}, "transition"),
        ("profile.outliers", {"epsilon": 0}, "epsilon"),
        ("profile.outliers", {"transition": 15}, "transition"),
        ("profile.biased", {"exceptions": 19}, "exceptions"),
        ("graph.sampler.connected", {"explored": 1, "accuracy": 0.39}, "explored"),
        ("graph.estimator.connected", {"samples": 0}, "sampled"),
        ("graph.estimator.histogram", {"samples": 0}, "sampled"),
        ("graph.sharp.distance", {"scale": 1e-3}, "scale"),
        ("queries.vc-accuracy", {"samples": 1}, "samples"),
        ("queries.vc-accuracy", {"failure": 0}, "failure"),
        ("queries.vc-samples", {"samples": 100}, "samples"),
        ("queries.vc-samples", {"accuracy": 2}, "accuracy"),
        ("laplace.accurate", {"failure": 0}, "failure"),
        ("queries.finite-class", {"failure": 0}, "failure"),
        ("queries.finite-class", {"samples": 9001}, "population"),
        ("synopsis.exponential-useful", {"epsilon": 0}, "epsilon"),
        ("synopsis.exponential-useful", {"failure": 0}, "failure"),
        ("synopsis.fitted-useful", {"samples": 0}, "person"),
        ("synopsis.counts-useful", {"failure": 0}, "failure"),
    ],
)
def test_parameters_outside_a_theorem_are_not_applicable(rule_id: str, changed: dict[str, Any], word: str) -> None:
    example = EXAMPLES[rule_id][0]
    with pytest.raises(NotApplicable, match=word) as caught:
        RULES[rule_id].conclude(*example.premises, **{**example.parameters, **changed})
    assert _is_one_line(str(caught.value))


@for_each(
    ("rule_id", "changed"),
    [
        ("robust.differential", {"low": 0.2}),
        ("robust.differential", {"max_rate": 0.09}),
        ("robust.zero-knowledge", {"max_rate": 0.09}),
        ("robust.differential", {"exceptions": 0}),
        ("profile.one-unequal-sample", {"low": 0.2}),
        ("profile.one-unequal-sample", {"max_rate": 0.09}),
        ("profile.one-unequal-sample", {"exceptions": 0}),
        *(("profile.unequal-programme", changed) for changed in ({"low": 0.2}, {"max_rate": 0.09}, {"exceptions": 0})),
        ("profile.biased", {"low": 0.2}),
        ("profile.biased", {"max_rate": 0.09}),
        ("profile.biased", {"exceptions": 0}),
        ("sample-and-sanitize.sharp", {"samples": 5001}),
        ("sampler.average", {"samples": 9001}),
    ],
)
def test_parameters_that_contradict_each_other_are_refused(rule_id: str, changed: dict[str, Any]) -> None:
    message = _refused(rule_id, **changed)
    assert "must be at" in message
    assert _is_one_line(message)


@pytest.mark.parametrize("rule_id", ["zero-knowledge.group", "zero-knowledge.sampler"])
def test_pure_zero_knowledge_rules_refuse_a_delta(rule_id: str) -> None:
    example = EXAMPLES[rule_id][0]
    first = example.premises[0]
    assert isinstance(first, ZeroKnowledge)
    leaky = ZeroKnowledge(first.epsilon, 1e-9, first.aggregate, first.relation)
    with pytest.raises(NotApplicable, match="delta = 0"):
        RULES[rule_id].conclude(leaky, *example.premises[1:], **example.parameters)


@for_each(("rule_id", "place"), [("dps.lower-rate", 0), ("dps.random-choice", 1), ("recoding.population", 1)])
def test_a_replace_promise_under_sampling_is_not_read_as_add_remove(rule_id: str, place: int) -> None:
    example = EXAMPLES[rule_id][0]
    with pytest.raises(InvalidInput, match="add-remove"):
        replace(example.premises[place], relation=Relation.REPLACE)


@pytest.mark.parametrize(
    ("rule_id", "changed"), [("histogram.suppressed", {"k": 10**400}), ("sampling.amplification", {"rate": 10**400})]
)
def test_numbers_beyond_every_double_are_refused(rule_id: str, changed: dict[str, Any]) -> None:
    assert _is_one_line(_refused(rule_id, **changed)[-200:])


def test_crowds_beyond_64_bits_are_refused() -> None:
    with pytest.raises(NotProved, match="raise the rate"):
        RULES["suppression.exact"].conclude(CrowdBlending(20, 0.0), rate=1e-25, epsilon=0.0)


@for_each(
    ("rule_id", "field", "value"),
    [
        ("choice.sampling", "rate", 0.2),
        ("choice.differential", "epsilon", 2.0),
        ("choice.zero-knowledge", "epsilon", 2.0),
    ],
)
def test_like_is_chosen_from_like(rule_id: str, field: str, value: float) -> None:
    first, second, *_ = EXAMPLES[rule_id][0].premises
    with pytest.raises(InvalidInput, match="the same but for delta"):
        RULES[rule_id].conclude(first, replace(second, **{field: value}))


def test_a_zero_has_no_sign() -> None:
    """So that equal derivations are written alike."""
    derived = RULES["synopsis.exponential"](epsilon=-0.0)
    assert math.copysign(1, derived.parameters["epsilon"]) == 1
    assert math.copysign(1, derived.conclusion.epsilon) == 1


def test_premises_are_named_in_a_refusal() -> None:
    for premises, named in (((), "got none."), ((CrowdBlending(5, 0.0),), "got CrowdBlending.")):
        with pytest.raises(InvalidInput) as refused:
            RULES["zero-knowledge.differential"].conclude(*premises)
        assert named in str(refused.value)


def test_a_sampler_may_fail_half_as_often_as_it_misses_a_person_and_no_more_often() -> None:
    """Just below the limit of the theorem it applies, just above it does not."""
    rule, premise = RULES["laplace.random-samples"], EXAMPLES["laplace.random-samples"][0].premises[0]
    limit = (1 - premise.aggregate.samples / premise.aggregate.population) / 2
    assert rule.conclude(replace(premise, failure=0.999999 * limit), scale=0.5).epsilon > 0
    with pytest.raises(NotApplicable):
        rule.conclude(replace(premise, failure=1.000001 * limit), scale=0.5)
