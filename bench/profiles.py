"""How long releases take to compose by profiles, and to verify: identical ones and different ones.

python -m bench.profiles
"""

from __future__ import annotations

import resource
import time

from crowdblend.trusted.calculus import RULES, Certificate, Derivation, loss_curves, verify


def suppressed(k: int, rate: float) -> Derivation:
    return RULES["profile.crowds"](RULES["histogram.suppressed"](k=k), rate=rate)


def forget() -> None:
    """Whatever was computed before."""
    for cached in (loss_curves.curve_of, loss_curves.pair_of, loss_curves.together):
        cached.cache_clear()


def timed(name: str, profile: Derivation, delta: float) -> None:
    forget()
    start, busy = time.perf_counter(), time.process_time()
    certificate = Certificate((RULES["profile.epsilon"](profile, delta=delta),))
    derived = time.perf_counter() - start, time.process_time() - busy
    text = certificate.to_json()
    forget()
    start, busy = time.perf_counter(), time.process_time()
    verify(text)
    verified = time.perf_counter() - start, time.process_time() - busy
    epsilon = certificate.guarantees[0].epsilon  # type: ignore[attr-defined]
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(
        f"{name:<22} epsilon {epsilon:.4f}  derive {derived[0]:.2f} s ({derived[1]:.2f} s CPU)  "
        f"verify {verified[0]:.2f} s ({verified[1]:.2f} s CPU)  {len(text):,} bytes  {memory:.0f} MB"
    )


if __name__ == "__main__":
    timed("10 identical", RULES["composition.repeated"](suppressed(8, 0.1), releases=10), 1e-5)
    ten = [suppressed(8 + i % 5, 0.05 + 0.01 * i) for i in range(10)]
    timed("10 different", RULES["composition.profiles"](*ten), 1e-4)
    timed("1,000 identical", RULES["composition.repeated"](suppressed(20, 0.1), releases=1000), 1e-6)
    thousand = [suppressed(15 + i % 13, 0.02 + 0.0001 * i) for i in range(1000)]
    timed("1,000 different", RULES["composition.profiles"](*thousand), 1e-6)
