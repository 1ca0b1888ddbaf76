"""What an audit has seen so far, in a file from which it goes on when it was interrupted."""

from __future__ import annotations

import json
import os
from collections import Counter
from pathlib import Path
from typing import Any

from crowdblend.auditing.statistical.schedule import Task
from crowdblend.auditing.statistical.subject import Observed
from crowdblend.errors import InvalidInput

_MOST_OUTCOMES = 5_000
_SAVE_EVERY = 20


class State:
    """Counts by bucket, and which batches are in them."""

    def __init__(self, path: Path | None, about: dict[str, Any]) -> None:
        self._path, self._about, self._unsaved = path, about, 0
        self._done: dict[str, set[int]] = {}
        self._runs: Counter[str] = Counter()
        self._seen: dict[str, dict[str, Counter[str]]] = {}
        if path is not None and path.exists():
            self._load(path)

    def has(self, task: Task) -> bool:
        """Whether a batch was run before."""
        return task.batch in self._done.get(task.bucket, ())

    def add(self, task: Task, observed: Observed) -> None:
        """Add what a batch saw to its bucket."""
        self._done.setdefault(task.bucket, set()).add(task.batch)
        self._runs[task.bucket] += task.runs
        views = self._seen.setdefault(task.bucket, {})
        for view, outcomes in observed.items():
            seen = views.setdefault(view, Counter())
            seen.update(outcomes)
            if len(seen) > _MOST_OUTCOMES:
                # Only while looking, where outcomes that hardly ever come back choose no event. What is judged is
                # a single count.
                views[view] = Counter(dict(seen.most_common(_MOST_OUTCOMES // 2)))
        self._unsaved += 1
        if self._unsaved >= _SAVE_EVERY:
            self.save()

    def side(self, bucket: str) -> tuple[int, dict[str, Counter[str]]]:
        """The runs in a bucket and what they saw."""
        return self._runs[bucket], self._seen.get(bucket, {})

    def save(self) -> None:
        """Write the file anew; a crash leaves the one before."""
        self._unsaved = 0
        if self._path is None:
            return
        buckets = {
            bucket: {"batches": sorted(done), "runs": self._runs[bucket], "seen": self._seen.get(bucket, {})}
            for bucket, done in self._done.items()
        }
        # Two audits that are given one file do not write into each other's.
        partial = self._path.with_name(f".{self._path.name}.{os.getpid()}.partial")
        try:
            partial.write_text(json.dumps({"about": self._about, "buckets": buckets}), encoding="utf-8")
            os.replace(partial, self._path)
        except OSError as problem:
            raise InvalidInput(f"the state must go into a writable file: {problem.strerror}. Choose another.") from None

    def _load(self, path: Path) -> None:
        try:
            held = json.loads(path.read_text(encoding="utf-8"))
            about, buckets = held["about"], held["buckets"]
            for bucket, kept in buckets.items():
                self._done[bucket], self._runs[bucket] = set(map(int, kept["batches"])), int(kept["runs"])
                self._seen[bucket] = {view: _counts(outcomes) for view, outcomes in kept["seen"].items()}
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            raise InvalidInput(f"{path.name} is not the state of an audit. Choose another file.") from None
        if about != self._about:
            raise InvalidInput(
                f"{path.name} belongs to another audit: policy, runs, error or version differ. Choose another "
                "file, or pass the same as before."
            )


def _counts(outcomes: dict[str, Any]) -> Counter[str]:
    return Counter({outcome: int(count) for outcome, count in outcomes.items()})
