"""How far published tables are from the sample's own table, at one promise (epsilon = 1, delta = 1e-6), as JSON.

1,000 cells whose sizes fall like 1/r². Compared: exact counts from k on with noise below (flag hidden), Laplace
noise of the same promise on every cell, both clamped at 0, and suppression, which loses whole cells.
"""

from __future__ import annotations

import json
import secrets

import numpy as np

from crowdblend import plan
from crowdblend.mechanisms import NoisyHistogram, SampledClasses
from crowdblend.randomness import SystemSource, discrete_laplace

CELLS = 1_000
RUNS = 200


def sample_of(people: int, run: int) -> SampledClasses:
    """A sample of about so many people whose cells fall like 1/r², each count with the spread of sampling."""
    sizes = 1 / np.arange(1, CELLS + 1) ** 2
    counts = np.random.default_rng(run).poisson(sizes / sizes.sum() * people).astype(np.int64)
    seen = np.flatnonzero(counts)
    labels = (tuple(map(str, range(CELLS))),)
    return SampledClasses(("cell",), labels, seen.astype(np.int32).reshape(-1, 1), counts[seen])


def table(sample: SampledClasses) -> np.ndarray:
    """The sample's own table, empty cells included."""
    cells = np.zeros(CELLS, np.int64)
    cells[sample.codes[:, 0]] = sample.counts
    return cells


def below_k_error(sample: SampledClasses, k: int, noise_epsilon: float) -> float:
    published = NoisyHistogram(k, noise_epsilon).publish(sample, secrets.token_bytes(32))
    shown = np.zeros(CELLS, np.int64)
    shown[np.array(published.labels[0], np.int64)[published.codes[:, 0]]] = published.counts
    return float(np.abs(shown - table(sample)).sum())


def everywhere_error(sample: SampledClasses, noise_epsilon: float) -> float:
    shown = np.maximum(table(sample) + discrete_laplace(CELLS, noise_epsilon, SystemSource()), 0)
    return float(np.abs(shown - table(sample)).sum())


def main() -> None:
    rows = []
    people = 10_000_000
    samples = [sample_of(people, run) for run in range(RUNS)]
    for rate in (0.5, 0.2, 0.1, 0.05):
        noisy = plan(rate=rate, epsilon=1.0, delta=1e-6, below_k="noise")
        exact = plan(rate=rate, epsilon=1.0, delta=1e-6)
        ours = np.mean([below_k_error(sample, noisy.k, noisy.noise_epsilon) for sample in samples])
        everywhere = np.mean([everywhere_error(sample, noisy.noise_epsilon) for sample in samples])
        lost = samples[0].counts[samples[0].counts < exact.k]
        rows.append(
            {
                "people": people,
                "smallest cell": int(np.median([sample.counts.min() for sample in samples])),
                "rate": rate,
                "k with noise below": noisy.k,
                "error with noise below k": round(float(ours), 1),
                "error with noise everywhere": round(float(everywhere), 1),
                "ratio": round(float(everywhere / ours), 1) if ours else None,
                "k with suppression": exact.k,
                "cells lost to suppression": len(lost),
                "people lost to suppression": int(lost.sum()),
            }
        )
    print(json.dumps({"utility": rows}, indent=2))


main()
