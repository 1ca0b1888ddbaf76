"""What cannot be composed is refused with one sentence, and what is badly put is sound: larger, never smaller."""

import json
import math
import re

import pytest

from crowdblend.errors import CrowdblendError, DoesNotVerify, Infeasible, InvalidInput, NotApplicable
from crowdblend.trusted.calculus import RULES, Certificate, Derivation, loss_curves, verify
from crowdblend.trusted.calculus.encoding import decode, encode
from crowdblend.trusted.calculus.loss_curves import delta_of, epsilon_of, grid_of, together
from crowdblend.trusted.guarantees.privacy import Differential, Relation
from crowdblend.trusted.guarantees.profiles import (
    AmplifiedCurve,
    ClosenessCurve,
    CrowdCurve,
    LossCurve,
    Profile,
    ReplacedCurve,
    Uses,
)
from crowdblend.trusted.numerics.loss_law import LossLaw
from tests import cases
from tests.cases import for_each

CROWDS = CrowdCurve(8, 0.0, 0.1)
ADD = Relation.ADD_REMOVE


def profile(*uses: Uses, relation: Relation = ADD) -> Profile:
    return Profile(uses, relation)


def sentence(refused: CrowdblendError) -> None:
    """One sentence, and a remedy."""
    text = str(refused)
    assert text.endswith(".")
    assert not re.search(r"[\n{}\[\]]", text)


def test_different_relations_are_refused_and_can_be_converted() -> None:
    added, replaced = profile(Uses(CROWDS, 3)), profile(Uses(ClosenessCurve(0.1, 0.0), 1), relation=Relation.REPLACE)
    with pytest.raises(NotApplicable, match="under one relation") as refused:
        RULES["composition.profiles"].conclude(added, replaced)
    sentence(refused.value)
    converted = RULES["profile.replaced"].conclude(added)
    both = RULES["composition.profiles"].conclude(converted, replaced)
    assert isinstance(both, Profile)
    assert epsilon_of(both, 1e-5) > epsilon_of(added, 1e-5)
    with pytest.raises(NotApplicable, match="add-remove"):
        RULES["profile.replaced"].conclude(replaced)
    with pytest.raises(InvalidInput):
        ReplacedCurve(ReplacedCurve(CROWDS))


@for_each("rule_id", ["survey.profile", "survey.strata-profile", "survey.groups-profile"])
def test_a_survey_of_people_who_are_not_all_protected_is_refused_whatever_the_form(rule_id: str) -> None:
    """By a curve, by one (ε, δ) as a profile, among other releases, and as a part; all do without exceptions."""
    crowds = RULES["histogram.suppressed"](k=20)

    def forms(exceptions: int) -> list[Derivation]:
        bias = {"low": 0.4, "high": 0.5, "exceptions": exceptions, "max_rate": 0.5}
        curve = RULES["profile.biased"](crowds, **bias)
        number = RULES["profile.differential"](RULES["robust.differential"](crowds, **bias, epsilon=1.0))
        unsampled = RULES["profile.differential"](RULES["histogram.laplace"](noise_epsilon=0.1))
        noise = RULES["profile.one-unequal-sample"](unsampled, **bias)
        part = RULES["profile.unequal-programme"](RULES["programme.part"](crowds, share=0.5), **bias)
        again = RULES["profile.differential"](RULES["profile.delta"](curve, epsilon=1.0))
        several = RULES["composition.profiles"](RULES["profile.crowds"](crowds, rate=0.5), number)
        stated = RULES["profile.differential"](RULES["differential.replace"](number.premises[0]))
        added = (curve, number, noise, part, again, several, RULES["composition.repeated"](number, releases=2))
        return [*map(RULES["profile.replaced"], added), stated]

    for made in forms(0):
        assert RULES[rule_id](made, samples=10, population=20).conclusion.relation is Relation.REPLACE
    for made in forms(3):
        with pytest.raises(NotApplicable, match=f"{rule_id} needs a release that protects whoever is asked") as refused:
            RULES[rule_id](made, samples=10, population=20)
        sentence(refused.value)


def test_a_guarantee_that_counts_on_a_sample_is_not_amplified_by_it_again() -> None:
    with pytest.raises(NotApplicable) as refused:
        RULES["profile.amplified"].conclude(Differential(1.0, 1e-6, ADD, samplings=1), rate=0.1)
    sentence(refused.value)


