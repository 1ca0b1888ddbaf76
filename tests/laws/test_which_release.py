"""A derivation is about one release: rules with several premises refuse premises about another.

The law runs over every rule with two premises or more. Where premises must be about one release, a stranger is refused.
Where each is about a release of its own, a stranger is another release: then the conclusion is about that one.
"""

from collections.abc import Iterator
from typing import Any

import pytest

from crowdblend.errors import DoesNotVerify, InvalidInput, NotApplicable
from crowdblend.trusted.calculus import RULES, Certificate, Derivation, compose, verify
from crowdblend.trusted.calculus.certificate import node
from crowdblend.trusted.calculus.description import Composite, Description, Disagreement, SameRelease, agree
from tests.cases import for_each
from tests.trusted.calculus.documents import resealed

CROWDS = RULES["histogram.suppressed"](k=20)
NOISY = RULES["histogram.laplace"](noise_epsilon=0.2)


def sampled(k: int = 20, rate: float = 0.1, by: str = "suppression.exact") -> Derivation:
    return RULES[by](RULES["histogram.suppressed"](k=k), rate=rate, epsilon=0.5)


def released(k: int = 20, rate: float = 0.1, by: str = "suppression.exact") -> Derivation:
    return RULES["dps.differential"](sampled(k, rate, by))


def relative(k: int = 20, rate: float = 0.1, by: str = "suppression.exact") -> Derivation:
    return RULES["dps.zero-knowledge"](sampled(k, rate, by))


def drawn(loss: float = 0.5) -> Derivation:
    leaf = RULES["opendp.measurement"](epsilon=loss, delta=0.0)
    return RULES["sample-and-sanitize.sharp"](leaf, samples=100, population=1000)


def statistic(name: str = "connected", scale: float = 0.5, population: int = 1000, degree_bound: int = 5) -> Derivation:
    seen = RULES[f"graph.estimator.{name}"](degree_bound=degree_bound, samples=400, explored=100)
    return RULES["graph.sharp.distance"](seen, population=population, scale=scale, resolution=0.001)


def everybody(scale: float = 1.0) -> Derivation:
    return RULES["laplace.everybody"](sensitivity=0.1, scale=scale, population=50)


def answers(samples: int = 500, queries: int = 40) -> Derivation:
    return RULES["synopsis.counts-useful"](samples=samples, queries=queries, addends=3, noise_epsilon=0.1, failure=0.05)


def sampler(samples: int = 500, queries: int = 40) -> Derivation:
    return RULES["queries.finite-class"](samples=samples, population=9000, queries=queries, failure=0.05)


def choice(loss: float = 0.1) -> Derivation:
    return RULES["selection.exponential"](RULES["score.stated"](sensitivity=1.0, monotone=True), epsilon=loss)


def noisy(loss: float = 0.2) -> Derivation:
    return RULES["histogram.laplace"](noise_epsilon=loss)


def swapping(loss: float = 0.2) -> Derivation:
    return RULES["differential.replace"](noisy(loss))


def total(loss: float = 0.1) -> Derivation:
    return RULES["totals.sum"](grid_steps=3, noise_epsilon=loss)


def under(k: int, epsilon: float) -> Derivation:
    return RULES["suppression.exact"](RULES["histogram.suppressed"](k=k), rate=0.1, epsilon=epsilon)


def published(k: int, epsilon: float) -> Derivation:
    return RULES["dps.differential"](under(k, epsilon))


def crowd_profile(k: int = 20) -> Derivation:
    return RULES["profile.crowds"](RULES["histogram.suppressed"](k=k), rate=0.1)


def part(k: int = 20, share: float = 0.5) -> Derivation:
    return RULES["programme.part"](RULES["histogram.suppressed"](k=k), share=share)


def own_profile(loss: float = 0.2) -> Derivation:
    return RULES["profile.differential"](noisy(loss))


def stratum(k: int = 20) -> Derivation:
    return RULES["strata.at-one-rate"](under(k, 0.5))


def mixed() -> Derivation:
    return RULES["dps.random-choice"](sampled(), sampled(30), weight=0.5)


