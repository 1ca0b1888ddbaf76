"""Which releases have curves, and certificates of releases that were composed by them."""

import json
import math

import pytest

from crowdblend.errors import DoesNotVerify, Infeasible, InvalidInput, NotApplicable
from crowdblend.methods.planning.plan import plan
from crowdblend.trusted.calculus import RULES, Certificate, Derivation, verify
from crowdblend.trusted.calculus.loss_curves import unequal_part_delta
from crowdblend.trusted.calculus.profiles import compose_profiles, profile_of
from crowdblend.trusted.guarantees.aggregates import IidSampling, Together
from crowdblend.trusted.guarantees.profiles import BiasedCurve, ClosenessCurve, CrowdCurve, LossCurve, Profile, Uses
from crowdblend.trusted.guarantees.programme import OneSampleCurve, StrataCurve
from tests.cases import for_each
from tests.trusted.calculus.documents import resealed

CHOICE = RULES["selection.exponential"](RULES["score.stated"](sensitivity=1.0, monotone=True), epsilon=0.5)
CROWDS = RULES["histogram.suppressed"](k=20)


def suppressed(k: int = 20, rate: float = 0.1, epsilon: float = 1.0) -> Derivation:
    return RULES["dps.differential"](
        RULES["suppression.exact"](RULES["histogram.suppressed"](k=k), rate=rate, epsilon=epsilon)
    )


def released(rule_id: str, *premises: Derivation, **parameters: object) -> Derivation:
    return RULES["dps.differential"](RULES[rule_id](*premises, **parameters))


PARTS = tuple(RULES["programme.part"](CROWDS, share=share) for share in (0.5, 0.25))
LAPLACE = RULES["histogram.laplace"](noise_epsilon=1.0)
KNOWN = {
    "CrowdCurve": suppressed(),
    "ProgrammeCurve": released("programme.parts", *PARTS, rate=0.5, epsilon=1.0),
    "OneSampleCurve": RULES["profile.delta"](
        RULES["profile.one-sample"](RULES["profile.steps"](*[RULES["profile.differential"](LAPLACE)] * 2), rate=0.1),
        epsilon=0.3,
    ),
    "UnequalSampleCurve": RULES["profile.delta"](
        RULES["profile.one-unequal-sample"](
            RULES["profile.differential"](LAPLACE), low=0.05, high=0.1, exceptions=2, max_rate=0.2
        ),
        epsilon=0.3,
    ),
    "UnequalProgrammeCurve": RULES["profile.delta"](
        RULES["profile.unequal-programme"](*PARTS, low=0.05, high=0.1, exceptions=2, max_rate=0.2), epsilon=0.3
    ),
    "StrataCurve": RULES["strata.worst"](
        *(
            RULES["strata.at-one-rate"](RULES["suppression.exact"](CROWDS, rate=rate, epsilon=1.0))
            for rate in (0.1, 0.3)
        )
    ),
    "NoisyCountCurve": released("histogram.noisy-sampled", k=6, noise_epsilon=2.0, rate=0.1, epsilon=1.0, flag=False),
    "PointCurve": released("points.sampled", k=20, noise_epsilon=1.0, rate=0.1, epsilon=1.0),
    "AmplifiedCurve": released("sampling.amplification", LAPLACE, rate=0.1),
    "BiasedCurve": RULES["robust.differential"](CROWDS, low=0.08, high=0.1, exceptions=3, max_rate=0.2, epsilon=1.2),
    "SplitCurve": RULES["recoding.split"](CHOICE, CROWDS, rate=0.2, share=0.25, epsilon=0.5),
    "OutlierCurve": RULES["outlier.differential"](
        RULES["outlier.histogram"](epsilon=0.2, transition=5, limit=15, factor=2.0)
    ),
    "GaussianCurve": RULES["histogram.gaussian"](sigma=20.0, epsilon=0.2),
    "ThresholdCurve": RULES["histogram.threshold"](noise_epsilon=1.0, show_from=15),
    **{
        name: RULES["profile.delta"](
            RULES[rule_id](RULES["profile.replaced"](RULES["profile.differential"](LAPLACE)), samples=1, population=10),
            epsilon=0.1,
        )
        for name, rule_id in (("SurveyCurve", "survey.profile"), ("GroupSurveyCurve", "survey.groups-profile"))
    },
    "ClosenessCurve": LAPLACE,
}


@for_each("name", KNOWN)
def test_every_rule_with_a_curve_enters_with_it(name: str) -> None:
    made = profile_of(KNOWN[name])
    (use,) = made.conclusion.uses
    assert (type(use.curve).__name__, use.releases) == (name, 1)
    assert made.description == KNOWN[name].description


