"""What may be promised beside what, and what it comes to."""

from fractions import Fraction

import pytest

from crowdblend.errors import DoesNotCompose, InvalidInput
from crowdblend.ledger import Ledger
from crowdblend.trusted.calculus import Assumption, compose
from crowdblend.trusted.calculus.rules.mechanisms import histogram_suppressed
from crowdblend.trusted.guarantees.aggregates import Exploration, IidSampling, RandomSamples
from crowdblend.trusted.guarantees.privacy import (
    CrowdBlending,
    Differential,
    DifferentialUnderSampling,
    Relation,
    ZeroKnowledge,
)
from tests.cases import for_each
from tests.ledger.spendings import DATA, DIGEST, planned, shared, spending

DIFFERENTIAL = Differential(0.5, 0.0, Relation.ADD_REMOVE)
UNDER_SAMPLING = DifferentialUnderSampling(0.1, 0.5, 1e-9)


def spend(ledger: Ledger, *arguments, **named) -> int:
    entry = ledger.begin(spending(*arguments, **named))
    ledger.finish(entry, certificate_digest=DIGEST, data_sha256=DATA)
    return entry


def test_an_entry_keeps_what_was_promised(ledger: Ledger) -> None:
    entry = ledger.entry(spend(ledger))
    assert entry.spending == spending()
    assert (entry.id, entry.status, entry.key) == (1, "finished", "destroyed")
    assert (entry.certificate_digest, entry.data_sha256) == (DIGEST, DATA)
    assert entry.created.endswith("+00:00")
    assert entry.software.startswith("crowdblend ")


def test_a_second_release_from_one_sample_is_refused_with_the_theorem(ledger: Ledger) -> None:
    ledger.begin(shared())
    crowds = histogram_suppressed(k=20)
    with pytest.raises(DoesNotCompose) as theory:
        compose(crowds, crowds)
    with pytest.raises(DoesNotCompose) as refused:
        ledger.begin(shared())
    reason, _, remedy = str(theory.value).partition("; ")
    assert refused.value.message == f"Release 1 has already used this sample. {reason}."
    assert refused.value.remedy == f"{remedy.capitalize()} Or resume release 1, which is unfinished."
    assert refused.value.code == "same-sample"
    assert len(ledger.entries()) == 1


def test_another_name_of_the_population_is_the_same_sample(ledger: Ledger) -> None:
    ledger.begin(shared(population="residents"))
    with pytest.raises(DoesNotCompose, match="CBP Proposition 7"):
        ledger.begin(shared(population="inhabitants"))


def test_a_sample_called_fresh_twice_is_not_fresh(ledger: Ledger) -> None:
    ledger.begin(spending("draw-1"))
    with pytest.raises(DoesNotCompose):
        ledger.begin(spending("draw-1", population="others"))


@pytest.mark.parametrize("drawn_first", [True, False])
def test_drawing_from_a_table_that_is_a_published_sample_is_refused(ledger: Ledger, drawn_first: bool) -> None:
    both = [spending("draw-1", population="survey.parquet"), shared("survey.parquet", "residents")]
    ledger.begin(both[drawn_first])
    with pytest.raises(DoesNotCompose):
        ledger.begin(both[not drawn_first])


@pytest.mark.parametrize(
    ("first", "second", "source"),
    [
        ((UNDER_SAMPLING,), (UNDER_SAMPLING,), "LQS 2.2"),
        ((UNDER_SAMPLING,), (DIFFERENTIAL,), "LQS 2.6"),
        ((DIFFERENTIAL,), (UNDER_SAMPLING,), "LQS 2.6"),
        ((UNDER_SAMPLING,), (CrowdBlending(20, 0.0),), "LQS 2.6 and CBP Proposition 7"),
        ((CrowdBlending(20, 0.0),), (CrowdBlending(5, 1.0), DIFFERENTIAL), "CBP Proposition 7"),
        ((CrowdBlending(20, 0.0), DIFFERENTIAL), (DIFFERENTIAL,), "basic composition"),
        ((DIFFERENTIAL,), (DIFFERENTIAL,), "basic composition"),
    ],
)
def test_every_pair_from_one_sample_is_refused_with_its_reason(ledger: Ledger, first, second, source) -> None:
    ledger.begin(spending("one", fresh=False, guarantees=first))
    with pytest.raises(DoesNotCompose) as refused:
        ledger.begin(spending("one", fresh=False, guarantees=second))
    assert f". {source}: " in str(refused.value)


def test_what_does_not_add_up_must_be_alone(ledger: Ledger) -> None:
    ledger.begin(spending("one", guarantees=(CrowdBlending(20, 0.0),)))
    with pytest.raises(DoesNotCompose, match=r"composition\.differential"):
        ledger.begin(spending("two"))
    ledger.begin(spending("three", population="others"))


def test_fresh_samples_add_up_rounding_outward(ledger: Ledger) -> None:
    for number in range(10):
        spend(ledger, f"draw-{number}")
    budget = ledger.budget("residents")
    each = spending().differential
    assert each is not None
    assert budget.releases == tuple(range(1, 11))
    assert Fraction(budget.differential.epsilon) >= 10 * Fraction(each.epsilon)
    assert Fraction(budget.differential.delta) >= 10 * Fraction(each.delta)
    assert budget.differential.epsilon == pytest.approx(10 * each.epsilon, rel=1e-15)
    assert budget.zero_knowledge.aggregate == IidSampling(0.1, 10)
    assert budget.assumptions == (Assumption.FRESH_SAMPLES,)


def test_other_rates_add_up_differentially_only(ledger: Ledger) -> None:
    spend(ledger, "one")
    spend(ledger, "two", guarantees=planned(rate=0.2))
    budget = ledger.budget("residents")
    assert budget.zero_knowledge is None
    assert budget.differential.epsilon == 2.0


