"""An attack and its findings: one event, in two worlds that differ in one person."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import asdict, dataclass
from fractions import Fraction
from typing import Any

from flint import arb, fmpq

from crowdblend.errors import InvalidInput
from crowdblend.lab.auditing.statistical.bounds import clopper_pearson
from crowdblend.reading.figures.charts import Chart, Share, ShareChart
from crowdblend.trusted.numerics.balls import precision

# A trial compares four one-sided bounds, so a sound release is called broken at most once in a million times.
DOUBT = 2.5e-7


@dataclass(frozen=True)
class Chance:
    """A probability, between `low` and `high` for sure (computed) or but for a chance of DOUBT each (seen)."""

    value: Fraction | float
    low: Fraction | float
    high: Fraction | float
    runs: int | None = None

    @property
    def standard_error(self) -> float:
        """The standard error of the frequency; 0 when the chance was computed."""
        value = float(self.value)
        return math.sqrt(value * (1 - value) / self.runs) if self.runs else 0.0


def exact_chance(value: Fraction | float) -> Chance:
    """Return a chance that is known."""
    if not 0 <= value <= 1:
        raise InvalidInput(f"A chance must be between 0 and 1, got {float(value):g}. Check its formula.")
    return Chance(value, value, value)


def observed_chance(times: int, runs: int) -> Chance:
    """Return a chance that was observed, with its Clopper–Pearson bounds.

    >>> observed_chance(0, 1_000).high < 0.0152, observed_chance(500, 1_000).low > 0.41
    (True, True)
    """
    if not 0 <= times <= runs or runs < 1:
        raise InvalidInput(f"An event must be seen between 0 and {runs} times in {runs} runs, got {times}.")
    return Chance(Fraction(times, runs), *clopper_pearson(times, runs, DOUBT), runs)


@dataclass(frozen=True)
class Pair:
    """The chance of the event if it is true what the attacker asks, and if it is not."""

    hit: Chance
    miss: Chance

    @property
    def advantage(self) -> float:
        """The distance between the two chances: 0 tells nothing, 1 tells everything."""
        return float(self.hit.value) - float(self.miss.value)

    @property
    def right(self) -> float:
        """The probability of a right guess when both worlds are equally likely."""
        return (1 + self.advantage) / 2

    def to_dict(self) -> dict[str, Any]:
        """Return the pair as JSON-ready data."""
        document: dict[str, Any] = {
            "with": float(self.hit.value),
            "without": float(self.miss.value),
            "advantage": self.advantage,
            "right": self.right,
            "standard_error": math.hypot(self.hit.standard_error, self.miss.standard_error),
        }
        if self.hit.runs:
            document |= {"runs": self.hit.runs, "with_between": [float(self.hit.low), float(self.hit.high)]}
            document |= {"without_between": [float(self.miss.low), float(self.miss.high)]}
        return document


def exactly(hit: Fraction | float, miss: Fraction | float) -> Pair:
    """Return two chances that are known."""
    return Pair(exact_chance(hit), exact_chance(miss))


def in_runs(runs: int, counts: Callable[[bool], int]) -> Pair | None:
    """Return how often the event was seen in this many runs of either world; `counts` runs one of them and counts."""
    return Pair(observed_chance(counts(True), runs), observed_chance(counts(False), runs)) if runs else None


@dataclass(frozen=True)
class Bound:
    """The bound that an (ε, δ) guarantee sets an attacker, and whose guarantee it is.

    For every event P[event | one world] ≤ e^ε·P[event | other world] + δ, both ways round. Anyone who guesses between
    two equally likely worlds is then right at most (e^ε + δ)/(e^ε + 1) of the time: adding up "right in one world ≤
    e^ε·wrong in the other + δ" for both worlds gives a + b ≤ e^ε(2 − a − b) + 2δ, a and b the chances of being right.
    """

    epsilon: float
    delta: float
    source: str = ""

    def twice(self, source: str) -> Bound:
        """Return the sum of two such guarantees."""
        return Bound(2 * self.epsilon, 2 * self.delta, source)

    def allows(self, otherwise: Fraction | float) -> float:
        """Return the largest chance of an event with this one in the other world: the event and its opposite count."""
        growth, other = math.exp(self.epsilon), float(otherwise)
        return min(1.0, growth * other + self.delta, 1 - (1 - other - self.delta) / growth)

    @property
    def advantage(self) -> float:
        """The largest difference between the chances of an event in the two worlds."""
        growth = math.exp(self.epsilon)
        return min(1.0, (growth - 1 + 2 * self.delta) / (growth + 1))

    def surely_broken(self, one: Pair) -> bool:
        """Return whether the two chances contradict the guarantee, whatever they are within their bounds."""
        hit, miss = one.hit, one.miss
        pairs = [(hit.low, miss.high), (miss.low, hit.high), (1 - miss.high, 1 - hit.low), (1 - hit.high, 1 - miss.low)]
        with precision(256):  # in balls, so that a tie is no contradiction
            growth, delta = arb(self.epsilon).exp(), arb(self.delta)
            each = ([arb(fmpq(*chance.as_integer_ratio())) for chance in pair] for pair in pairs)
            return any(bool(chance > growth * otherwise + delta) for chance, otherwise in each)


@dataclass(frozen=True)
class Trial:
    """An attack on one release: what the attacker gets by computation and in runs, and what was guaranteed."""

    release: str
    ours: bool
    bound: Bound | None
    exact: Pair | None
    runs: Pair | None = None

    def exceeds(self, bound: Bound) -> bool:
        """Return whether either number contradicts a guarantee."""
        return any(bound.surely_broken(pair) for pair in (self.exact, self.runs) if pair is not None)

    @property
    def as_computed(self) -> bool:
        """True if the code did what was computed of it, as far as both are known.

        An event that a guarantee allows says little about the code: it may be as likely when nothing is suppressed.
        """
        if self.exact is None or self.runs is None:
            return True
        both = ((self.exact.hit, self.runs.hit), (self.exact.miss, self.runs.miss))
        return all(ran.low <= known.value <= ran.high for known, ran in both)

    @property
    def best(self) -> Pair:
        """The computed number where there is one."""
        pair = self.exact if self.exact is not None else self.runs
        assert pair is not None, "a trial has a number"
        return pair

    def to_dict(self) -> dict[str, Any]:
        """Return the trial as JSON-ready data."""
        document: dict[str, Any] = {"release": self.release, "ours": self.ours}
        if self.bound is not None:
            document["guarantee"] = asdict(self.bound)
            document["allowed"] = self.bound.allows(self.best.miss.value)
            document["allowed_advantage"] = self.bound.advantage
        pairs = {"exact": self.exact, "seen": self.runs}
        return document | {name: pair.to_dict() for name, pair in pairs.items() if pair is not None}


def unsafe(release: str, exact: Pair, runs: Pair | None = None, bound: Bound | None = None) -> Trial:
    """Return the trial of a release that looks safe, by what it is said to guarantee, if anything."""
    return Trial(release, False, bound, exact, runs)


def certain(release: str, event: Callable[[bool], bool]) -> Trial:
    """Return the trial of a release in which nothing is random: it runs once in each world."""
    return unsafe(release, exactly(Fraction(event(True)), Fraction(event(False))))


@dataclass(frozen=True)
class Finding:
    """The outcome of an attack: unsafe releases first, then ours on the same data."""

    trials: tuple[Trial, ...]
    guarantee: Bound
    """Ours. A release that guarantees nothing itself is measured by it."""
    chart: Chart
    remark: str = ""

    def broken(self, trial: Trial) -> bool:
        """Return whether the trial contradicts what its release guarantees, or what ours would have guaranteed."""
        return trial.exceeds(trial.bound or self.guarantee)

    @property
    def ours_hold(self) -> bool:
        """True if none of our releases gave more away than its certificate allows."""
        return not any(self.broken(trial) for trial in self.trials if trial.ours)

    @property
    def target_broken(self) -> bool:
        """True if the attack broke what it was made to break."""
        return any(self.broken(trial) for trial in self.trials if not trial.ours)

    @property
    def as_computed(self) -> bool:
        """True if all that was run did what was computed of it."""
        return all(trial.as_computed for trial in self.trials)


@dataclass(frozen=True)
class Attack:
    """A story, a question with two possible answers, and a way to find out."""

    name: str
    title: str
    source: str
    story: str
    event: str
    """What the attacker looks for in the publication."""
    question: str
    """How often the event happens, as a question above the chart."""
    worlds: tuple[str, str]
    """What is true when the event should be seen, and what is true otherwise."""
    trials: Callable[[int], tuple[Trial, ...]]
    """Computes the numbers, and runs the real code as often as it is told."""
    guarantee: Callable[[], Bound]
    remark: str | Callable[[], str] = ""
    chart: Callable[[], Chart] | None = None
    """A chart of its own; otherwise the chances of the event under every release."""

    def launch(self, runs: int) -> Finding:
        """Return what becomes of the attack, with this many runs of the real code in either world."""
        trials, guarantee = self.trials(runs), self.guarantee()
        remark = self.remark if isinstance(self.remark, str) else self.remark()
        if self.chart is not None:
            return Finding(trials, guarantee, self.chart(), remark)
        shares = []
        for trial in trials:
            hit, miss = float(trial.best.hit.value), float(trial.best.miss.value)
            # A release without a guarantee is marked with what ours would allow.
            shares.append(Share(trial.release, hit, miss, (trial.bound or guarantee).allows(miss)))
        return Finding(
            trials, guarantee, ShareChart(shares, self.worlds, self.question, mark="largest allowed"), remark
        )

    def to_dict(self, finding: Finding) -> dict[str, Any]:
        """Return the attack and its outcome as JSON-ready data."""
        return {
            "name": self.name,
            "title": self.title,
            "source": self.source,
            "story": self.story,
            "event": self.event,
            "worlds": {"with": self.worlds[0], "without": self.worlds[1]},
            "guarantee": asdict(finding.guarantee),
            "trials": [{**trial.to_dict(), "broken": finding.broken(trial)} for trial in finding.trials],
            "remark": finding.remark,
            "target_broken": finding.target_broken,
            "ours_hold": finding.ours_hold,
            "as_computed": finding.as_computed,
        }
