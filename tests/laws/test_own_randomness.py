"""Every rule whose proof multiplies laws assumes that what they are the laws of shares no coins.

Read off the proofs, rule by rule: a new rule fails here until somebody has read its proof and put it into one of the
lists. tests/truth/test_own_randomness.py breaks the guarantee of each rule of the first list by coins that are shared.
"""

from crowdblend.trusted.calculus import RULES, Assumption
from crowdblend.trusted.calculus.theorem import Rule
from crowdblend.trusted.guarantees.privacy import DifferentialUnderSampling
from tests.cases import for_each

TOGETHER = {Assumption.OWN_RANDOMNESS, Assumption.FRESH_SAMPLES}
NUMBERS = {made for made in Assumption if "noise" in made.value and made.numbers and made.name[:6] != "REPEAT"} | {
    Assumption.QUANTILE_LOSSES
}
ROWS_THAT_COUNT = {Assumption.ROWS_PER_PERSON, Assumption.SEVERAL_ROWS}
DRAWS = {made for made in Assumption if "other randomness" in made.value} | ROWS_THAT_COUNT

# Mechanisms, or one mechanism run on several parts, classes or groups.
OF_MECHANISMS = """
    composition.differential composition.adaptive composition.random-samples composition.iid-sampling
    composition.networks composition.blending-differential composition.blending-differential-both composition.profiles
    composition.repeated profile.steps programme.parts profile.programme profile.unequal-programme recoding.population
    recoding.split profile.recoding-population profile.recoding-split strata.worst strata.zero-knowledge
    strata.together strata.together-zero-knowledge profile.strata totals.together rows.own-coins quantile.groups
    quantile.add-remove
"""
# The noise or the coins of several numbers of one mechanism.
OF_NUMBERS = """
    histogram.noisy histogram.noisy-sampled histogram.laplace histogram.gaussian histogram.threshold points.noisy
    points.sampled profile.gaussian profile.threshold profile.noise-below-k profile.points profile.outliers
    outlier.histogram synopsis.counts synopsis.counts-useful synopsis.fitted-useful programme.part-noise-below-k
    programme.part-points register.rows register.total totals.sum totals.histogram totals.groups totals.add-remove
    quantile.everybody quantile.groups quantile.add-remove laplace.sample-complexity laplace.random-samples
    laplace.everybody laplace.accurate graph.connected graph.cycle-free graph.eulerian graph.average-degree
    graph.published.distance graph.published.degree graph.sharp.distance graph.sharp.degree graph.sharp.average
    graph.sharp.histogram graph.sharp.degrees graph.differential.degrees
    graph.differential.distance graph.differential.degree graph.differential.average
    graph.differential.histogram
"""
# A draw of people, of rows, of parts or of an order, and the mechanism that runs on what was drawn.
OF_DRAWS = """
    dps.random-choice dps.differential dps.zero-knowledge robust.differential robust.zero-knowledge
    sample-and-sanitize.plain sample-and-sanitize.doubled sample-and-sanitize.linear sample-and-sanitize.sharp
    sample-and-sanitize.differential programme.part programme.part-private programme.part-noise-below-k
    programme.part-points profile.crowds profile.noise-below-k profile.points profile.one-sample
    profile.one-unequal-sample profile.biased profile.amplified profile.programme profile.unequal-programme
    profile.recoding-split recoding.population recoding.split strata.at-one-rate strata.between-rates strata.copies
    strata.more-copies survey.profile survey.strata-profile survey.groups-profile rows.per-person rows.own-coins
    register.rows register.total
"""
# One mechanism, whose law is bounded as a whole; or the same release, about which something else is concluded.
OF_NOTHING = """
    dps.lower-rate dps.postprocessing differential.replace differential.group choice.sampling choice.differential
    choice.zero-knowledge graph.sampler.connected graph.sampler.cycle-free graph.sampler.eulerian
    graph.sampler.average-degree graph.sampler.light-ends graph.estimator.connected graph.estimator.eulerian
    graph.estimator.cycle-free graph.estimator.average-degree graph.estimator.light-ends graph.estimator.average
    graph.estimator.histogram graph.estimator.degrees
    zero-knowledge.group zero-knowledge.group-distance zero-knowledge.group-samples
    zero-knowledge.differential differential.zero-knowledge zero-knowledge.sampler histogram.suppressed
    generalization.suppressed blending.stated blending.postprocessing blending.differential outlier.differential
    opendp.measurement synopsis.exponential synopsis.exponential-useful score.published score.stated
    selection.exponential profile.differential profile.replaced profile.delta profile.epsilon profile.zero-knowledge
    profile.replace profile.group sampler.average queries.vc-accuracy queries.vc-samples queries.finite-class
    queries.useful strata.joint strata.joint-zero-knowledge survey.zero-knowledge totals.differential
    totals.zero-knowledge
"""
# Their conclusion says that a sample is drawn, and how; the rules that leave it assume the draw.
UNDER_SAMPLING = """
    sampling.amplification suppression.published suppression.exact blending.sharp blending.explicit
    blending.closed-form histogram.noisy-sampled points.sampled programme.parts
"""
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


