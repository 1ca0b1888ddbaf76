"""Run a release: plan, sample, record, sanitize, write, and only then let it appear."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from crowdblend.calculus import Certificate, sha256_of
from crowdblend.ledger import Ledger
from crowdblend.mechanisms import NoisyHistogram, PublishedClasses, SampledClasses
from crowdblend.randomness import new_key
from crowdblend.release.folder import whole_folder, write_internal
from crowdblend.release.identity import sample_of
from crowdblend.release.outputs import write_microdata, write_table
from crowdblend.release.policy import Policy
from crowdblend.release.promise import Promise, promise
from crowdblend.release.record import Record
from crowdblend.release.sections import STDIN
from crowdblend.selection import Node

Progress = Callable[[str, int], None]


@dataclass(frozen=True)
class Released:
    """A finished release: where it is, and what it promises."""

    folder: Path
    certificate: Certificate
    promise: Promise


def release(
    policy: Policy,
    folder: Path,
    *,
    ledger: Ledger | None = None,
    key: bytes | None = None,
    force: bool = False,
    progress: Progress | None = None,
) -> Released:
    """Publish what the policy says into a folder that appears whole or not at all.

    The promise is recorded in the ledger before anything is published. `key` makes the release reproducible for whoever
    holds it; by default a fresh one comes from the operating system and is destroyed, or sealed in the ledger.
    """
    from crowdblend.report import write_report  # noqa: PLC0415

    promised = promise(policy)
    secret = key if key is not None else new_key()
    started = time.perf_counter()
    with whole_folder(folder, force=force) as partial:
        read = _read(promised, secret, progress)
        name = sample_of(policy, secret, read.facts.pop("same_people", None))
        record = Record.begin(ledger, promised, folder, name, secret)
        sample, node = read.recoded()
        published = _sanitize(promised, sample, secret)
        if progress:
            progress("writing", 0)
        files = _write(promised, published, partial)
        certificate = promised.certificate(files, node)
        (partial / "certificate.json").write_text(certificate.to_json(), encoding="utf-8")
        write_report(partial)
    record.finish(certificate, files)
    spent = time.perf_counter() - started
    write_internal(folder, {**read.facts, **_internal(sample, published), "seconds": spent})
    return Released(folder, certificate, promised)


def check_columns(policy: Policy) -> None:
    """Refuse a source that is not there or lacks a column, without reading a row; a stream is not touched."""
    from crowdblend.release.engine import open_columns  # noqa: PLC0415

    if policy.data.source != STDIN:
        open_columns(policy)


@dataclass(frozen=True)
class _Read:
    """What was read of the data; nothing has been computed from it yet that could be published."""

    facts: dict[str, Any]
    recoded: Callable[[], tuple[SampledClasses, Node | None]]


def _read(promised: Promise, key: bytes, progress: Progress | None) -> _Read:
    """Facts for the steward, and how to get the sample in its recoding: as it is, or as the data choose."""
    from crowdblend.release import chosen  # noqa: PLC0415  the engine is loaded when it runs
    from crowdblend.release.engine import sample_classes  # noqa: PLC0415

    policy = promised.policy
    if policy.recoding is None:
        coin = None if policy.sampling.already_drawn else key
        sample, facts = sample_classes(policy, key=coin, rate=promised.draw_rate, progress=progress)
        return _Read(facts, lambda: (sample, None))
    reading = chosen.read(promised, key, progress)

    def choose() -> tuple[SampledClasses, Node]:
        node = chosen.decide(promised, reading.deciding, key, progress)
        return chosen.recoded(promised, reading.released, node), node

    return _Read(reading.facts, choose)


def _sanitize(promised: Promise, sample: SampledClasses, key: bytes) -> PublishedClasses:
    mechanism = promised.mechanism
    if isinstance(mechanism, NoisyHistogram):
        return mechanism.publish(sample, key)
    return mechanism.publish(sample)


def _write(promised: Promise, published: PublishedClasses, folder: Path) -> dict[str, str]:
    """Write the data files and return their hashes."""
    policy = promised.policy
    suffix = policy.release.format
    if policy.release.kind == "microdata":
        write_microdata(published, folder / f"data.{suffix}")
    elif policy.tables:
        for table in policy.tables:
            write_table(published.narrowed(table.columns), folder / f"{table.name}.{suffix}")
    else:
        write_table(published, folder / f"data.{suffix}")
    return {file.name: sha256_of(file) for file in sorted(folder.iterdir())}


def _internal(sample: SampledClasses, published: PublishedClasses) -> dict[str, Any]:
    """What the steward may want to know and nobody else may."""
    sampled, shown = sample.people, int(published.counts.sum())
    return {
        "people_sampled": sampled,
        "classes_sampled": len(sample.counts),
        "classes_published": len(published.counts),
        "published_total": shown,
        "difference": sampled - shown,
        "relative_difference": (sampled - shown) / sampled if sampled else 0.0,
    }