def test_strata_of_which_one_has_no_curve_enter_by_their_epsilon_and_delta() -> None:
    """To leave that stratum out would leave its people without a guarantee."""
    known = RULES["strata.at-one-rate"](RULES["suppression.exact"](CROWDS, rate=0.1, epsilon=1.0))
    lowered = RULES["dps.lower-rate"](RULES["suppression.exact"](CROWDS, rate=0.5, epsilon=1.0), rate=0.4)
    unknown = RULES["strata.at-one-rate"](lowered)
    for strata in ((known, unknown), (unknown, known), (unknown,)):
        worst = RULES["strata.worst"](*strata)
        (use,) = profile_of(worst).conclusion.uses
        assert use.curve == ClosenessCurve(worst.conclusion.epsilon, worst.conclusion.delta)
        assert worst.conclusion.delta == unknown.conclusion.delta


@for_each("name", KNOWN)
def test_a_single_release_by_its_curve_is_no_worse_than_it_was(name: str) -> None:
    """At the δ that was derived, ε is the same but for the grid, or smaller."""
    before = KNOWN[name].conclusion
    after = RULES["profile.epsilon"](profile_of(KNOWN[name]), delta=max(before.delta, 1e-12)).conclusion
    assert after.epsilon <= before.epsilon * 1.01


def test_every_curve_is_reached() -> None:
    """But for that of replaced data, which follows from any other (profile.replaced), and those that are stated."""
    derived = {kind.__name__ for kind in LossCurve.__subclasses__() if not kind.__module__.endswith("_curves")}
    assert set(KNOWN) == derived - {"ReplacedCurve"}


def test_planned_releases_have_the_curve_of_their_mechanism() -> None:
    for given in ({"below_k": "suppress"}, {"below_k": "noise"}, {"form": "moved", "noise_epsilon": 0.5}):
        certificate = plan(rate=0.1, epsilon=1.0, delta=1e-6, **given).certificate()
        differential = next(made for made in certificate.derivations if made.conclusion == certificate.differential())
        (use,) = profile_of(differential).conclusion.uses
        assert not isinstance(use.curve, ClosenessCurve)


def test_a_choice_on_the_population_is_composed_with_the_release() -> None:
    sampled = RULES["suppression.exact"](CROWDS, rate=0.1, epsilon=1.0)
    uses = profile_of(RULES["recoding.population"](CHOICE, sampled)).conclusion.uses
    assert uses == (Uses(ClosenessCurve(0.5, 0.0), 1), Uses(CrowdCurve(20, 0.0, 0.1), 1))


def test_other_guarantees_have_no_profile() -> None:
    with pytest.raises(InvalidInput, match="differential guarantee"):
        profile_of(CROWDS)


def test_a_stratum_between_rates_has_the_curve_of_a_biased_sample_without_exceptions() -> None:
    strata = [RULES["strata.between-rates"](CROWDS, low=low, high=0.3, epsilon=1.0) for low in (0.1, 0.2)]
    (use,) = profile_of(RULES["strata.worst"](*strata)).conclusion.uses
    assert use.curve == StrataCurve(tuple(BiasedCurve(20, 0.0, low, 0.3, 0, 0.3) for low in (0.1, 0.2)))


@for_each("most", [0.1, 0.5, 0.9, 1.0])
def test_nobody_is_likelier_in_an_unequal_sample_than_its_largest_rate(most: float) -> None:
    """Of two answers, one e times as likely: the larger divergence of their mixture and of one of them."""
    sampled = RULES["profile.one-unequal-sample"](
        RULES["profile.differential"](LAPLACE), low=0.05, high=0.1, exceptions=1, max_rate=most
    )
    for epsilon in (0.02, 0.1, 0.5):
        likely, rare, growth = math.e / (1 + math.e), 1 / (1 + math.e), math.exp(epsilon)
        up = most * likely + (1 - most) * rare - growth * rare
        down = likely - growth * (most * rare + (1 - most) * likely)
        delta = RULES["profile.delta"](sampled, epsilon=epsilon).conclusion.delta
        assert delta == pytest.approx(max(up, down, 0), abs=1e-12)