# For every rule with several premises: premises it accepts, and for each of them some about another release.
CASES: dict[str, tuple[tuple[Derivation, ...], tuple[tuple[Derivation, ...], ...], dict[str, Any]]] = {
    "choice.sampling": ((sampled(), sampled(by="suppression.published")), ((sampled(k=30), mixed()),) * 2, {}),
    "choice.differential": (
        (released(), released(by="blending.explicit")),
        ((released(k=30), released(rate=0.001), compose(published(20, 0.25), published(20, 0.25))),) * 2,
        {},
    ),
    "choice.zero-knowledge": (
        (relative(), relative(by="blending.explicit")),
        ((relative(k=30), RULES["dps.zero-knowledge"](mixed())),) * 2,
        {},
    ),
    "dps.random-choice": ((sampled(), sampled(30)), ((sampled(40),),) * 2, {"weight": 0.3}),
    "composition.adaptive": ((choice(), choice()), ((choice(0.2),),) * 2, {}),
    "composition.differential": ((released(), released(30)), ((released(40),),) * 2, {}),
    "composition.random-samples": ((drawn(), drawn()), ((drawn(0.6),),) * 2, {}),
    "composition.iid-sampling": ((relative(), relative()), ((relative(30),),) * 2, {}),
    "composition.networks": ((statistic(), statistic("eulerian")), ((statistic(scale=0.6),),) * 2, {}),
    "composition.blending-differential": ((CROWDS, NOISY), ((RULES["histogram.suppressed"](k=30),), (noisy(0.3),)), {}),
    "composition.blending-differential-both": (
        (CROWDS, noisy(), swapping()),
        (
            (RULES["histogram.suppressed"](k=30),),
            (noisy(0.3),),
            (swapping(0.3), RULES["opendp.measurement"](epsilon=0.2, delta=0.0)),
        ),
        {},
    ),
    "programme.parts": ((part(), part(30)), ((part(40), part(share=0.25)),) * 2, {"rate": 0.1, "epsilon": 0.5}),
    "composition.profiles": ((crowd_profile(), crowd_profile(30)), ((crowd_profile(40),),) * 2, {}),
    "profile.programme": ((part(), part(30)), ((part(40), part(share=0.25)),) * 2, {"rate": 0.1}),
    "profile.unequal-programme": (
        (part(), part(30)),
        ((part(40), part(share=0.25)),) * 2,
        {"low": 0.08, "high": 0.1, "exceptions": 0, "max_rate": 0.1},
    ),
    "profile.steps": ((own_profile(), own_profile(0.3)), ((own_profile(0.4),),) * 2, {}),
    "profile.recoding-population": ((choice(), crowd_profile()), ((choice(0.2),), (crowd_profile(30),)), {}),
    "profile.recoding-split": (
        (choice(), CROWDS),
        ((choice(0.2),), (RULES["histogram.suppressed"](k=30),)),
        {"rate": 0.1, "share": 0.5},
    ),
    "recoding.population": ((choice(), sampled()), ((choice(0.2),), (sampled(30),)), {}),
    "recoding.split": (
        (choice(), CROWDS),
        ((choice(0.2),), (RULES["histogram.suppressed"](k=30),)),
        {"rate": 0.1, "share": 0.5, "epsilon": 0.5},
    ),
    "zero-knowledge.sampler": (
        (everybody(), RULES["laplace.accurate"](scale=1.0, failure=0.1)),
        ((everybody(2.0),), (RULES["laplace.accurate"](scale=0.5, failure=0.1), answers())),
        {"width": 3.0},
    ),
    "queries.useful": (
        (sampler(), answers()),
        ((sampler(400), sampler(queries=4)), (answers(499), answers(queries=41))),
        {"lipschitz": 1.0},
    ),
    "strata.worst": ((stratum(), stratum(30)), ((stratum(40),),) * 2, {}),
    "strata.zero-knowledge": ((stratum(), stratum(30)), ((stratum(40),),) * 2, {}),
    "strata.together": ((stratum(), stratum(30)), ((stratum(40),),) * 2, {}),
    "strata.together-zero-knowledge": ((stratum(), stratum(30)), ((stratum(40),),) * 2, {}),
    "profile.strata": ((crowd_profile(), crowd_profile(30)), ((crowd_profile(40),),) * 2, {}),
    "totals.together": ((total(), total()), ((total(0.2),),) * 2, {}),
}


def test_every_rule_with_several_premises_has_a_case() -> None:
    assert set(CASES) == {rule.id for rule in RULES.values() if rule.repeats or len(rule.premises) > 1}


def swaps() -> Iterator[tuple[str, int, Derivation]]:
    for rule_id, (_, strangers, _) in CASES.items():
        for place, found in enumerate(strangers):
            for stranger in found:
                yield rule_id, place, stranger


def tied(rule_id: str, place: int) -> bool:
    """Whether the premise at a place must be about the same release as another premise."""
    about = RULES[rule_id].about
    if isinstance(about, SameRelease):
        return True
    assert isinstance(about, Composite)
    return any(place in group and len(group) > 1 for group in about.groups)


@for_each("rule_id", CASES)
def test_related_premises_are_accepted_and_verify(rule_id: str) -> None:
    premises, strangers, parameters = CASES[rule_id]
    assert len(strangers) == len(premises)
    made = RULES[rule_id](*premises, **parameters)
    if made.conclusion.strength:
        assert verify(Certificate((made,)).to_json()).description == made.description


