"""The parameters of a release: as its derivations have them, and as its facts state them where they do not."""

from __future__ import annotations

from crowdblend.calculus import Assumption
from crowdblend.guarantees import CrowdBlending
from crowdblend.reports.folder import Folder


def crowd_size(folder: Folder) -> int | None:
    """k: as derived, or else as stated."""
    derived = [guarantee.k for guarantee in folder.certificate.guarantees if isinstance(guarantee, CrowdBlending)]
    stated = folder.fact("parameters", dict).get("k")
    return derived[0] if derived else stated if isinstance(stated, int) else None


def sampling_rate(folder: Folder) -> float | None:
    """The share of people kept, where the derivations have exactly one; otherwise as stated."""
    derived = {step.parameters["rate"] for step in folder.certificate.steps() if "rate" in step.parameters}
    stated = folder.fact("parameters", dict).get("rate")
    if len(derived) == 1:
        rate: float = derived.pop()
        return rate
    return float(stated) if isinstance(stated, int | float) else None


def deciding_share(folder: Folder) -> float:
    """The share of the sample that chose the recoding and is not published; 0 where there is no such part."""
    splits = (step for step in folder.certificate.steps() if step.rule.id == "recoding.split")
    return max((float(step.parameters["share"]) for step in splits), default=0.0)


def parts_of_sample(folder: Folder) -> dict[str, tuple[float, int]]:
    """For every table that was counted in a part of the sample, its share and its k, by the table's name."""
    parts = [
        (float(step.parameters["share"]), int(step.conclusion.k))
        for step in folder.certificate.derivations[0].steps()
        if step.rule.id == "sampling.part"
    ]
    names = list(folder.fact("parts", dict))
    return dict(zip(names, parts, strict=True)) if len(names) == len(parts) else {}


def rate_is_assumed(folder: Folder) -> bool:
    """Whether the sampling rate is taken on trust."""
    return Assumption.ASSUMED_RATE in folder.certificate.stated or folder.facts.get("already_drawn") is True
