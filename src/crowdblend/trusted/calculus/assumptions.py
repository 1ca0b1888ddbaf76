"""Assumptions of guarantees: ids, the numbers of the step that needs them, and sentences."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from string import Formatter

from crowdblend.trusted.guarantees.wording import exactly


class Assumption(Enum):
    """An id, and its sentence, in which {names} stand for numbers of the step that makes the assumption.

    {name:yes|no} stands for one of two texts. Certificates hold ids and numbers only, so a sentence may be improved;
    an id keeps its meaning for ever.
    """

    ASSUMED_RATE = (
        "The table was already collected by sampling: that a coin of its own decided about each person, and at which "
        "rate, is the data holder's assumption, and nobody has checked it. A survey of a fixed number of people, or of "
        "quotas, households or volunteers, is no such sample, and this certificate does not hold for it."
    )
    ASSUMED_SURVEY = (
        "The table is a survey that was drawn before: that the stated number of people were drawn at random, each set "
        "of them equally likely, is the data holder's assumption, and nobody has checked it."
    )
    ROWS_ARE_PEOPLE = "Every row is taken to be another person: the data holder says so, and nobody has checked."
    IDS_OF_THE_TABLE = (
        "Identifiers number the rows of this table only, and the same identifier in another table is taken to be "
        "another person: the data holder says so, and nobody has checked."
    )
    STATED_MECHANISM = (
        "The release mechanism is crowd-blending with k = {k} and epsilon = {blend_epsilon}; nobody checked it here."
    )
    STATED_MAP = (
        "OpenDP's privacy map gave epsilon = {epsilon} and delta = {delta} for one replaced row; it is taken at its "
        "word, and a concealed row is read as one fixed value of the measurement's domain."
    )
    ONE_ROW_PER_PERSON = "Each person contributes at most one row."
    OWN_DATA_ONLY = (
        "What a person's rows hold depends on that person alone: nothing in them was computed from the rows or links "
        "of others, as a rank, the mean or the size of a household and a number of friends or neighbours are."
    )
    ROWS_PER_PERSON = (
        "Of each person's rows at most {rows_per_person} count; which ones depends on that person's rows, and on "
        "randomness of its own, alone."
    )
    SEVERAL_ROWS = (
        "At most {rows_per_person} rows of each person count, copies of a row included; which ones depends on that "
        "person's rows, and on randomness of its own, alone. What is said of a person who contributes one row holds of "
        "each of these rows, but that one coin may decide about several of them."
    )
    ROWS_OWN_COINS = (
        "At most {rows_per_person} rows of each person count, no two of them in one class (for points: block); which "
        "ones depends on that person's rows, and on randomness of its own, alone. A coin of its own, independent of "
        "all other randomness, decided about every row, and what is published of a class depends on the rows of that "
        "class alone. What is said of a person who contributes one row, and of the coin of a person, holds of each of "
        "these rows."
    )
    SMALL_CLASSES_DROPPED = "Classes (for points: blocks) with fewer than {k} people in the sample are not published."
    FIXED_CLASSES = "Classes, categories and bounds were fixed before anybody looked at the data."
    PROPOSED_DOMAINS = (
        "Some labels or bounds were proposed from the data, by an earlier release about everybody whose loss is part "
        "of this guarantee. Classes are called fixed once these are known."
    )
    STATED_RANGE = "Values lie in a range of (L1) length {width} that was fixed before anybody looked at the data."
    STATED_SENSITIVITY = "The statistic moves by at most {sensitivity} (in L1) when one person's data are concealed."
    INDEPENDENT_SAMPLING = (
        "Each person was kept or left out with probability {rate}, by a coin of its own, independent of all other "
        "randomness."
    )
    ROBUST_SAMPLING = (
        "Each person was kept or left out with a probability of 0 or between {low} and {high}, at most {exceptions} "
        "people otherwise, by a coin of its own, independent of all other randomness."
    )
    STRATUM_AT_RATE = (
        "Each person of one stratum was kept or left out with probability {rate}, by a coin of its own, independent of "
        "all other randomness."
    )
    STRATUM_BETWEEN_RATES = (
        "Each person of one stratum was kept or left out with a probability of 0 or between {low} and {high}, by a "
        "coin of its own, independent of all other randomness."
    )
    FIXED_STRATA = (
        "The strata were fixed before anybody looked at the data, each person is in one of them, and every published "
        "class lies within one; what is assumed of a k, a rate or noise holds in the stratum that has it."
    )
    STRATA_TOGETHER = (
        "The strata were fixed before anybody looked at the data, and each person is in one of them. Every crowd lies "
        "within one; noise may count the people of several. What is assumed of a k, a rate, copies or noise holds in "
        "the stratum that has it."
    )
    COPIES = (
        "Each person of one stratum was kept or left out with a probability of 0 or between {low} and {high}, by a "
        "coin of its own, independent of all other randomness, and if kept counts at most {copies} times in everything "
        "that is published; how often depends on that person's own row alone."
    )
    ONE_STRATUM = (
        "The strata were fixed before anybody looked at the data, and each person is in one of them; what is assumed "
        "of a rate and of copies holds in the stratum that has it."
    )
    PROTECTED_PEOPLE = "Protected is whoever was sampled with a probability of at most {max_rate}, and nobody else."
    OWN_PROBABILITY = "A person's sampling probability may depend on that person's own row, never on others'."
    FIXED_SIZE_SAMPLING = (
        "Exactly {samples} of {population} people were drawn, uniformly, without replacement and independently of all "
        "other randomness."
    )
    FIXED_SIZES_BY_STRATUM = (
        "In every stratum a fixed, public number of people was drawn, at most {samples} in {population} of them, "
        "uniformly, without replacement and independently of all other randomness. The strata were fixed before "
        "anybody looked at the data, and what is replaced is not the stratum of a person."
    )
    GROUPS_DRAWN = (
        "Exactly {samples} of {population} groups of people were drawn, uniformly, without replacement and "
        "independently of all other randomness, each with all of its people; what is replaced is not the group of a "
        "person."
    )
    DRAWN_PEOPLE = "Exactly {samples} people were drawn, uniformly and without replacement."
    FIXED_CANDIDATES = (
        "The candidates and how they are scored were fixed before anybody looked at the data, or follow from what was "
        "published before."
    )
    BOUNDED_SCORE = (
        "One person more or less moves the score of every candidate by at most "
        "{sensitivity}{monotone:, and a further person never lowers one|}."
    )
    SCORED_BY_PUBLISHED = (
        "Every candidate was scored by the people whom sampling at rate {rate} and suppression below {counted_from} "
        "would publish of its classes on average, in units of 1/4096 person and times what a class keeps, at most "
        "{parts}; each person who decides stands for at most {stands_for}."
    )
    CHOICE_WEIGHTS = (
        "A candidate is chosen with probability proportional to e^({epsilon}·score/({monotone:1|2}·{sensitivity}))."
    )
    SYNOPSIS_WEIGHTS = (
        "Synthetic rows are chosen with probability proportional to e^(−{epsilon}·k·d/2), where d is the largest "
        "difference between the shares of a query among them and among the k people drawn."
    )
    EXACT_CHOICE = "The choice is drawn exactly, from a secret source of randomness."
    CHOOSING_PART = (
        "Each sampled person went to the part that chooses the recoding with probability {share}, by a coin of its "
        "own, independent of all other randomness, and else to the released part."
    )
    RANDOM_PART = (
        "Each sampled person went to one part of the sample at most, by a coin of its own, independent of all other "
        "randomness; to the part of one publication with probability {share}."
    )
    RANDOM_ORDER = (
        "The drawn people are handed to the mechanism in random order, independent of all other randomness, or it "
        "ignores their order."
    )
    RANDOM_CHOICE = (
        "One of the two mechanisms was run and the other was not: the first with probability {weight}, by a coin that "
        "depends neither on the data nor on other randomness."
    )
    SECRET_SAMPLE = (
        "No adversary covered by this guarantee knows whether a given person was sampled. Where people are hidden in "
        "crowds, each of them known to be sampled lowers the k of their crowd by one."
    )
    SINGLE_RELEASE = (
        "From a sample nothing is published beyond the release certified for it; any other release draws a sample of "
        "its own."
    )
    ONE_SURVEY = (
        "Of a survey everything that is published is certified together; what is published of another survey was drawn "
        "independently of it."
    )
    SAMPLE_NOT_COMPARED = (
        "The table was not compared with that of every earlier release: that none of them used it is assumed, and "
        "nobody has checked."
    )
    OTHER_PEOPLE = (
        "Some identifiers agree with those of another population, as small numbers do by chance. That the people are "
        "others is taken on trust: the data holder says so, and nobody has checked."
    )
    STATED_LOSSES = (
        "Some of these losses were spent by other tools: a person stated them, and nobody derived or checked them. "
        "None was computed from a sample that another release used."
    )
    CLUSTER_HOLDS_KEY = (
        "The sample was drawn on a cluster, whose machines and operators held the secret key of the draw while it was "
        "read: they are trusted as the data holder is, and nobody has checked."
    )
    FRESH_SAMPLES = "Releases that are added up each draw their own independent sample and noise."
    FIXED_SERIES = (
        "Rules and parameters of releases that are composed by profiles do not depend on what earlier ones published; "
        "what is tabulated may."
    )
    REPEATED_RELEASES = (
        "The release is repeated: {releases} such releases in all, each with a sample and noise of its own."
    )
    OWN_RANDOMNESS = (
        "Mechanisms whose results are published together, those for several parts, strata, classes or groups too, each "
        "draw randomness of their own."
    )
    EXACT_NOISE = "The noise is drawn exactly, from a secret source of randomness."
    ONE_NUMBER = "One number is published."
    LAPLACE_NOISE = "Every published number carries Laplace noise of scale {scale} of its own."
    NOISE_BELOW_K = (
        "Counts of {k} and more are exact; each smaller one carries noise of its own, which hides one person more or "
        "less up to a factor e^{noise_epsilon}."
    )
    DISCRETE_LAPLACE_BELOW_K = (
        "Counts of {k} and more are exact; each smaller one carries discrete Laplace noise of its own with loss "
        "{noise_epsilon} per person. Published counts {flag:say|do not say} whether they are exact."
    )
    NOISE_ON_POINTS = (
        "Every point has noise of its own, independent of all others', which hides where in its block the point was "
        "up to a factor e^{noise_epsilon}."
    )
    NOISE_BY_SIZE = (
        "Every bin has discrete Laplace noise of its own. Its loss is {epsilon} for bins of {limit} − {transition} and "
        "more people, and {transition}·{epsilon}/({limit} − j) for smaller bins of j people."
    )
    SHUFFLED_POINTS = "The published points are in an order that does not depend on whose they are."
    LAPLACE_PER_ROW = "Every number carries discrete Laplace noise of its own with loss {noise_epsilon} per row."
    DISCRETE_LAPLACE = "Every count carries discrete Laplace noise of its own with loss {noise_epsilon} per person."
    NOISY_TOTAL = (
        "Each person adds between 0 and {grid_steps} whole steps to a total, which carries discrete Laplace noise of "
        "its own with loss {noise_epsilon} per step. Bounds, grid and conditions were fixed before anybody looked at "
        "the data."
    )
    NOISY_BINS = (
        "Each person is in at most one of {bins} bins, whose counts carry discrete Laplace noise of their own with "
        "loss {noise_epsilon}. Bins and conditions were fixed before anybody looked at the data."
    )
    NOISY_GROUPS = (
        "Each person adds whole steps, at most {grid_steps} in all and none of them negative, to the published totals "
        "({bins} in number), which carry discrete Laplace noise of their own with loss {noise_epsilon} per step. "
        "Bounds, grid, groups and conditions were fixed before anybody looked at the data."
    )
    QUANTILE_LOSSES = (
        "A candidate for the {numerator}/{denominator}-quantile gets a coin of its own with heads of probability "
        "e^(−{noise_epsilon}·d/2), where d is by how much its loss exceeds the least one, in units of 1/{denominator} "
        "person; its loss is how far the wanted rank is outside the ranks that it has. One candidate with heads is "
        "published, each equally likely."
    )
    PUBLIC_RANK = "The wanted rank follows from the number of people alone, which is public; concealed rows count."
    ONE_GROUP = "Each person is in at most one group, and every group has a choice of its own, the empty ones too."
    MOVED_COUNTS = "Replacing one person's data moves the noisy counts by at most {sensitivity} in total."
    FIXED_QUERIES = "The class of {queries} queries was fixed before anybody looked at the data."
    FIXED_DIMENSION = (
        "The class of queries has VC dimension {dimension} and was fixed before anybody looked at the data."
    )
    COUNTED_ANSWERS = "The answer to a query adds up at most {addends} noisy counts."
    FITTED_ROWS = (
        "{rows} synthetic rows are drawn from a distribution that fits all noisy answers up to a slack of {slack}."
    )
    CHOSEN_ROWS = "The candidates are all tables of {rows} synthetic rows out of {universe} possible ones."
    CONVERTED_ANSWERS = "Converting an answer stretches its error by at most a factor of {lipschitz}."
    FIXED_SHARES = "Published are the shares of {dimension} classes, fixed before anybody looked at the data."
    ALL_CELLS = "Every cell of the declared domain takes part, the empty ones too."
    DISCRETE_GAUSSIAN = (
        "Every count carries discrete Gaussian noise of its own: y with a probability proportional to "
        "e^(−y²/(2·{sigma}²))."
    )
    SHOWN_FROM_THRESHOLD = (
        "Only cells in which somebody is take part. Each carries discrete Laplace noise of its own with loss "
        "{noise_epsilon} per person, and is shown, with its labels, where the noisy count is {show_from} or more; of "
        "the others nothing is published, not even that they are there."
    )
    CONCEALED_ROWS = "The mechanism accepts a concealed row and treats it like any other value."
    BOUNDED_DEGREE = "Nobody has more than {degree_bound} links, and this bound is public."
    BOUNDED_AVERAGE = "People have at most {average_bound} links on average, and this bound is public."
    GRID_NOISE = (
        "Every number carries discrete Laplace noise of its own, of scale {scale} on multiples of {resolution}, drawn "
        "exactly, from a secret source of randomness."
    )
    PUBLIC_SIZE = "The number of people in the population is public: {population}."

    @cached_property
    def numbers(self) -> tuple[str, ...]:
        """The names of the numbers that the sentence needs."""
        return tuple(dict.fromkeys(name for _, name, _, _ in Formatter().parse(self.value) if name))

    @property
    def pattern(self) -> str:
        """The sentence with names in the place of numbers."""
        shown = []
        for text, name, spec, _ in Formatter().parse(self.value):
            shown.append(text)
            if name:
                shown.append(f"[{spec.replace('|', ' / ')}]" if spec else f"{{{name}}}")
        return "".join(shown)

    def with_numbers(self, values: Mapping[str, float]) -> StepAssumption:
        """Return the assumption as one step makes it; of the values, it takes those that it needs."""
        return StepAssumption(self, tuple((name, values[name]) for name in self.numbers))


# What several chapters assume of rows, of a table, of one with noise, of one that is exact from k on, and of points.
ROWS = (Assumption.ONE_ROW_PER_PERSON, Assumption.OWN_DATA_ONLY)
TABLE = (*ROWS, Assumption.FIXED_CLASSES)
NOISY_TABLE = (*TABLE, Assumption.EXACT_NOISE)
BELOW_K = (*NOISY_TABLE, Assumption.DISCRETE_LAPLACE_BELOW_K, Assumption.ALL_CELLS)
MOVED_POINTS = (
    *(*NOISY_TABLE, Assumption.SMALL_CLASSES_DROPPED),
    *(Assumption.NOISE_ON_POINTS, Assumption.SHUFFLED_POINTS),
)
_PLACES = {assumption: place for place, assumption in enumerate(Assumption)}
_EVERYBODY = (
    "All {} people are counted and nobody is drawn: what is assumed of a sample is said of everybody, and nothing has "
    "to be secret about it."
)


@dataclass(frozen=True)
class StepAssumption:
    """An assumption with the numbers of a step that makes it."""

    assumption: Assumption
    numbers: tuple[tuple[str, float], ...] = ()

    def sentence(self) -> str:
        """Return the assumption in words; the certificate has its numbers in full."""
        numbers = dict(self.numbers)
        if self.assumption is Assumption.FIXED_SIZE_SAMPLING and numbers["samples"] == numbers["population"]:
            return _EVERYBODY.format(_short(numbers["population"]))
        shown = []
        for text, name, spec, _ in Formatter().parse(self.assumption.value):
            shown.append(text)
            if name and spec:
                yes, no = spec.split("|")
                shown.append(yes if numbers[name] else no)
            elif name:
                shown.append(_short(numbers[name]))
        return "".join(shown)

    def to_dict(self) -> dict[str, object]:
        """Return the assumption as JSON-ready data: its id and its numbers."""
        return {"id": self.assumption.name, "parameters": dict(self.numbers)}


def _short(number: float) -> str:
    """Return a number as it is, or to six digits where it has more than ten characters.

    >>> _short(0.044696403769342447), _short(0.99999999999), _short(1e-06), _short(120000)
    ('0.0446964', '1', '1e-06', '120,000')
    """
    if isinstance(number, int):
        return f"{number:,}"
    whole = exactly(number)
    return whole if len(whole) <= 10 else f"{number:.6g}"


def in_order(assumptions: Iterable[StepAssumption]) -> tuple[StepAssumption, ...]:
    """Return each assumption once with the same numbers, in the order of the enumeration."""
    return tuple(dict.fromkeys(sorted(assumptions, key=lambda made: _PLACES[made.assumption])))
