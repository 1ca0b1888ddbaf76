"""Every guarantee about people's rows assumes that nobody's row was computed from others' rows or links.

tests/truth/test_own_data.py shows by how much tables and shares of people are told apart where that is false.
"""

from crowdblend.trusted.calculus import RULES, Assumption
from crowdblend.trusted.calculus.description import Mechanism

# Each of them is about rows of people; what is about links moves with the links that are concealed.
ABOUT_ROWS = {
    *(Assumption.ONE_ROW_PER_PERSON, Assumption.ROWS_PER_PERSON, Assumption.FIXED_CLASSES, Assumption.STATED_MAP),
    *(Assumption.FIXED_CANDIDATES, Assumption.STATED_MECHANISM, Assumption.CONCEALED_ROWS, Assumption.STATED_RANGE),
}
# What they start from is about rows, and says so; or how far a person moves the statistic is stated itself.
ELSEWHERE = {
    *("differential.zero-knowledge", "survey.zero-knowledge", "totals.differential", "totals.zero-knowledge"),
    *("sample-and-sanitize.plain", "sample-and-sanitize.doubled", "sample-and-sanitize.linear"),
    *("sample-and-sanitize.sharp", "zero-knowledge.sampler", "laplace.everybody"),
}
ACCURACY = {"graph.estimator.average"}


def test_whatever_is_about_rows_assumes_that_a_row_is_its_person_s_alone() -> None:
    about = {rule.id for rule in RULES.values() if ABOUT_ROWS & {*rule.theorem.assumes}}
    said = {rule.id for rule in RULES.values() if Assumption.OWN_DATA_ONLY in rule.theorem.assumes}
    assert about - ELSEWHERE - ACCURACY == said
    assert {*ELSEWHERE, *ACCURACY} <= about - said


def test_every_mechanism_is_about_rows_or_about_links() -> None:
    """A mechanism without premises is where rows come in."""
    private = {"CrowdBlending", "Differential", "DifferentialUnderSampling", "OutlierPrivate", "Profile", "NoisyTotals"}
    alone = {rule.id for rule in RULES.values() if isinstance(rule.about, Mechanism) and not rule.premises}
    of_people = {name for name in alone if RULES[name].conclusion.__name__ in {*private, "ZeroKnowledge"}}
    said = {name for name in of_people if Assumption.OWN_DATA_ONLY in RULES[name].theorem.assumes}
    of_links = {f"graph.differential.{name}" for name in ("distance", "degree", "degrees")}
    assert of_people - said == of_links | {"laplace.everybody"}
    assert Assumption.STATED_SENSITIVITY in RULES["laplace.everybody"].theorem.assumes