@for_each(("rule_id", "place", "stranger"), list(swaps()))
def test_a_premise_about_another_release_is_refused_or_makes_another_release(
    rule_id: str, place: int, stranger: Derivation
) -> None:
    premises, _, parameters = CASES[rule_id]
    swapped = (*premises[:place], stranger, *premises[place + 1 :])
    assert type(stranger.conclusion) is type(premises[place].conclusion)
    if tied(rule_id, place):
        with pytest.raises(NotApplicable, match=f"{rule_id} needs derivations about the same release"):
            RULES[rule_id](*swapped, **parameters)
        # The theorem alone, on plain guarantees, does not see it: the derivation does.
        return
    before, after = RULES[rule_id](*premises, **parameters), RULES[rule_id](*swapped, **parameters)
    with pytest.raises(Disagreement, match=" and "):
        agree(before.description, after.description)
    assert any(contains(part, stranger.description) for part in after.description.parts)


def contains(whole: Description, part: Description) -> bool:
    return whole == part or any(contains(inner, part) for inner in whole.parts)


def with_derivation(derivation: Derivation) -> str:
    """A certificate in which a derivation was put."""
    return resealed({**Certificate((released(),)).to_dict(), "derivations": [node(derivation)]})


def forged(
    rule_id: str, premises: tuple[Derivation, ...], beside: Derivation | None = None, **parameters: Any
) -> Derivation:
    """A derivation that skips the checks, as a forger would write it into a certificate; `beside` replaces the last
    premise once the conclusion is drawn."""
    rule = RULES[rule_id]
    made = object.__new__(Derivation)
    concluded = rule.conclude(*(premise.conclusion for premise in premises), **parameters)
    described = premises[0].description
    if beside is not None:
        premises = (*premises[:-1], beside)
    made.__dict__.update(
        rule=rule, parameters=parameters, premises=premises, conclusion_=concluded, description_=described
    )
    return made


def lone(*premises: Derivation) -> tuple[Derivation, ...]:
    return premises


# What was accepted once: a rule, its premises, its parameters, and why it is refused.
FALSE = {
    "publish both against a choice of weight 0": (
        "choice.differential",
        lambda: lone(
            compose(published(2, 0.25), published(20, 0.25)),
            RULES["dps.differential"](RULES["dps.random-choice"](under(2, 0.5), under(20, 0.5), weight=0.0)),
        ),
        {},
        "releases and random-choice",
    ),
    "rates 0.9 and 0.001": (
        "choice.differential",
        lambda: lone(released(rate=0.9), released(rate=0.001)),
        {},
        "rate = ",
    ),
    "two releases against one": (
        "choice.differential",
        lambda: lone(compose(published(20, 0.25), published(20, 0.25)), published(20, 0.5)),
        {},
        "releases and sampled",
    ),
    "two releases against four": (
        "choice.differential",
        lambda: lone(compose(*[published(20, 0.25)] * 2), compose(*[published(20, 0.125)] * 4)),
        {},
        "releases of 2 and of 4 releases",
    ),
    "accuracy of another mechanism": (
        "zero-knowledge.sampler",
        lambda: lone(everybody(100.0), RULES["laplace.accurate"](scale=0.001, failure=0.1)),
        {"width": 3.0},
        "scale = ",
    ),
    "a crowd beside two releases in one": (
        "composition.blending-differential-both",
        lambda: lone(CROWDS, noisy(1.0), RULES["synopsis.counts"](noise_epsilon=1.0, sensitivity=1.0)),
        {},
        "histogram.laplace and synopsis.counts",
    ),
    "numbers of people": (
        "queries.useful",
        lambda: lone(sampler(9000), answers(500)),
        {"lipschitz": 1.0},
        "samples = ",
    ),
    "light ends of another population": (
        "graph.sharp.degree",
        lambda: lone(
            RULES["graph.estimator.light-ends"](degree_bound=50, average_bound=4.0, population=10, samples=8000)
        ),
        {"degree_bound": 50, "population": 9000, "scale": 2.5, "resolution": 0.001},
        "population = ",
    ),
    "light ends of another population, as published": (
        "graph.published.degree",
        lambda: lone(
            RULES["graph.sampler.light-ends"](
                degree_bound=50, average_bound=4.0, population=10, accuracy=0.3, samples=60_000
            )
        ),
        {"degree_bound": 50, "population": 9000, "scale": 2.5, "resolution": 0.001},
        "population = ",
    ),
    "another degree bound": (
        "graph.average-degree",
        lambda: lone(RULES["graph.sampler.average-degree"](degree_bound=50, accuracy=0.3, samples=600)),
        {"degree_bound": 5, "population": 1000, "scale": 0.9},
        "degree_bound = ",
    ),
    "another dimension": (
        "graph.sharp.histogram",
        lambda: lone(RULES["graph.estimator.histogram"](samples=400, population=1000, dimension=100)),
        {"dimension": 2, "population": 1000, "scale": 0.5, "resolution": 0.001},
        "dimension = ",
    ),
    "another degree bound of bands": (
        "graph.sharp.degrees",
        lambda: lone(RULES["graph.estimator.degrees"](samples=400, degree_bound=50, dimension=4)),
        {"degree_bound": 5, "dimension": 4, "population": 1000, "scale": 0.5, "resolution": 0.001},
        "degree_bound = ",
    ),
    "networks of two populations": (
        "composition.networks",
        lambda: lone(statistic(population=1000), statistic("eulerian", population=2000)),
        {},
        "population = ",
    ),
    "everybody of another population": (
        "differential.zero-knowledge",
        lambda: lone(
            RULES["sample-and-sanitize.differential"](
                RULES["opendp.measurement"](epsilon=0.5, delta=0.0), samples=100, population=1000
            )
        ),
        {"population": 10},
        "population = ",
    ),
}


