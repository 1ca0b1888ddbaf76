"""What promises take for granted, as sentences with the numbers of the step that needs them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import Enum
from string import Formatter
from typing import Any

from crowdblend.guarantees.wording import exactly


class Assumption(Enum):
    """A sentence for the first lines of a certificate; {names} stand for numbers of the step that assumes it."""

    ASSUMED_RATE = (
        "The table was already collected by sampling: the sampling rate is the data holder's assumption, "
        "and nobody has checked it."
    )
    ROWS_ARE_PEOPLE = "Every row is taken to be another person: the data holder says so, and nobody has checked."
    STATED_MECHANISM = (
        "The release mechanism is crowd-blending with k = {k} and epsilon = {blend_epsilon}; nobody checked it here."
    )
    STATED_MAP = (
        "OpenDP's privacy map gave epsilon = {epsilon} and delta = {delta} for one replaced row; it is taken at its "
        "word, and a concealed row is read as one fixed value of the measurement's domain."
    )
    ONE_ROW_PER_PERSON = "Each person contributes at most one row."
    FIXED_CLASSES = "Classes, categories and bounds were fixed before anybody looked at the data."
    STATED_RANGE = "Values lie in a range of (L1) length {width} that was fixed before anybody looked at the data."
    STATED_SENSITIVITY = "The statistic moves by at most {sensitivity} (in L1) when one person's data are concealed."
    INDEPENDENT_SAMPLING = "Each person was kept or left out by an independent coin with probability {rate}."
    ROBUST_SAMPLING = (
        "Each person was kept or left out by an independent coin with a probability of 0 or between {low} and {high}; "
        "at most {exceptions} people otherwise."
    )
    PROTECTED_PEOPLE = "Protected is whoever was sampled with a probability of at most {max_rate}, and nobody else."
    OWN_PROBABILITY = "A person's sampling probability may depend on that person's own row, never on others'."
    FIXED_SIZE_SAMPLING = "Exactly {samples} of {population} people were drawn, uniformly and without replacement."
    DRAWN_PEOPLE = "Exactly {samples} people were drawn, uniformly and without replacement."
    FIXED_CANDIDATES = (
        "The candidates and how they are scored were fixed before anybody looked at the data, or follow from what was "
        "published before."
    )
    BOUNDED_SCORE = "One person more or less moves the score of every candidate by at most {sensitivity}."
    SCORED_BY_PUBLISHED = (
        "Every candidate was scored by the people whom sampling at rate {rate} and suppression below {counted_from} "
        "would publish of its classes on average, in units of 1/4096 person and times what a class keeps, at most "
        "{parts}; each person who decides stands for at most {stands_for}."
    )
    EXACT_CHOICE = "The choice is drawn exactly, from a secret source of randomness."
    CHOOSING_PART = (
        "Each sampled person went to the part that chooses the recoding by an independent coin with probability "
        "{share}, and else to the released part."
    )
    RANDOM_ORDER = "The drawn people are handed to the mechanism in random order, or it ignores their order."
    SECRET_SAMPLE = (
        "Nobody whom the promise protects against knows of anybody whether they were sampled; where crowds count, each "
        "person known to be sampled costs that person's crowd one of its k."
    )
    SINGLE_RELEASE = (
        "From a sample nothing is published beyond the release certified for it; any other release draws a sample of "
        "its own."
    )
    FRESH_SAMPLES = "Releases that are added up each draw their own independent sample and noise."
    OWN_RANDOMNESS = "Steps that are added up each draw randomness of their own."
    EXACT_NOISE = "The noise is drawn exactly, from a secret source of randomness."
    SCORES_SHOWN = "At most {dimension} scores are shown, with noise for that many."
    NOISE_BELOW_K = "The noise below k hides one person more or less up to a factor e^{noise_epsilon}."
    NOISE_ON_POINTS = (
        "Every point has noise of its own, independent of all others', which hides where in its block the point was "
        "up to a factor e^{noise_epsilon}."
    )
    NOISE_BY_SIZE = (
        "The noise on every bin is discrete Laplace of its own, with the loss that the derivation states for the size "
        "of the bin."
    )
    SHUFFLED_POINTS = "The published points are in an order that does not depend on whose they are."
    DISCRETE_LAPLACE = "The noise is discrete Laplace with loss {noise_epsilon} per person."
    NOISE_ON_TOTALS = (
        "The noise on every total is discrete Laplace on whole numbers, with the loss per step that the derivation "
        "states."
    )
    BOUNDED_PARTS = (
        "Nobody adds more steps to a total than the derivation states; bounds, grid, bins and conditions were fixed "
        "before anybody looked at the data."
    )
    MOVED_COUNTS = "Replacing one person's data moves the noisy counts by at most {sensitivity} in total."
    ALL_CELLS = "Every cell of the declared domain takes part, the empty ones too."
    CONCEALED_ROWS = "The mechanism accepts a concealed row and treats it like any other value."
    BOUNDED_DEGREE = "Nobody has more than {degree_bound} links, and this bound is public."
    BOUNDED_AVERAGE = "People have at most {average_bound} links on average, and this bound is public."
    GRID_NOISE = (
        "Noise is discrete Laplace of scale {scale} on multiples of {resolution}, drawn exactly, from a secret source "
        "of randomness."
    )
    PUBLIC_SIZE = "The number of people in the population is public."

    @property
    def numbers(self) -> tuple[str, ...]:
        """The names of the numbers that the sentence needs."""
        return tuple(name for _, name, _, _ in Formatter().parse(self.value) if name)

    def sentence(self, values: Mapping[str, Any]) -> str:
        """The assumption with its numbers, exact as they are."""
        return self.value.format(**{name: exactly(values[name]) for name in self.numbers})


# An assumption and the sentence that one step makes of it.
Assumed = tuple[Assumption, str]


def in_order(assumed: Iterable[Assumed]) -> tuple[str, ...]:
    """Each sentence once, in the order of the enumeration."""
    places = {assumption: place for place, assumption in enumerate(Assumption)}
    ranked = sorted(assumed, key=lambda pair: places[pair[0]])
    return tuple(dict.fromkeys(sentence for _, sentence in ranked))
