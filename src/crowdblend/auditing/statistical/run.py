"""The audit: look for an event on some runs, judge it on others, and say what that proves."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from pathlib import Path

from crowdblend.auditing.statistical.bounds import epsilon_lower, epsilon_refuted
from crowdblend.auditing.statistical.events import Event, Fold, Side, best_event, candidates, ranked_pairs
from crowdblend.auditing.statistical.pace import Pace
from crowdblend.auditing.statistical.schedule import Round, Task, batches, rounds
from crowdblend.auditing.statistical.state import State
from crowdblend.auditing.statistical.subject import Observed, Pair, Subject
from crowdblend.auditing.statistical.verdict import Verdict
from crowdblend.auditing.statistical.workers import Alone, Together, workforce
from crowdblend.errors import InvalidInput
from crowdblend.guarantees import Relation

# Called with the phase, the runs so far and the runs in all.
Progress = Callable[[str, int, int], None]
Seen = dict[int, tuple[Side, Side]]

LEAST_RUNS = 1_000
# So that in the first two rounds every pair has a run in every fold of both its sides.
RUNS_OF_A_PAIR = 64
# In the last round only the most promising pairs are looked at; before, too little is known to drop any.
KEPT_PAIRS = 4
_JUDGED, _HIT = "judged", "hit"
_SIDES = {
    Relation.ADD_REMOVE: ("with the person", "without the person"),
    Relation.REPLACE: ("with the person", "with other data for the person"),
    Relation.CONCEAL: ("with the person", "with the person concealed"),
}


def audit(
    subject: Subject,
    *,
    runs: int = 100_000,
    error: float = 1e-3,
    workers: int = 1,
    state: Path | None = None,
    progress: Progress | None = None,
    bound: bool = True,
    pace: Pace | None = None,
) -> Verdict:
    """Run the subject so many times, and say what ε it has at least, at the δ it guarantees.

    A verdict is a finding with probability at most `error` when the guarantee holds. It stops early once it has one.
    Without `bound` it is only decided whether there is a finding: ε is then said to be at least 0, or just beyond what
    was guaranteed. `pace` limits the time: there are fewer runs where these would take longer.
    """
    if runs < LEAST_RUNS:
        raise InvalidInput(f"runs must be at least {LEAST_RUNS:,}, got {runs}. Pass for example 100000.")
    if not 0 < error < 0.5:
        raise InvalidInput(f"error must be between 0 and 0.5 (exclusive), got {error:g}. Pass for example 0.001.")
    pairs = list(subject.pairs())
    if not pairs or runs < RUNS_OF_A_PAIR * len(pairs):
        raise InvalidInput(
            f"A subject needs at least one pair of populations, and at least {RUNS_OF_A_PAIR} runs for each pair, "
            f"got {len(pairs):,} for {runs:,} runs. Pass other pairs, or more runs."
        )
    about = {
        "subject": subject.name,
        "made of": getattr(subject, "fingerprint", ""),
        "guarantee": repr(subject.guarantee),
        "pairs": [f"{pair.name}: {pair.more!r} / {pair.fewer!r}" for pair in pairs],
        "runs": runs,
        "error": error,
    }
    kept = State(state, about)
    # A file that cannot be written is refused before the work, not after it.
    kept.save()
    try:
        with workforce(subject, workers) as force:
            under_way = _Audit(subject, pairs, kept, force, progress or _silent, runs, pace or Pace(), bound=bound)
            return under_way.verdict(rounds(runs, error))
    finally:
        kept.save()


def _silent(_phase: str, _runs: int, _of: int) -> None:
    """Progress callback that does nothing."""


class _Audit:
    """One audit under way."""

    def __init__(
        self,
        subject: Subject,
        pairs: list[Pair],
        state: State,
        force: Alone | Together,
        progress: Progress,
        runs: int,
        pace: Pace,
        *,
        bound: bool,
    ) -> None:
        self._epsilon_lower = epsilon_lower if bound else epsilon_refuted
        self._guarantee, self._name, self._pairs = subject.guarantee, subject.name, pairs
        self._state, self._force, self._progress, self._all = state, force, progress, runs
        self._pace, self._spent = pace, 0

    def verdict(self, schedule: list[Round]) -> Verdict:
        """The strongest of the rounds' bounds, which hold together."""
        observed: Seen = {}
        offered: list[Event] = []
        best: Verdict | None = None
        left = sum(one.looking + one.judging for one in schedule)
        judged = 0
        for planned in schedule:
            if self._pace.fitting(planned.judging, left) < judged:
                # A round with fewer runs than the one before has nothing to add.
                break
            current = replace(planned, looking=self._pace.fitting(planned.looking, left))
            left -= planned.looking
            everything = list(range(len(self._pairs)))
            chosen = ranked_pairs(offered)[:KEPT_PAIRS] if planned is schedule[-1] else everything
            self._look(current, chosen)
            observed = self._looked(current, chosen, observed)
            offered = list(candidates(observed, self._guarantee.epsilon, self._guarantee.delta))
            judged = self._pace.fitting(planned.judging, left)
            current, left = replace(current, judging=judged), left - planned.judging
            verdict = self._judge(current, best_event(offered), sum(one.error for one in schedule))
            if best is None or verdict.epsilon_lower >= best.epsilon_lower:
                best = verdict
            if best.finding:
                break
        assert best is not None, "a schedule has rounds"
        return replace(best, runs=self._spent)

    def _looked(self, current: Round, pairs: list[int], before: Seen) -> Seen:
        """What was seen while looking, in this round and before."""
        after = dict(before)
        for pair in pairs:
            after[pair] = (self._side(current, pair, 0, before), self._side(current, pair, 1, before))
        return after

    def _side(self, current: Round, pair: int, side: int, before: Seen) -> Side:
        folds = [Fold(*self._state.side(Task(current.number, "", pair, side, fold).bucket)) for fold in (0, 1)]
        if pair in before:
            folds = [known + new for known, new in zip(before[pair][side], folds, strict=True)]
        return folds[0], folds[1]

    def _judge(self, current: Round, event: Event, error: float) -> Verdict:
        """Bounds on fresh runs of the chosen pair alone."""
        for task, observed in self._spend("judging", batches(current, event.id, [event.pair], current.judging)):
            self._state.add(task, {_JUDGED: {_HIT: event.hits(observed)}})
        counted = []
        for side in (0, 1):
            runs, seen = self._state.side(Task(current.number, event.id, event.pair, side).bucket)
            counted.append((seen[_JUDGED][_HIT], runs))
        likely, unlikely = counted[event.likelier], counted[1 - event.likelier]
        return Verdict(
            subject=self._name,
            guarantee=self._guarantee,
            epsilon_lower=self._epsilon_lower(
                likely, unlikely, self._guarantee.delta, current.error, self._guarantee.epsilon
            ),
            error=error,
            runs=self._spent,
            pair=self._pairs[event.pair].name,
            view=event.view,
            likelier=_SIDES[self._guarantee.relation][event.likelier],
            outcomes=tuple(sorted(event.outcomes)),
            likely=likely,
            unlikely=unlikely,
        )

    def _look(self, current: Round, pairs: list[int]) -> None:
        for task, observed in self._spend("looking", batches(current, "", pairs, current.looking)):
            self._state.add(task, observed)

    def _spend(self, phase: str, tasks: Iterable[Task]) -> Iterator[tuple[Task, Observed]]:
        """What those tasks see that were not done before."""
        pending = list(tasks)
        new = [task for task in pending if not self._state.has(task)]
        self._spent += sum(task.runs for task in pending) - sum(task.runs for task in new)
        with self._pace.measured(sum(task.runs for task in new)):
            for task, observed in self._force.run(new):
                yield task, observed
                self._spent += task.runs
                self._progress(phase, self._spent, self._all)
