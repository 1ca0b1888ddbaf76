"""Every parameter by its one name: what it may be, and what to do when it is not.

The same spelling means the same thing in the library, the command line, policies and certificates, so one table
checks them all.
"""

from __future__ import annotations

import math
import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from numbers import Number
from pathlib import Path
from types import NoneType

from crowdblend.errors import InvalidInput


@dataclass(frozen=True)
class Parameter:
    """The range of a parameter, and the remedy in a message that refuses a value."""

    low: float
    high: float
    remedy: str
    whole: bool = False
    low_open: bool = False
    high_open: bool = False

    def allows(self, value: object) -> bool:
        """Return whether a value is a number of the right kind and inside the range."""
        kinds = (int,) if self.whole else (int, float)
        if isinstance(value, bool) or not isinstance(value, kinds) or value != value:  # noqa: PLR0124  NaN
            return False
        above = value > self.low if self.low_open else value >= self.low
        below = value < self.high if self.high_open else value <= min(self.high, sys.float_info.max)
        return above and below

    def words(self) -> str:
        """Return the range in plain words."""
        kind = "a whole number" if self.whole else "a number"
        if math.isinf(self.high):
            return f"{kind} {'above' if self.low_open else 'of at least'} {self.low:g}"
        ends = " (exclusive)" if self.low_open and self.high_open else ""
        if self.low_open != self.high_open:
            ends = f" ({self.low if self.low_open else self.high:g} excluded)"
        high = f"{self.high:,.0f}" if self.high > 9999 else f"{self.high:g}"
        return f"{kind} between {self.low:g} and {high}{ends}"


def _whole(low: int, remedy: str, high: float = math.inf) -> Parameter:
    return Parameter(low, high, remedy, whole=True)


def _positive(remedy: str) -> Parameter:
    return Parameter(0, math.inf, remedy, low_open=True)


_RATE = "Pass the share of people kept, for example 0.1."
_DELTA = "Pass the probability that is added on top of the factor, for example 1e-6."
_EPSILON = "Pass the privacy loss, for example 1.0."

# Parts of one sample, and by how much the doubles that stand for their shares may add up to more than 1.
MOST_PARTS = 100
SHARES_ROUNDING = 1e-12

PARAMETERS = {
    # guarantees
    "epsilon": Parameter(0, 1e6, _EPSILON),
    "delta": Parameter(0, 1, _DELTA),
    "inner_epsilon": Parameter(0, 1e6, _EPSILON),
    "rho": Parameter(0, 1e5, "Pass the loss of zero-concentrated privacy, for example 0.5.", low_open=True),
    "k": _whole(1, "Pass the crowd size, the person included, for example 20.", 10**9),
    "people": _whole(1, "Pass how many people are protected together."),
    # sampling
    "rate": Parameter(0, 1, _RATE, low_open=True, high_open=True),
    "low": Parameter(
        0, 1, "Pass the smallest sampling probability of the people who can be sampled.", low_open=True, high_open=True
    ),
    "high": Parameter(0, 1, "Pass the largest ordinary sampling probability.", low_open=True, high_open=True),
    "exceptions": _whole(0, "Pass how many people may be sampled with any probability."),
    "max_rate": Parameter(0, 1, "Pass the largest sampling probability of a protected person.", low_open=True),
    "samplings": _whole(0, "Pass how many times the mechanism samples people before it looks at them."),
    "rounds": _whole(1, "Pass how many independent samples are drawn."),
    "share": Parameter(0, 1, "Pass the share of the sample, for example 0.2.", low_open=True, high_open=True),
    "releases": _whole(1, "Pass how many releases there are, each from a sample of its own.", 10**6),
    # mechanisms
    "blend_epsilon": Parameter(0, 700, "Pass how far members of one crowd may be told apart; 0 for suppression."),
    "noise_epsilon": Parameter(0, 700, "Pass the privacy loss of the noise, for example 1.0.", low_open=True),
    "sigma": Parameter(0.5, 20_000, "Pass the standard deviation of the noise, for example 20."),
    "show_from": _whole(1, "Pass the smallest noisy count that is shown, for example 15.", 10**9),
    "transition": _whole(1, "Pass t, over how many people the noise fades."),
    "limit": _whole(1, "Pass K, the size from which a bin is no outlier.", 10**5),
    "factor": Parameter(1, 1000, "Pass c, by how much the guarantee is weaker than the noise, for example 2."),
    "size": _whole(0, "Pass the size of the crowd."),
    # zero-knowledge mechanisms
    "samples": _whole(0, "Pass how many people the aggregate looks at."),
    "population": _whole(1, "Pass how many people there are."),
    "accuracy": _positive("Pass the error that the estimate keeps to."),
    "failure": Parameter(0, 1, "Pass the probability that the estimate misses its accuracy."),
    "sensitivity": Parameter(0, math.inf, "Pass how far one person moves the statistic."),
    "scale": _positive("Pass the scale of the Laplace noise."),
    "width": _positive("Pass the length of the interval of possible values."),
    "dimension": _whole(1, "Pass how many numbers are released, or the VC dimension of the class."),
    "lipschitz": Parameter(0, math.inf, "Pass how far the converter stretches errors; 1 for fractions."),
    "weight": Parameter(0, 1, "Pass the probability of the first mechanism."),
    # totals
    "grid_steps": _whole(1, "Pass how many steps of the grid lie between the two bounds of a value.", 2**53),
    "bins": _whole(1, "Pass how many bins the histogram has.", 10**6),
    "step": Parameter(0, math.inf, "Pass how far one person and rounding move the totals, in units of their noise."),
    "drift": Parameter(0, math.inf, "Pass the standard deviations of one person's part, in units of the noise."),
    "reach": Parameter(0, math.inf, "Pass how far one person moves it, or it strays, in units of the noise."),
    "copies": _whole(1, "Pass as how many equal people a person of the stratum counts.", 10**12),
    # quantiles
    "numerator": _whole(1, "Pass a of the a/b-quantile, for example 1.", 10**6),
    "denominator": _whole(2, "Pass b of the a/b-quantile, for example 2.", 10**6),
    # synopses
    "queries": _whole(1, "Pass how many queries the class has."),
    "universe": _whole(1, "Pass how many different rows are possible."),
    "rows": _whole(1, "Pass how many synthetic rows are published."),
    "addends": _whole(1, "Pass how many noisy counts the answer to one query adds up."),
    "rows_per_person": _whole(1, "Pass how many rows of a person are kept at most.", 10**6),
    "slack": _positive("Pass how far beyond the noise the fit may stay."),
    # choosing
    "counted_from": _whole(1, "Pass the size from which classes count; k where everybody decides.", 10**9),
    "stands_for": _whole(1, "Pass how many people of the population one person who decides stands for."),
    "parts": _whole(1, "Pass how many parts there are: tables of one sample, or values that a class can keep."),
    "steps": _whole(1, "Pass among how many choices the budget is divided, for example 4.", 100),
    # graphs
    "degree_bound": _whole(2, "Pass the public bound on everybody's number of links."),
    "explored": _whole(1, "Pass how many vertices each exploration visits."),
    "radius": _whole(0, "Pass how many steps each exploration goes."),
    "average_bound": _positive("Pass the public bound on the average number of links."),
    "resolution": _positive("Pass the step of the grid that published numbers lie on."),
    "least_scale": Parameter(0, math.inf, "Pass the smallest scale of noise that the statement is for."),
}