@for_each("name", FALSE)
def test_false_statements_are_refused(name: str) -> None:
    rule_id, premises, parameters, reason = FALSE[name]
    with pytest.raises(NotApplicable, match=reason):
        RULES[rule_id](*premises(), **parameters)


@for_each("name", FALSE)
def test_certificates_of_false_statements_do_not_verify(name: str) -> None:
    rule_id, premises, parameters, reason = FALSE[name]
    made = forged(rule_id, premises(), **parameters)
    with pytest.raises(DoesNotVerify, match=f"The step {rule_id} does not apply to its premises: .*{reason}"):
        verify(with_derivation(made))


def test_one_sampling_is_not_counted_twice() -> None:
    """Suppression below 8 beside Laplace noise, of one sample: truly δ(0.7) ≥ 2.5e-3, and 2.6e-6 was claimed."""
    crowds, loud = RULES["histogram.suppressed"](k=8), RULES["histogram.laplace"](noise_epsilon=1.0)
    amplified = RULES["dps.differential"](RULES["sampling.amplification"](loud, rate=0.1))
    for premises in ((crowds, amplified), (crowds, amplified, RULES["differential.replace"](amplified))):
        rule_id = "composition.blending-differential" + ("-both" if len(premises) > 2 else "")
        with pytest.raises(NotApplicable, match=f"{rule_id} needs a mechanism that has not sampled yet"):
            RULES[rule_id](*premises)
    for losses in ((amplified, swapping()), (noisy(), RULES["differential.replace"](amplified))):
        with pytest.raises(NotApplicable, match="both needs a mechanism that has not sampled yet"):
            RULES["composition.blending-differential-both"].conclude(
                crowds.conclusion, *(loss.conclusion for loss in losses)
            )
    with pytest.raises(DoesNotVerify, match="has not sampled yet"):
        verify(with_derivation(forged("composition.blending-differential", (crowds, loud), beside=amplified)))
    assert compose(crowds, loud).conclusion.epsilon == 2.0


def test_guarantees_of_one_certificate_are_about_one_release() -> None:
    assert Certificate((relative(), released(), sampled(), CROWDS)).description == released().description
    for other, reason in (
        (released(rate=0.2), "rate = "),
        (compose(released(), released()), "sampled and releases"),
        (RULES["generalization.suppressed"](k=20), "histogram.suppressed and generalization.suppressed"),
        (NOISY, "sampled and histogram.laplace"),
    ):
        with pytest.raises(InvalidInput, match=f"about one release, and these .*{reason}"):
            Certificate((relative(), other))


def test_a_guarantee_of_a_part_is_no_guarantee_of_the_whole() -> None:
    both = compose(released(), RULES["dps.differential"](RULES["sampling.amplification"](NOISY, rate=0.1)))
    for part in (relative(), CROWDS, released()):
        with pytest.raises(InvalidInput, match="about one release"):
            Certificate((both, part))


def test_a_lower_rate_is_a_sample_at_that_rate() -> None:
    lowered = RULES["dps.lower-rate"](sampled(rate=0.2), rate=0.1)
    assert lowered.description == sampled().description
    mixed = RULES["dps.random-choice"](sampled(rate=0.2), sampled(30, rate=0.2), weight=0.25)
    again = RULES["dps.random-choice"](sampled(), sampled(30), weight=0.25)
    assert RULES["dps.lower-rate"](mixed, rate=0.1).description == again.description


def test_the_coin_of_a_random_choice_is_assumed() -> None:
    made = RULES["dps.random-choice"](sampled(), sampled(30), weight=0.25)
    assert [dict(found.numbers) for found in made.assumptions() if found.assumption.name == "RANDOM_CHOICE"] == [
        {"weight": 0.25}
    ]
