"""A release folder, checked: the certificate re-derived, every data file compared with its hash, and its parameters as
the derivations have them, or as the facts state them where they do not."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from crowdblend.calculus import Assumption, Certificate, verify_file
from crowdblend.errors import InvalidInput
from crowdblend.guarantees import CrowdBlending
from crowdblend.reports.text import visible

ENDINGS = (".parquet", ".csv")
REPORT = "report.html"


@dataclass(frozen=True)
class Folder:
    """What is published: a certificate that holds, and its data files by name, with their hashes."""

    certificate: Certificate
    files: Mapping[str, Path]
    hashes: Mapping[str, str]
    figures: bool = True
    """Whether its page has figures."""

    @property
    def facts(self) -> Mapping[str, Any]:
        """What the certificate says about the release; guarded by the digest, derived from nothing."""
        return self.certificate.facts

    def fact(self, name: str, kind: type[Any]) -> Any:
        """One fact, or the empty value of its kind when the certificate does not state it in that form."""
        value = self.facts.get(name)
        return value if isinstance(value, kind) else kind()


def open_folder(path: Path, *, figures: bool = True) -> Folder:
    """Check a release folder; raises DoesNotVerify when certificate or data were changed."""
    path = Path(path)
    if not path.is_dir():
        raise InvalidInput(
            f"{visible(str(path))} is not a folder. Pass the folder that has certificate.json in it.",
            where="folder",
            code="reading.no-folder",
        )
    certificate = verify_file(path)
    # The page cannot show its own hash.
    hashes = {name: value for name, value in certificate.facts.get("files", {}).items() if name != REPORT}
    names = [name for name in hashes if name.endswith(ENDINGS)]
    if not names:
        raise InvalidInput(
            "The certificate names no data file (.parquet or .csv). Pass the folder of a whole release.",
            where="certificate.json",
            code="reading.no-data",
        )
    # The main table comes first, whatever the others are called.
    names.sort(key=lambda name: (Path(name).stem != "data", name))
    return Folder(certificate, {name: path / name for name in names}, hashes, figures)


def crowd_size(folder: Folder) -> int | None:
    """k: as derived, or else as stated."""
    if folder.facts.get("strata"):
        return None  # every stratum has one of its own
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


def fresh_samples(folder: Folder) -> dict[str, tuple[float, int]]:
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


def rate_is_assumed(folder: Folder) -> bool:
    """Whether the sampling rate is taken on trust."""
    return Assumption.ASSUMED_RATE in folder.certificate.stated or folder.facts.get("already_drawn") is True
