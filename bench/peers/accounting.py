"""What many releases come to together, by crowdblend and by Google's dp_accounting, and how long each takes.

Both compose privacy losses; crowdblend in ball arithmetic with outward rounding, dp_accounting in floating point with
pessimistic rounding of losses to a grid (its documentation: "pessimistic estimate").
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from typing import Any

from dp_accounting.pld import privacy_loss_distribution as pld

import crowdblend as cb
from crowdblend.trusted.calculus import RULES

DELTA = 1e-6


def rows() -> Iterator[dict[str, Any]]:
    """One row for each series of releases."""
    for epsilon, releases in ((0.1, 10), (0.1, 100), (0.1, 1_000)):
        yield _row(
            f"{releases:,} tables with Laplace noise, ε = {epsilon} each",
            epsilon * releases,
            lambda: _ours(
                RULES["profile.differential"](RULES["histogram.laplace"](noise_epsilon=epsilon)),  # noqa: B023
                releases,  # noqa: B023
            ),
            lambda: _theirs(pld.from_discrete_laplace_mechanism(epsilon), releases),  # noqa: B023
        )
    yield _row(
        "100 tables with Laplace noise, ε = 1 each, of samples at rate 0.1",
        100 * math.log1p(0.1 * math.expm1(1.0)),
        lambda: _ours(RULES["profile.amplified"](RULES["histogram.laplace"](noise_epsilon=1.0), rate=0.1), 100),
        lambda: _theirs(pld.from_discrete_laplace_mechanism(1.0, sampling_prob=0.1), 100),
    )
    for releases in (10, 30):
        planned = cb.plan(rate=0.1, k=8, epsilon=1.0)
        yield _row(
            f"{releases} tables of crowds of 8, of samples at rate 0.1, ε = 1 and δ = {planned.delta:.3g} each",
            float(releases),
            lambda: _ours(RULES["profile.crowds"](RULES["histogram.suppressed"](k=8), rate=0.1), releases, 1e-5),  # noqa: B023
            lambda: _pairs(1.0, planned.delta, releases, 1e-5),  # noqa: B023
            delta=1e-5,
        )
    yield _row(
        "100 releases with Gaussian noise, σ = 10",
        None,
        None,
        lambda: _theirs(pld.from_gaussian_mechanism(10.0), 100),
    )


def _ours(profile: Any, releases: int, delta: float = DELTA) -> float:
    together = RULES["composition.repeated"](profile, releases=releases)
    return float(RULES["profile.epsilon"](together, delta=delta).conclusion.epsilon)


def _theirs(loss: Any, releases: int, delta: float = DELTA) -> float:
    return float(loss.self_compose(releases).get_epsilon_for_delta(delta))


def _pairs(epsilon: float, delta: float, releases: int, total: float) -> float:
    """The mechanism is unknown there, so it enters with what a certificate says of one release."""
    from dp_accounting.pld import common  # noqa: PLC0415

    loss = pld.from_privacy_parameters(common.DifferentialPrivacyParameters(epsilon, delta))
    return _theirs(loss, releases, total)


def _row(
    what: str,
    added: float | None,
    ours: Callable[[], float] | None,
    theirs: Callable[[], float],
    *,
    delta: float = DELTA,
) -> dict[str, Any]:
    found, seconds = _timed(ours) if ours else (None, None)
    other, other_seconds = _timed(theirs)
    return {
        "what": what,
        "delta": delta,
        "added up": added,
        "crowdblend": found,
        "crowdblend seconds": seconds,
        "dp_accounting": other,
        "dp_accounting seconds": other_seconds,
    }


def _timed(job: Callable[[], float]) -> tuple[float, float]:
    began = time.process_time()
    found = job()
    return found, round(time.process_time() - began, 3)