def test_equal_parts_of_an_unequal_sample_count_as_often_as_they_are_there() -> None:
    """The mean over the parts of which the person is in one: of equal parts what any of them adds."""
    part = RULES["programme.part"](CROWDS, share=0.25)
    whole = RULES["profile.unequal-programme"](part, part, part, low=0.05, high=0.1, exceptions=0, max_rate=0.1)
    (use,) = whole.conclusion.uses
    alone = unequal_part_delta(use.curve, part.conclusion, 0.3)
    assert RULES["profile.delta"](whole, epsilon=0.3).conclusion.delta == pytest.approx(alone, rel=1e-9)


def test_equal_releases_are_counted_and_others_listed() -> None:
    ten = compose_profiles([suppressed(8)] * 10)
    assert (ten.rule.id, ten.conclusion.releases) == ("composition.repeated", 10)
    both = compose_profiles([suppressed(8), suppressed(9)])
    assert (both.rule.id, len(both.conclusion.uses)) == ("composition.profiles", 2)
    listed = RULES["composition.profiles"](*[profile_of(suppressed(8))] * 10)
    assert listed.conclusion == ten.conclusion


def test_the_numbers_of_ten_and_of_fifty_years() -> None:
    """Ten releases at rate 0.1 and k = 8, each (1, 2.33e-7), are (1.072…, 2.33e-6) together; fifty come to 1.48."""
    once = suppressed(8)
    assert once.conclusion.delta < 2.33e-7
    for times, most in ((10, 1.0725), (50, 1.481)):
        together = RULES["profile.epsilon"](compose_profiles([once] * times), delta=times * 2.33e-7).conclusion
        assert most * 0.99 < together.epsilon < most


def test_certificates_of_a_series_are_small_and_verify() -> None:
    ten = compose_profiles([suppressed(8)] * 10)
    shown = RULES["profile.epsilon"](ten, delta=1e-5)
    relative = RULES["profile.zero-knowledge"](ten, epsilon=shown.conclusion.epsilon)
    text = Certificate((shown, relative)).to_json()
    assert len(text) < 12_000
    again = verify(text)
    assert again.to_json() == text
    assert again.zero_knowledge().aggregate == IidSampling(0.1, 10)  # type: ignore[union-attr]
    listed = {made.assumption.name for made in again.assumptions()}
    assert {"FRESH_SAMPLES", "FIXED_SERIES", "REPEATED_RELEASES"} <= listed


@for_each("edit", ["releases", "k", "epsilon", "rate"])
def test_edits_of_a_series_do_not_verify(edit: str) -> None:
    shown = RULES["profile.epsilon"](compose_profiles([suppressed(8)] * 3), delta=1e-5)
    document = json.loads(Certificate((shown,)).to_json())

    def edited(node: object) -> None:
        if isinstance(node, dict):
            for name, value in node.items():
                if name == edit and isinstance(value, int | float):
                    node[name] = value + 1 if isinstance(value, int) else value * 0.99
                else:
                    edited(value)
        elif isinstance(node, list):
            for part in node:
                edited(part)

    # Every place that says so, so that only the recomputed conclusion gives it away.
    edited(document["derivations"] if edit != "epsilon" else document["derivations"][0]["conclusion"])
    with pytest.raises(DoesNotVerify):
        verify(resealed(document))


def test_samples_of_several_rates_are_one_aggregate_each() -> None:
    made = RULES["composition.profiles"](*(profile_of(suppressed(8, rate)) for rate in (0.1, 0.2, 0.1)))
    relative = RULES["profile.zero-knowledge"](made, epsilon=1.0).conclusion
    assert relative.aggregate == Together((IidSampling(0.1, 2), IidSampling(0.2, 1)))
    with pytest.raises(NotApplicable, match="sample"):
        RULES["profile.zero-knowledge"](compose_profiles([suppressed(), LAPLACE]), epsilon=1.0)


def test_more_than_delta_lost_whatever_epsilon_is_refused() -> None:
    with pytest.raises(Infeasible, match="Raise delta"):
        RULES["profile.epsilon"](compose_profiles([suppressed(2, 0.5)] * 3), delta=1e-3)


@for_each("uses", [(), (1,), (Uses(3, 1),)])  # type: ignore[arg-type]
def test_a_profile_holds_uses_of_curves(uses: tuple[Uses, ...]) -> None:
    with pytest.raises(InvalidInput, match="uses of at least one curve"):
        Profile(uses)


def test_samples_are_in_one_order_whatever_the_order_of_their_uses() -> None:
    each = ((0.1, 0.5), (0.1, 0.3), (0.05, 0.5))
    uses = [Uses(OneSampleCurve(rate, (Uses(ClosenessCurve(loss, 0.0), 2),)), 1) for rate, loss in each]
    assert Profile(tuple(uses)) == Profile(tuple(uses[::-1]))
