"""Rules that combine mechanisms assume that these do not share their coins, or there is a reason why they may."""

from crowdblend.calculus import RULES, Assumption
from crowdblend.calculus.theorem import Rule
from tests.cases import for_each

SAID_BY = {Assumption.OWN_RANDOMNESS, Assumption.FRESH_SAMPLES}
_ONE_RELEASE = "all premises are about one release, with one randomness"
# Rules with several premises that hold whatever coins the mechanisms share.
EXCEPTIONS = {
    "choice.sampling": _ONE_RELEASE,
    "choice.differential": _ONE_RELEASE,
    "choice.zero-knowledge": _ONE_RELEASE,
    "zero-knowledge.sampler": _ONE_RELEASE,
    "queries.useful": "failures of the sample and of the sanitizer are added, which holds for any joint law",
    "dps.random-choice": "one mechanism is run only, and RANDOM_CHOICE says that the coin depends on nothing else",
}


def combines(rule: Rule) -> bool:
    """Whether the conclusion of a rule may be about several runs of mechanisms."""
    return rule.repeats or len(rule.premises) > 1 or "releases" in rule.parameters


@for_each("rule_id", [rule.id for rule in RULES.values() if combines(rule)])
def test_mechanisms_that_are_combined_draw_randomness_of_their_own(rule_id: str) -> None:
    assert bool(SAID_BY & {*RULES[rule_id].theorem.assumes}) is not (rule_id in EXCEPTIONS)


def test_every_exception_is_a_rule_that_combines() -> None:
    assert all(combines(RULES[rule_id]) for rule_id in EXCEPTIONS)


def test_noise_on_several_numbers_is_of_their_own() -> None:
    """The same noise on two cells would publish their difference exactly."""
    described = [made for made in Assumption if "noise" in made.value and made.numbers]
    assert len(described) >= 12
    assert all("of its own" in made.value or "of their own" in made.value for made in described)
