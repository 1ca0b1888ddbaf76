"""The release in plain words. Whatever is rounded here is rounded against the release."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from typing import Any

from crowdblend.calculus import Assumption, Certificate, Derivation
from crowdblend.guarantees import CrowdBlending, Differential, Relation
from crowdblend.report.folder import Folder

MOST_NAMED = 5


def title(columns: tuple[str, ...], counted: bool) -> str:
    """What was published, by its columns."""
    named = listed(columns) if len(columns) <= MOST_NAMED else f"{', '.join(columns[:MOST_NAMED])} and others"
    return f"{'Counts of people by' if counted else 'Records of people:'} {named}" if columns else "A count of people"


def listed(names: Iterable[str]) -> str:
    """Names as one says them.

    >>> listed(["age", "sex", "region"])
    'age, sex and region'
    """
    *first, last = names
    return f"{', '.join(first)} and {last}" if first else last


def everyday(promise: Differential) -> list[str]:
    """What differential privacy means to somebody who has never heard of it."""
    factor, sure = math.exp(promise.epsilon), 1 / (1 + math.exp(-promise.epsilon))
    if promise.epsilon > 20:
        return []
    sentences = [
        f"Whether your data were used or not, anything that anybody may see in this release is almost equally likely: "
        f"at most {_up(factor, 2):g} times as likely one way as the other.",
        f"Somebody who thought it as likely as not that your data were used could be at most {_up(100 * sure, 1):g} % "
        "sure after studying everything published here.",
    ]
    if promise.delta > 0:
        sentences.append(f"These limits may fail with a probability of at most {chance(promise.delta)}.")
    return sentences


def chance(delta: float) -> str:
    """A probability as 'one in …', never smaller than it is.

    >>> chance(9.7e-07), chance(0.3), chance(0.9)
    ('1 in 1,030,000', '1 in 3', '0.9')
    """
    if delta > 0.5:
        return f"{_up(delta, 4):g}"
    if delta < 1e-15:
        return f"{delta:.3g}"
    among = math.floor(1 / delta * (1 - 1e-12))
    unit = 10 ** max(0, len(str(among)) - 3)
    return f"1 in {among // unit * unit:,}"


def personal(certificate: Certificate) -> Differential | None:
    """The promise about one person more or less, which is the easiest to explain."""
    wanted = (Relation.ADD_REMOVE, 1)
    found = [made for made in certificate.guarantees if isinstance(made, Differential)]
    return next((made for made in found if (made.relation, made.people) == wanted), None)


def crowd_size(folder: Folder) -> int | None:
    """k: as derived, or else as stated."""
    derived = [made.k for made in folder.certificate.guarantees if isinstance(made, CrowdBlending)]
    stated = folder.fact("parameters", dict).get("k")
    return derived[0] if derived else stated if isinstance(stated, int) else None


def sampling_rate(folder: Folder) -> float | None:
    """The share of people kept, where the derivation has exactly one; otherwise as stated."""
    steps = [step for promise in folder.certificate.promises for step in _steps(promise)]
    derived = {step.parameters["rate"] for step in steps if "rate" in step.parameters}
    stated = folder.fact("parameters", dict).get("rate")
    if len(derived) == 1:
        rate: float = derived.pop()
        return rate
    return float(stated) if isinstance(stated, int | float) else None


def rate_is_assumed(folder: Folder) -> bool:
    """Whether the sampling rate is taken on trust."""
    return Assumption.ASSUMED_RATE in folder.certificate.assumptions() or folder.facts.get("already_drawn") is True


def reading(folder: Folder, *, counted: bool, flagged: bool) -> list[str]:
    """How to read the numbers, and how not to."""
    k, rate = crowd_size(folder), sampling_rate(folder)
    noise = folder.facts.get("below_k") == "noise"
    crowd = f"{k:,}" if k is not None else "k, the crowd size,"
    lines = ["Counts are people in a random sample, not in the whole population."]
    if not counted:
        lines = ["Each row is one person of a random sample. The order of the rows means nothing."]
    if rate is not None and 0 < rate < 1:
        lines[0] += f" The sample kept each person with probability {rate:g}"
        lines[0] += ", so one counted person stands for about" if counted else ", so one row stands for about"
        lines[0] += f" {1 / rate:.3g} people."
    if noise:
        lines += [
            f"Where at least {crowd} sampled people fall into a cell, its count is exact. Where fewer do, the count is "
            "noisy: a random number was added, and the true one may be larger, smaller or zero.",
            "A cell that is not listed is not zero. It holds few people or none; which of the small cells appear is "
            "decided by the noise.",
        ]
        if flagged:
            lines.append("The column exact says which counts are exact.")
        else:
            lines.append("Nothing says which counts are noisy, on purpose: that would reveal more than was promised.")
    elif folder.facts.get("below_k") == "suppress" or not counted:
        what = "cell" if counted else "combination of labels"
        lines += [
            f"Every {what} that you see holds at least {crowd} sampled people"
            + (", and its count is exact." if counted else ", and all of them are there."),
            f"A {what} that is missing is not zero. It holds fewer than {crowd} sampled people, and that may be "
            f"none or up to {k - 1:,}."
            if k is not None
            else f"A {what} that is missing is not zero. It holds too few sampled people to be shown.",
        ]
    else:
        lines.append("A cell that is missing is not zero: it may hold people, too few to be shown.")
    lines.append(
        "Totals on this page add up what is published and nothing else. Groups that fall into many small cells lose "
        "more to the missing ones than others, so compare shares with care."
    )
    return lines


def _steps(derivation: Derivation) -> Iterator[Derivation]:
    yield derivation
    for premise in derivation.premises:
        yield from _steps(premise)


def _up(value: float, digits: int) -> float:
    scale = 10.0**digits
    return math.ceil(value * scale * (1 + 1e-12)) / scale


def shown(value: Any) -> str:
    """A fact in a table: numbers as short as they are exact, flags as yes and no."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    return repr(value) if isinstance(value, float) else str(value)