def check(name: str, value: object) -> None:
    """Refuse a value outside the range of the parameter of that name."""
    parameter = PARAMETERS[name]
    if not parameter.allows(value):
        message = f"{name} must be {parameter.words()}, got {brief(value)}."
        raise InvalidInput(message, remedy=parameter.remedy, where=name, code="parameter.range")


def check_ends(low: float, high: float) -> None:
    """Refuse two ends of an interval in the wrong order."""
    if low > high:
        raise InvalidInput(f"low must be at most high = {high:g}, got {low:g}. Swap them.")


def check_type(name: str, value: object, kinds: type | tuple[type, ...], words: str) -> None:
    """Refuse an argument of another type; `words` say what it takes."""
    if not isinstance(value, kinds):
        message = f"{name} takes {words}, got {type(value).__name__}."
        raise InvalidInput(message, remedy=f"Pass {words}.", where=name, code="argument.type")


def path_of(name: str, value: str | os.PathLike[str]) -> Path:
    """Return an argument as a path; refuse what is none."""
    check_type(name, value, (str, os.PathLike), "the path of a folder or file")
    return Path(value)


def check_progress(progress: Callable[..., object] | None) -> None:
    """Refuse what cannot be called while work goes on."""
    if progress is not None and not callable(progress):
        message = f"progress takes a function, got {type(progress).__name__}."
        raise InvalidInput(message, remedy="Pass print, or leave it out.", where="progress", code="argument.type")


# What a message may show of arguments: a frame that was passed by mistake holds records.
_SHOWN = (str, bytes, Number, date, NoneType)


def brief(value: object) -> str:
    """Return a given value in a message, cut where it is long; of another type than plain ones only its name."""
    if isinstance(value, type):
        return f"the class {value.__name__}"
    if isinstance(value, list | tuple):
        text = f"[{', '.join(map(brief, value[:20]))}]"
        return text if len(text) <= 60 else text[:57] + "…"
    if not isinstance(value, _SHOWN):
        return f"a value of the type {type(value).__name__}"
    text = hex(value) if isinstance(value, int) and value.bit_length() > 1000 else repr(value)
    return text if len(text) <= 60 else text[:57] + "…"


class CheckedFields:
    """A frozen dataclass whose fields are checked by name when it is made."""

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if name in PARAMETERS:
                check(name, value)