@for_each("curve", [CROWDS, AmplifiedCurve(1.0, 1e-8, 0.1), ReplacedCurve(CROWDS)])
def test_a_grid_that_is_too_coarse_gives_more_and_never_less(curve: LossCurve) -> None:
    uses = (Uses(curve, 10),)
    found = []
    for coarser in (1, 8, 64, 512):
        pair = together(uses, grid_of(uses) * coarser, 1e-16)
        both = [law.epsilon(1e-5) for law in (pair.up, pair.down)]
        found.append(math.inf if None in both else max(value for value in both if value is not None))
    assert found == sorted(found)
    assert found[-1] > 2 * found[0]


def test_a_grid_that_is_too_fine_is_coarsened() -> None:
    uses = (Uses(ClosenessCurve(10.0, 0.0), 2),)
    pair = together(uses, 1e-4, 1e-16)
    assert pair.up.spacing > 1e-4
    assert len(pair.up.masses) <= 1 << 14


def test_losses_beyond_every_grid_count_as_infinite() -> None:
    huge = profile(Uses(ClosenessCurve(500.0, 0.0), 2), Uses(CROWDS, 1))
    assert delta_of(huge, 1.0) == 1.0
    with pytest.raises(Infeasible, match="No epsilon reaches delta") as refused:
        epsilon_of(huge, 1e-6)
    sentence(refused.value)
    with pytest.raises(Infeasible):
        epsilon_of(profile(Uses(ClosenessCurve(0.1, 1e-3), 5)), 1e-6)


def test_mass_beyond_the_longest_law_goes_to_infinity(monkeypatch: pytest.MonkeyPatch) -> None:
    """A law that is cut short says more than one that is not."""
    whole = together((Uses(AmplifiedCurve(3.0, 0.0, 0.5), 30),), 1 / 64, 1e-16)
    monkeypatch.setattr("crowdblend.trusted.numerics.loss_law.LONGEST", 400)
    loss_curves.together.cache_clear()
    short = together((Uses(AmplifiedCurve(3.0, 0.0, 0.5), 30),), 1 / 64, 1e-16)
    loss_curves.together.cache_clear()
    for cut, law in ((short.up, whole.up), (short.down, whole.down)):
        assert len(cut.masses) <= 400
        if cut.spacing == law.spacing:
            end = max(law.first + len(law.masses), cut.first + len(cut.masses))
            places = range(0, end, 1 if cases.THOROUGH else 9)
            assert all(cut.delta(law.spacing * at) + 1e-15 >= law.delta(law.spacing * at) for at in places)
        for epsilon in (0.5, 2.0, 8.0):
            assert float(cut.delta(epsilon)) >= float(law.delta(epsilon)) * (1 - 1e-9)


def test_laws_on_two_grids_are_refused() -> None:
    one = together((Uses(CROWDS, 1),), 0.01, 1e-16).up
    with pytest.raises(ValueError, match="one grid"):
        one.beside(LossLaw(0.02, one.cut, one.first, one.masses, one.infinite))


@for_each(
    "make",
    [
        lambda: CrowdCurve(0, 0.0, 0.1),
        lambda: CrowdCurve(8, 0.0, 1.5),
        lambda: CrowdCurve(8, -1.0, 0.1),
        lambda: ClosenessCurve(0.1, 2.0),
        lambda: Uses(CROWDS, 0),
        lambda: Uses(CROWDS, -1),
        lambda: Profile(()),
        lambda: Profile((CROWDS,)),  # type: ignore[arg-type]
    ],
)
def test_numbers_outside_their_range_make_no_profile(make: object) -> None:
    with pytest.raises(InvalidInput) as refused:
        make()  # type: ignore[operator]
    sentence(refused.value)


def test_unknown_rules_and_curves_do_not_verify() -> None:
    series = RULES["composition.repeated"](
        RULES["profile.crowds"](RULES["histogram.suppressed"](k=8), rate=0.1), releases=10
    )
    text = Certificate((RULES["profile.epsilon"](series, delta=1e-5),)).to_json()
    verify(text)
    for old, new in (
        ("composition.repeated", "composition.imagined"),
        ("profile.crowds", "profile.nothing"),
        ('"releases": 10', '"releases": 9'),
    ):
        assert old in text
        with pytest.raises(DoesNotVerify) as refused:
            verify(text.replace(old, new))
        assert str(refused.value).endswith(".")
    document = encode(profile(Uses(CROWDS, 2)))
    document["uses"][0]["curve"]["kind"] = "ImaginedCurve"
    with pytest.raises(DoesNotVerify):
        decode(json.loads(json.dumps(document)))
