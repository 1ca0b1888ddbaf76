"""What an attack is, and what it finds."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

from crowdblend.attacks.trial import Bound, Trial
from crowdblend.figures.charts import Chart, Share, ShareChart


@dataclass(frozen=True)
class Finding:
    """What became of an attack: unsafe releases first, then ours on the same data."""

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
        """Whether none of our releases gave more away than its certificate allows."""
        return not any(self.broken(trial) for trial in self.trials if trial.ours)

    @property
    def target_broken(self) -> bool:
        """Whether the attack broke what it was made to break."""
        return any(self.broken(trial) for trial in self.trials if not trial.ours)

    @property
    def as_computed(self) -> bool:
        """Whether all that was run did what was computed of it."""
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
        """Return what becomes of the attack, with so many runs of the real code in either world."""
        trials, guarantee = self.trials(runs), self.guarantee()
        chart = self.chart() if self.chart is not None else self._chances(trials, guarantee)
        return Finding(trials, guarantee, chart, self.remark if isinstance(self.remark, str) else self.remark())

    def _chances(self, trials: tuple[Trial, ...], guarantee: Bound) -> ShareChart:
        """Return bars for the computed chances; a release without a guarantee is marked with what ours would allow."""
        shares = []
        for trial in trials:
            hit, miss = float(trial.best.hit.value), float(trial.best.miss.value)
            shares.append(Share(trial.release, hit, miss, (trial.bound or guarantee).allows(miss)))
        return ShareChart(shares, self.worlds, self.question, mark="largest allowed")

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
