"""Random values per CPU second, as one JSON object: python -m bench.randomness"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from functools import partial

import numpy as np

from crowdblend.trusted.randomness import (
    KeyedSource,
    coins,
    discrete_laplace,
    distinct,
    new_key,
    permutation,
    rational,
    successes,
    thin,
)
from crowdblend.trusted.randomness.texts import texts_joined

KEY = new_key()
SOURCE = KeyedSource(KEY, b"bench")
MILLION = 1_000_000


def speed(values: int, work: Callable[[], object], repeats: int = 3) -> float:
    """Values per CPU second, the best of a few runs."""
    seconds = []
    for _ in range(repeats):
        start = time.process_time()
        work()
        seconds.append(time.process_time() - start)
    return round(values / min(seconds))


def main() -> None:
    numbers = np.arange(10 * MILLION)
    texts, longer = [f"P{i:09d}" for i in range(MILLION)], [f"P{i:029d}" for i in range(MILLION)]
    column, longer_column = (texts_joined("".join(some).encode(), some) for some in (texts, longer))
    singles, cells = np.ones(10 * MILLION, dtype=np.int64), np.full(60_000, 1667)
    results = {
        "stream, bytes": speed(80 * MILLION, lambda: SOURCE.words(10 * MILLION)),
        "coin, whole numbers": speed(10 * MILLION, lambda: coins(KEY, numbers, 0.1)),
        "coin, list of texts of 10 bytes": speed(MILLION, lambda: coins(KEY, texts, 0.1)),
        "coin, column of texts of 10 bytes": speed(MILLION, lambda: coins(KEY, column, 0.1)),
        "coin, column of texts of 30 bytes": speed(MILLION, lambda: coins(KEY, longer_column, 0.1)),
        "thin, people in 60,000 classes, rate 0.1": speed(int(cells.sum()), lambda: thin(cells, 0.1, SOURCE)),
        "thin, people in one class of 10^9, rate 0.1": speed(10**9, lambda: thin([10**9], 0.1, SOURCE), 1),
        "thin, classes of one, rate 0.5": speed(10 * MILLION, lambda: thin(singles, 0.5, SOURCE)),
        "thin, classes of one, rate 0.1": speed(10 * MILLION, lambda: thin(singles, 0.1, SOURCE)),
        **{
            f"discrete Laplace, epsilon {epsilon}": speed(
                5 * MILLION, partial(discrete_laplace, 5 * MILLION, epsilon, SOURCE)
            )
            for epsilon in (3.0, 1.0, 0.1, 0.01, 0.001)
        },
        "distinct places of 10^9": speed(MILLION, lambda: distinct(MILLION, 10**9, SOURCE)),
        "successes of 10^18 trials": speed(MILLION, lambda: len(successes(10**18, rational(1e-12), SOURCE))),
        "permutation of 10^6": speed(MILLION, lambda: permutation(MILLION, SOURCE)),
        "permutation of 10^7": speed(10 * MILLION, lambda: permutation(10 * MILLION, SOURCE), 1),
    }
    print(json.dumps(results, indent=2))


if __name__ == "__main__":
    main()
