"""The picture of a finding: for every release, how likely the event is in either world, and how likely it may be."""

from __future__ import annotations

from collections.abc import Sequence

from crowdblend.attacks.trial import Bound, Trial
from crowdblend.figures import Share, ShareChart


def chances_chart(
    trials: Sequence[Trial], guarantee: Bound, *, worlds: tuple[str, str], title: str, subtitle: str = ""
) -> ShareChart:
    """Return bars for the computed chances; a release without a guarantee is marked with what ours would allow."""
    shares = [
        Share(
            trial.release,
            float(trial.best.hit.value),
            float(trial.best.miss.value),
            (trial.bound or guarantee).allows(trial.best.miss.value),
        )
        for trial in trials
    ]
    return ShareChart(shares, worlds, title, subtitle, mark="largest allowed")