def assuming(assumptions: set[Assumption]) -> set[str]:
    """Return the rules that assume one of these themselves."""
    return {rule.id for rule in RULES.values() if assumptions & {*rule.theorem.assumes}}


def combines(rule: Rule) -> bool:
    """Return whether the conclusion of a rule may be about several runs of mechanisms."""
    return rule.repeats or len(rule.premises) > 1 or "releases" in rule.parameters


@for_each(("multiplied", "assumptions"), [(OF_MECHANISMS, TOGETHER), (OF_NUMBERS, NUMBERS), (OF_DRAWS, DRAWS)])
def test_what_multiplies_laws_assumes_that_they_are_independent(multiplied: str, assumptions: set[Assumption]) -> None:
    assert {*multiplied.split()} == assuming(assumptions)


def test_every_proof_was_read() -> None:
    multiplying = {*OF_MECHANISMS.split(), *OF_NUMBERS.split(), *OF_DRAWS.split(), *UNDER_SAMPLING.split()}
    assert multiplying.isdisjoint(OF_NOTHING.split())
    assert multiplying | {*OF_NOTHING.split()} == {*RULES}


def test_mechanisms_that_are_combined_draw_randomness_of_their_own() -> None:
    assert {rule.id for rule in RULES.values() if combines(rule)} - {*OF_MECHANISMS.split()} == {*EXCEPTIONS}


def test_whoever_leaves_a_guarantee_under_sampling_assumes_the_draw() -> None:
    under = DifferentialUnderSampling
    leaving = {made.id for made in RULES.values() if under in made.premises and made.conclusion is not under}
    assert leaving == {"dps.differential", "dps.zero-knowledge", "strata.at-one-rate", "recoding.population"}
    assert leaving <= assuming(DRAWS)
    assert all(RULES[name].conclusion is under for name in UNDER_SAMPLING.split())


def test_draws_depend_on_nothing_else() -> None:
    """A mechanism that knew the coin of a sampled person could turn it into what it publishes."""
    assert all("and on randomness of its own, alone" in made.value for made in ROWS_THAT_COUNT)
    # Of the steward's word about a draw the rules say it; accuracy adds up failures, whatever they depend on.
    said_elsewhere = {Assumption.ASSUMED_RATE, Assumption.ASSUMED_SURVEY, Assumption.DRAWN_PEOPLE}
    drawn = ("a coin of its own", "that a coin", "were drawn", "was drawn, ", "handed", "by a coin")
    draws = {made for made in Assumption if any(words in made.value for words in drawn)}
    assert draws - DRAWS - {Assumption.QUANTILE_LOSSES} == said_elsewhere
    assert len(draws) >= 15


def test_noise_on_several_numbers_is_of_their_own() -> None:
    """The same noise on two cells would publish their difference exactly."""
    assert len(NUMBERS) >= 12
    assert all("of its own" in made.value or "of their own" in made.value for made in NUMBERS)