def test_one_release_costs_what_it_promises(ledger: Ledger) -> None:
    ledger.begin(shared())
    budget = ledger.budget("residents")
    assert budget.differential == shared().differential
    assert isinstance(budget.zero_knowledge, ZeroKnowledge)
    assert budget.assumptions == (Assumption.ASSUMED_RATE,)


def test_losses_for_groups_are_not_mixed_in(ledger: Ledger) -> None:
    ledger.begin(spending(guarantees=(Differential(0.1, 0.0, Relation.ADD_REMOVE, people=2),)))
    assert ledger.budget("residents").differential is None


def test_releases_about_a_network_add_up_under_their_own_relation(ledger: Ledger) -> None:
    network = (
        ZeroKnowledge(0.5, 0.0, Exploration(100, 20), Relation.CONCEAL),
        Differential(0.2, 0.0, Relation.REPLACE),
    )
    ledger.begin(spending("one", guarantees=network))
    ledger.begin(spending("two", guarantees=network))
    budget = ledger.budget("residents")
    assert budget.differential == Differential(0.4, 0.0, Relation.REPLACE)
    assert budget.zero_knowledge.aggregate == Exploration(200, 20)
    # A planned table promises more, and the replaced person is what all have in common.
    ledger.begin(spending("three"))
    assert ledger.budget("residents").differential.relation is Relation.REPLACE
    assert ledger.budget("residents").differential.epsilon > 0.4
    assert ledger.budget("residents").zero_knowledge is None


def test_where_somebody_can_only_be_replaced_all_losses_are_of_that_kind(ledger: Ledger) -> None:
    spend(ledger, "one", guarantees=(Differential(0.1, 0.0, Relation.REPLACE),))
    spend(ledger, "two", guarantees=(Differential(0.25, 0.0, Relation.ADD_REMOVE),))
    together = ledger.budget("residents").differential
    assert together.relation is Relation.REPLACE
    assert Fraction(0.1) + 2 * Fraction(0.25) <= Fraction(together.epsilon) < Fraction(0.6) * (1 + Fraction(1, 10**9))


def _relative_to(samples: int, epsilon: float, population: int = 1000) -> tuple[ZeroKnowledge, Differential]:
    drawn = RandomSamples(samples, population)
    return ZeroKnowledge(epsilon, 0.0, drawn, Relation.CONCEAL), Differential(epsilon, 0.0, Relation.REPLACE)


def test_numbers_of_random_people_and_losses_add_up(ledger: Ledger) -> None:
    """ZKP Proposition 2."""
    spend(ledger, "one", guarantees=_relative_to(30, 0.1))
    spend(ledger, "two", guarantees=_relative_to(50, 0.2))
    together = ledger.budget("residents").zero_knowledge
    assert together.aggregate == RandomSamples(80, 1000)
    assert Fraction(together.epsilon) >= Fraction(0.1) + Fraction(0.2)
    assert together.epsilon == pytest.approx(0.3, rel=1e-15)


def test_samples_of_different_populations_do_not_add_up(ledger: Ledger) -> None:
    spend(ledger, "one", guarantees=_relative_to(30, 0.1))
    spend(ledger, "two", guarantees=_relative_to(50, 0.2, population=2000))
    spend(ledger, "three", population="others", guarantees=_relative_to(50, 0.2))
    assert ledger.budget("residents").zero_knowledge is None
    relative = [
        [one.people for one in ledger.budget(name).for_group(3) if isinstance(one, ZeroKnowledge)]
        for name in ("residents", "others")
    ]
    assert relative == [[], [3]]


def test_table_releases_and_statistics_stand_beside_each_other(ledger: Ledger) -> None:
    spend(ledger, "one")
    spend(ledger, "two", guarantees=_relative_to(30, 0.1))
    budget = ledger.budget("residents")
    assert budget.zero_knowledge is None
    assert budget.differential.relation is Relation.REPLACE
    assert budget.differential.epsilon >= 2.1


def test_populations_are_apart(ledger: Ledger) -> None:
    spend(ledger, "one", population="here")
    spend(ledger, "two", population="there")
    assert [(budget.population, budget.releases) for budget in ledger.budgets()] == [("here", (1,)), ("there", (2,))]
    assert ledger.budget("nowhere").differential is None


def test_a_release_is_finished_once(ledger: Ledger) -> None:
    entry = ledger.begin(spending())
    ledger.finish(entry, certificate_digest=DIGEST, data_sha256=DATA)
    with pytest.raises(InvalidInput, match="finished already"):
        ledger.finish(entry, certificate_digest=DATA, data_sha256=DATA)
    assert ledger.entry(entry).certificate_digest == DIGEST


@pytest.mark.parametrize("digest", ["", "AB" * 32, "ab" * 31, "xy" * 32, None])
def test_digests_are_digests(ledger: Ledger, digest) -> None:
    entry = ledger.begin(spending())
    with pytest.raises(InvalidInput, match="SHA-256"):
        ledger.finish(entry, certificate_digest=DIGEST, data_sha256=digest)


@for_each("name", ["", "  ", "two\nlines", "\x1b[31m", "x" * 1001, None, "\ud800"])
def test_names_are_names(name) -> None:
    with pytest.raises(InvalidInput, match="population"):
        spending(population=name)


def test_a_release_promises_something() -> None:
    with pytest.raises(InvalidInput, match="at least one"):
        spending(guarantees=())


def test_an_unknown_release(ledger: Ledger) -> None:
    for call in (ledger.entry, ledger.key):
        with pytest.raises(InvalidInput, match="no release 7"):
            call(7)
