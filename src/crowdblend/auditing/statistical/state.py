"""What an audit has seen so far, in a file from which it goes on when it was interrupted."""

from __future__ import annotations

import os
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec

from crowdblend.auditing.statistical.schedule import Task
from crowdblend.auditing.statistical.subject import Observed
from crowdblend.errors import InvalidInput

_MOST_OUTCOMES = 5_000
_SAVE_EVERY = 20


@dataclass
class _Bucket:
    """The batches of one side, how many runs they were, and what these saw."""

    batches: set[int] = field(default_factory=set)
    runs: int = 0
    seen: dict[str, dict[str, int]] = field(default_factory=dict)


@dataclass
class _File:
    about: dict[str, Any]
    buckets: dict[str, _Bucket]


class State:
    """What was seen by bucket, and which batches are in it."""

    def __init__(self, path: Path | None, about: dict[str, Any]) -> None:
        self._path, self._unsaved = path, 0
        self._file = _File(about, {})
        if path is not None and path.exists():
            self._file.buckets = _load(path, about)
        self._buckets = self._file.buckets = defaultdict(_Bucket, self._file.buckets)

    def has(self, task: Task) -> bool:
        """Return whether a batch was run before."""
        return task.batch in self._buckets[task.bucket].batches

    def add(self, task: Task, observed: Observed) -> None:
        """Add what a batch saw to its bucket."""
        bucket = self._buckets[task.bucket]
        bucket.batches.add(task.batch)
        bucket.runs += task.runs
        for view, outcomes in observed.items():
            seen = Counter(bucket.seen.get(view, {}))
            seen.update(outcomes)
            # Only while looking, where outcomes that hardly ever come back choose no event, are there so many.
            few = len(seen) <= _MOST_OUTCOMES
            bucket.seen[view] = dict(seen if few else seen.most_common(_MOST_OUTCOMES // 2))
        self._unsaved += 1
        if self._unsaved >= _SAVE_EVERY:
            self.save()

    def side(self, bucket: str) -> tuple[int, Observed]:
        """Return the runs in a bucket and what they saw."""
        return self._buckets[bucket].runs, self._buckets[bucket].seen

    def save(self) -> None:
        """Write the file anew; a crash leaves the one before."""
        self._unsaved = 0
        if self._path is None:
            return
        # Two audits that are given one file do not write into each other's.
        partial = self._path.with_name(f".{self._path.name}.{os.getpid()}.partial")
        try:
            partial.write_bytes(msgspec.json.encode(self._file))
            os.replace(partial, self._path)
        except OSError as problem:
            raise InvalidInput(f"The state must go into a writable file: {problem.strerror}. Choose another.") from None


def _load(path: Path, about: dict[str, Any]) -> dict[str, _Bucket]:
    try:
        held = msgspec.json.decode(path.read_bytes(), type=_File)
    except (OSError, msgspec.MsgspecError):
        raise InvalidInput(f"{path.name} is not the state of an audit. Choose another file.") from None
    if held.about != about:
        raise InvalidInput(
            f"{path.name} belongs to another audit: policy, runs, error or version differ. Choose another "
            "file, or pass the same as before."
        )
    return held.buckets
