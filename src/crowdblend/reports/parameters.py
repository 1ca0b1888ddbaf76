"""The parameters of a release as the derivations have them, or as the facts state them where they do not."""

from __future__ import annotations

from crowdblend.calculus import Assumption
from crowdblend.guarantees import CrowdBlending
from crowdblend.reading.release import PublishedRelease


def crowd_size(folder: PublishedRelease) -> int | None:
    """k: as derived, or else as stated."""
    if folder.facts.get("strata"):
        return None  # every stratum has one of its own
    derived = [guarantee.k for guarantee in folder.certificate.guarantees if isinstance(guarantee, CrowdBlending)]
    stated = folder.parameter("k")
    return derived[0] if derived else stated if isinstance(stated, int) else None


def sampling_rate(folder: PublishedRelease) -> float | None:
    """The share of people kept, where the derivations have exactly one; otherwise as stated."""
    derived = {step.parameters["rate"] for step in folder.certificate.steps() if "rate" in step.parameters}
    stated = folder.parameter("rate")
    if len(derived) == 1:
        rate: float = derived.pop()
        return rate
    return float(stated) if isinstance(stated, int | float) else None


def deciding_share(folder: PublishedRelease) -> float:
    """The share of the sample that chose the recoding and is not published; 0 where there is no such part."""
    splits = (step for step in folder.certificate.steps() if step.rule.id == "recoding.split")
    return max((float(step.parameters["share"]) for step in splits), default=0.0)


def parts_of_sample(folder: PublishedRelease) -> dict[str, tuple[float, int]]:
    """For every table that was counted in a part of the sample, its share and its k, by the table's name."""
    parts = [
        (float(step.parameters["share"]), int(step.conclusion.k))
        for step in folder.certificate.derivations[0].steps()
        if step.rule.id == "sampling.part"
    ]
    names = list(folder.fact("parts", dict))
    return dict(zip(names, parts, strict=True)) if len(names) == len(parts) else {}


def fresh_samples(folder: PublishedRelease) -> dict[str, tuple[float, int]]:
    """For every table that was counted in a fresh sample of its own, its rate and its k, by the table's name."""
    samples = [
        (float(step.parameters["rate"]), int(step.premises[0].conclusion.k))
        for step in folder.certificate.derivations[0].steps()
        if step.rule.id == "profile.crowds"
    ]
    names = list(folder.fact("fresh_samples", dict))
    if len(samples) == 1:  # equal steps are listed once
        samples *= len(names)
    return dict(zip(names, samples, strict=True)) if len(names) == len(samples) else {}


def rate_is_assumed(folder: PublishedRelease) -> bool:
    """Whether the sampling rate is taken on trust."""
    return Assumption.ASSUMED_RATE in folder.certificate.stated or folder.facts.get("already_drawn") is True
