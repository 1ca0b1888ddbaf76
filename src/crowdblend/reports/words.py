"""The release in plain words. Whatever is rounded here is rounded against the release."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from decimal import ROUND_CEILING, Context
from typing import Any

from crowdblend.calculus import Assumption, Certificate
from crowdblend.calculus.groups import even_chance
from crowdblend.guarantees import CrowdBlending, Differential, ZeroKnowledge
from crowdblend.guarantees.wording import at_most
from crowdblend.reports.folder import Folder
from crowdblend.reports.summary import Summary

MOST_NAMED = 5
_SHARED = "The tables share one sample, so each is added up from the cells of their common, finest table."


def title(columns: tuple[str, ...], counted: bool) -> str:
    """What was published, by its columns."""
    if not columns:
        return "A count of people"
    named = listed(columns) if len(columns) <= MOST_NAMED else f"{', '.join(columns[:MOST_NAMED])} and others"
    return f"{'Counts of people by' if counted else 'Records of people:'} {named}"


def listed(names: Iterable[str]) -> str:
    """Names as one says them.

    >>> listed(["age", "sex", "region"])
    'age, sex and region'
    """
    *first, last = names
    return f"{', '.join(first)} and {last}" if first else last


def everyday(promise: Differential) -> list[str]:
    """What differential privacy means to somebody who has never heard of it."""
    fall = math.exp(-promise.epsilon)
    # Between two (ε, δ)-close worlds, each as likely as not, a guess is right with probability (e^ε + δ)/(e^ε + 1).
    right = (1 + promise.delta * fall) / (1 + fall)
    slack = _slack(promise)
    return [
        f"Whatever is published here, its probability is at most {_factor(promise)} times what it would be "
        f"without your data{slack}, and vice versa.",
        "Somebody who thought it as likely as not that your data were used, and then studies everything published "
        f"here, guesses right with a probability of at most {short(100 * right)} %.",
    ]


def relative(promise: ZeroKnowledge) -> list[str]:
    """What zero-knowledge privacy means to somebody who has never heard of it."""
    return [
        "Whoever studies everything published here learns hardly more about you than from "
        f"{promise.aggregate.words()}. Whatever they conclude, its probability is at most {_factor(promise)} times "
        f"what it would be from that alone{_slack(promise)}, and vice versa.",
        "Something about you that has an even chance from that alone is concluded with a probability of at most "
        f"{short(100 * even_chance(promise))} %.",
    ]


def _factor(promise: Differential | ZeroKnowledge) -> str:
    fall = math.exp(-promise.epsilon)
    return short(1 / fall) if fall > 1e-15 else f"e^{at_most(promise.epsilon)}"


def _slack(promise: Differential | ZeroKnowledge) -> str:
    return f", plus a probability of {chance(promise.delta)}" if promise.delta > 0 else ""


def chance(delta: float) -> str:
    """A probability as 'one in …', never smaller than it is.

    >>> chance(9.7e-07), chance(0.3), chance(0.9)
    ('1 in 1,030,000', '1 in 3', '0.9')
    """
    if delta > 0.5:
        return short(delta)
    if delta < 1e-15:
        return short(delta)
    among = math.floor(1 / delta * (1 - 1e-12))
    unit = 10 ** max(0, len(str(among)) - 3)
    return f"1 in {among // unit * unit:,}"


def personal(certificate: Certificate) -> Differential | None:
    """The promise about one person more or less, which is the easiest to explain."""
    return certificate.differential()


def explained(certificate: Certificate) -> list[str]:
    """The promise to one person in everyday words: by one person more or less, or relative to an aggregate."""
    if (promise := personal(certificate)) is not None:
        return everyday(promise)
    found = certificate.zero_knowledge()
    return relative(found) if found else []


def crowd_size(folder: Folder) -> int | None:
    """k: as derived, or else as stated."""
    derived = [made.k for made in folder.certificate.guarantees if isinstance(made, CrowdBlending)]
    stated = folder.fact("parameters", dict).get("k")
    return derived[0] if derived else stated if isinstance(stated, int) else None


def sampling_rate(folder: Folder) -> float | None:
    """The share of people kept, where the derivation has exactly one; otherwise as stated."""
    derived = {step.parameters["rate"] for step in folder.certificate.steps() if "rate" in step.parameters}
    stated = folder.fact("parameters", dict).get("rate")
    if len(derived) == 1:
        rate: float = derived.pop()
        return rate
    return float(stated) if isinstance(stated, int | float) else None


def deciding_share(folder: Folder) -> float:
    """The share of the sample that chose the recoding and is not published; 0 where nobody did."""
    splits = (step for step in folder.certificate.steps() if step.rule.id == "recoding.split")
    return max((float(step.parameters["share"]) for step in splits), default=0.0)


def rate_is_assumed(folder: Folder) -> bool:
    """Whether the sampling rate is taken on trust."""
    return Assumption.ASSUMED_RATE in folder.certificate.stated or folder.facts.get("already_drawn") is True


def reading(folder: Folder, summaries: Sequence[Summary], *, counted: bool) -> list[str]:
    """How to read the numbers, and how not to."""
    k = crowd_size(folder)
    crowd = f"{k:,}" if k is not None else "k, the crowd size,"
    added_up = len(summaries) > 1 or bool(folder.fact("tables", dict))
    lines = [_sampled(sampling_rate(folder), deciding_share(folder), counted=counted)]
    if not counted:
        lines += _suppressed("combination of labels", "and all of them are there", crowd, k)
    elif folder.facts.get("below_k") == "noise":
        cell = "a finest cell" if added_up else "a cell"
        lines += [_SHARED] if added_up else []
        lines += _noisy(cell, crowd, flagged=any(summary.flagged for summary in summaries))
    elif added_up:
        lines += _added_up(crowd)
    elif folder.facts.get("below_k") == "suppress":
        lines += _suppressed("cell", "and its count is exact", crowd, k)
    else:
        lines.append("A cell that is missing is not zero: it may hold people, too few to be shown.")
    lines.append(
        "Totals on this page add up what is published and nothing else. Groups that fall into many small cells lose "
        "more than others to the cells that are missing, so compare shares with care."
    )
    return lines


def _sampled(rate: float | None, share: float, *, counted: bool) -> str:
    said = "Each row is one person of a random sample. The order of the rows means nothing."
    if counted:
        said = "Counts are people in a random sample, not in the whole population."
    if rate is None or not 0 < rate < 1:
        return said
    one = "one counted person" if counted else "one row"
    said = f"{said} The sample kept each person with probability {rate:g}"
    if share:
        said += f", and a share of {share:g} of it chose the labels and is left out of everything below"
    return f"{said}: {one} stands for about {1 / (rate * (1 - share)):.3g} people."


def _suppressed(what: str, meaning: str, crowd: str, k: int | None) -> list[str]:
    among = f"it may be none, or up to {k - 1:,}" if k is not None else "it may be none"
    return [
        f"Every {what} that you see holds at least {crowd} sampled people, {meaning}.",
        f"A {what} that is missing is not zero. It holds fewer than {crowd} sampled people: {among}.",
    ]


def _added_up(crowd: str) -> list[str]:
    return [
        f"{_SHARED} Finest cells with fewer than {crowd} sampled people were left out before adding.",
        "A count can therefore be lower than the number of sampled people, never higher.",
        f"A cell that is missing is not zero. None of its finest cells reached {crowd} sampled people.",
    ]


def _noisy(cell: str, crowd: str, *, flagged: bool) -> list[str]:
    told = "Nothing says which counts are noisy, on purpose: that would reveal more than was promised."
    return [
        f"Where at least {crowd} sampled people fall into {cell}, its count is exact. Where fewer do, the count is "
        "noisy: a random number was added, and the true one may be larger, smaller or zero.",
        "A cell that is not listed is not zero. It may hold a few people or none; among the small cells, the noise "
        "decides which of them appear.",
        "The column exact says which counts are exact." if flagged else told,
    ]


def short(value: float) -> str:
    """A number to three digits, rounded up: a risk is never shown smaller than it is.

    >>> short(2.71828), short(9.24694e-07), short(0.1), short(12341.0)
    ('2.72', '9.25e-07', '0.1', '12,400')
    """
    rounded = float(Context(prec=3, rounding=ROUND_CEILING).create_decimal(repr(value)))
    return f"{rounded:,.0f}" if 1000 <= rounded < 1e15 else f"{rounded:.3g}"


def shown(value: Any) -> str:
    """A fact in a table: numbers as short as they are exact, flags as yes and no."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    return repr(value) if isinstance(value, float) else str(value)
