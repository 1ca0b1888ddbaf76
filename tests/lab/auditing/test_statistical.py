"""The statistical audit: bounds that hold, false alarms within the stated rate, power where a guarantee is broken."""

import math
import operator
import os
import signal
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

from bench.audit_power import repeat
from crowdblend.errors import InvalidInput
from crowdblend.lab.auditing.statistical import workers
from crowdblend.lab.auditing.statistical.bounds import clopper_pearson, epsilon_lower
from crowdblend.lab.auditing.statistical.events import Fold, candidates, spread
from crowdblend.lab.auditing.statistical.run import audit, rounds
from crowdblend.lab.auditing.statistical.subject import BlackBox, Neighbours, hard_sizes, views_of
from crowdblend.lab.auditing.statistical.workers import processes, submit_calls
from crowdblend.trusted.guarantees.privacy import Differential, Relation
from tests.cases import for_each
from tests.lab.rehearsal.families import FAMILIES

RNG = np.random.default_rng()


def coin(probability: float) -> int:
    return int(RNG.random() < probability)


def claims(epsilon: float, delta: float = 0.0) -> BlackBox:
    """Two coins whose heads differ by a factor of exactly e."""
    guarantee = Differential(epsilon, delta, Relation.ADD_REMOVE)
    return BlackBox("coin", guarantee, coin, (Neighbours("e to one", 0.1 * math.e, 0.1),))


@pytest.mark.parametrize("error", [0.05, 1e-3])
def test_clopper_pearson_covers(error: float) -> None:
    """By enumeration: each bound is wrong with probability at most the error, whatever the truth."""
    n = 40
    bounds = [clopper_pearson(hits, n, error) for hits in range(n + 1)]
    for p in np.linspace(0.001, 0.999, 97):
        law = stats.binom.pmf(np.arange(n + 1), n, p)
        assert sum(law[hits] for hits, (low, _) in enumerate(bounds) if low > p) <= error
        assert sum(law[hits] for hits, (_, high) in enumerate(bounds) if high < p) <= error
    inverted = stats.binomtest(7, n).proportion_ci(1 - 2 * error)
    assert bounds[7] == pytest.approx((inverted.low, inverted.high))


def test_epsilon_lower() -> None:
    assert epsilon_lower((10, 1000), (10, 1000), 0.0, 0.01, 0.5) == 0
    assert epsilon_lower((500, 1000), (0, 1000), 0.6, 0.01, 0.5) == 0
    assert epsilon_lower((500, 1000), (0, 1000), 0.0, 0.01, 0.0) > 1
    strict, loose = (epsilon_lower((900, 1000), (100, 1000), 0.0, error, 1.0) for error in (1e-6, 0.1))
    assert 0 < strict < loose < math.log(9)


def test_a_small_error_keeps_its_digits() -> None:
    """Nothing in n runs: the upper bound q has (1 − q)^n = error, to many digits even where 1 − error has few."""
    _, high = clopper_pearson(0, 40, 3e-16)
    assert 40 * math.log1p(-high) == pytest.approx(math.log(3e-16), rel=1e-9)


@for_each("guaranteed", [40.0, 400.0, 1e6])
def test_a_promise_of_next_to_nothing_is_audited_too(guaranteed: float) -> None:
    """The largest ε that a policy may have; no number of runs refutes it."""
    assert 1 < epsilon_lower((1000, 1000), (0, 1000), 0.0, 1e-3, guaranteed) < math.log(1000)
    assert not audit(claims(guaranteed), runs=1_000).finding
    assert hard_sizes(10, 0.8, guaranteed) == hard_sizes(10, 0.8, 40.0)


def laws(n: int, m: int, q: np.ndarray, epsilon: float, delta: float) -> np.ndarray:
    """Return the law of hits on both sides for each chance q of the one, where (ε, δ)-closeness just holds."""
    p = np.minimum(1.0, math.exp(epsilon) * q + delta)
    likely, unlikely = (stats.binom.pmf(np.arange(k + 1), k, chance[:, None]) for k, chance in ((n, p), (m, q)))
    return likely[:, :, None] * unlikely[:, None, :]


@for_each(("epsilon", "delta"), [(0.5, 0.1), (0.0, 0.0), (0.8, 0.01)], daily=2)
@for_each("guaranteed", [0.0, 1.0])
def test_the_bound_is_wrong_as_seldom_as_stated(epsilon: float, delta: float, guaranteed: float) -> None:
    """By enumeration: where (ε, δ)-closeness just holds, a larger ε is claimed with probability at most the error."""
    n, m, error = 9, 7, 0.1
    wrong = np.array([[epsilon_lower((x, n), (y, m), delta, error, guaranteed) > epsilon for y in range(m + 1)]
                      for x in range(n + 1)])  # fmt: skip
    assert wrong.any()
    for law in laws(n, m, np.linspace(0, 1, 201), epsilon, delta):
        assert law[wrong].sum() <= error


def test_the_error_pays_for_the_interval_as_well() -> None:
    """The least error at which ε is refuted is the number of the theorem, found here by trying many q."""
    (x, n), (y, m), epsilon, delta = (20, 30), (6, 25), 0.3, 0.05
    low, high = 1e-3, 0.4
    while high > low * 1.0001:
        error = math.sqrt(low * high)
        refuted = epsilon_lower((x, n), (y, m), delta, error, epsilon) > epsilon
        low, high = (low, error) if refuted else (error, high)
    hits, others = np.arange(n + 1)[:, None], np.arange(m + 1)[None, :]
    as_large = hits / n - math.exp(epsilon) * others / m >= x / n - math.exp(epsilon) * y / m - 1e-12
    tried = np.linspace(*clopper_pearson(y, m, high / 128), 500)
    largest = max(law[as_large].sum() for law in laws(n, m, tried, epsilon, delta))
    assert largest + high / 64 <= high
    assert largest + high / 64 > 0.9 * high, "sound, and not by giving much away"


def test_both_sides_together_say_more_than_each() -> None:
    """Where deviations of both sides count, bounds of each do not refute what the counts refute together."""
    likely, unlikely, delta, error = (1640, 4687), (640, 4687), 0.107, 0.00025
    low, high = clopper_pearson(*likely, error / 2)[0], clopper_pearson(*unlikely, error / 2)[1]
    assert math.log((low - delta) / high) < 0.35
    assert 0.4 < epsilon_lower(likely, unlikely, delta, error, 0.4) < math.log((1640 / 4687 - delta) / (640 / 4687))


@for_each(("k", "rate", "epsilon"), [(5, 0.5, 0.3), (10, 0.8, 0.4), (10, 0.8, 0.8), (20, 0.1, 0.5)], daily=2)
def test_hard_sizes_attain_the_supremum(k: int, rate: float, epsilon: float) -> None:
    """By a scan over crowd sizes: the worst divergence is at one of the sizes."""

    def divergence(n: int) -> float:
        more, fewer = (np.array([stats.binom.cdf(k - 1, size, rate), *stats.binom.pmf(range(k, n + 1), size, rate)])
                       for size in (n, n - 1))  # fmt: skip
        up, down = more - math.exp(epsilon) * fewer, fewer - math.exp(epsilon) * more
        return max(up[up > 0].sum(), down[down > 0].sum())

    worst = max(divergence(n) for n in range(1, math.ceil(4 * k / rate)))
    assert max(divergence(n) for n in hard_sizes(k, rate, epsilon).values()) == pytest.approx(worst, rel=1e-9)


def test_the_rounds_share_runs_and_error() -> None:
    schedule = rounds(100_000, 0.01)
    assert sum(one.looking + one.judging for one in schedule) == 100_000
    assert sum(one.error for one in schedule) == pytest.approx(0.01)


def test_the_best_event_is_not_made_of_chance() -> None:
    def side(where: str, a: int) -> tuple[Fold, Fold]:
        noise = [Counter({f"{where}, fold {fold}, {i // 9}": 9 for i in range(495)}) for fold in (0, 1)]
        one, other = (Fold(500, {"noise": noise[fold], "fact": Counter(a=a, b=500 - a)}) for fold in (0, 1))
        return one, other

    offered = candidates({0: (side("here", 400), side("there", 100))}, 0.5, 0.0)
    event = max(offered, key=lambda one: one.promising)
    assert (event.view, event.outcomes) in {("fact", frozenset("a")), ("fact", frozenset("b"))}


def test_false_alarms_stay_within_the_stated_rate() -> None:
    """ε = 1 is exactly true here. 60 audits at error 0.05: more than 14 alarms have probability below 1e-6."""
    found = repeat(claims(1.0), 60, runs=1_000, error=0.05)
    assert stats.binom.sf(14, 60, 0.05) < 1e-6
    assert found.findings <= 14


class Noise:
    """Tells nothing, in many ways: whichever looks most damning does so by chance."""

    name, guarantee = "noise", Differential(0.0, 0.0, Relation.ADD_REMOVE)

    def pairs(self) -> list[Neighbours]:
        return [Neighbours("somebody, and nobody", 1, 0)]

    def observe(self, _population: int, runs: int) -> dict[str, dict[str, int]]:
        heads = RNG.binomial(runs, 0.5, 100).tolist()
        return {f"coin {place}": {"heads": found, "tails": runs - found} for place, found in enumerate(heads)}


def test_an_event_is_not_judged_by_the_runs_that_suggested_it() -> None:
    """10 audits at error 0.15: more than 8 alarms have probability below 1e-6. Judged by the runs that were looked at,
    the best of 100 coins is an alarm nearly every time."""
    assert stats.binom.sf(8, 10, 0.15) < 1e-6
    assert repeat(Noise(), 10, runs=2_000, error=0.15).findings <= 8


@pytest.mark.parametrize(("delta", "finding"), [(0.3, False), (0.2, True)])
def test_what_delta_allows_is_allowed(delta: float, finding: bool) -> None:
    """An event with chance 0.3 that otherwise never happens. At δ = 0.2 the runs of the last round are thirteen
    standard deviations beyond the claim; a false alarm has probability 1e-6."""
    guarantee = Differential(0.0, delta, Relation.ADD_REMOVE)
    subject = BlackBox("coin", guarantee, coin, (Neighbours("now and then, and never", 0.3, 0.0),))
    assert audit(subject, runs=20_000, error=1e-6).finding is finding


def test_a_claim_of_half_is_refuted() -> None:
    """Heads in 0.27 of the runs against 0.1: in the last round eleven standard deviations beyond a claim of 1/2."""
    verdict = audit(claims(0.5), runs=30_000, error=1e-7)
    assert verdict.finding
    assert 0.5 < verdict.epsilon_lower < 1.0, "at most e, except with probability 1e-7"
    assert verdict.likelier == "with the person"
    assert "FINDING" in verdict.describe()


SLOW = ("noise below k, hidden", "suppressed table", "thinned table", "microdata", "recoding by the population")


@pytest.mark.parametrize(
    "name", ["noise below k, flagged", *(pytest.param(name, marks=pytest.mark.slow) for name in SLOW)]
)
def test_our_own_mechanisms(name: str) -> None:
    """Half of the true ε is refuted, the true one is not (a false alarm here has probability 1e-6)."""
    assert audit(FAMILIES[name].subject(hard_sizes, understated=2), runs=100_000, error=1e-3).finding
    true: Any = FAMILIES[name].subject(hard_sizes)
    verdict = audit(replace(true, sizes=true.sizes[:3:2]), runs=5_000, error=1e-6)
    assert not verdict.finding
    assert verdict.runs <= 5_000


@pytest.mark.parametrize("pairs", [0, 16])
def test_more_pairs_than_the_runs_are_enough_for_are_refused(pairs: int) -> None:
    few = claims(1.0)
    with pytest.raises(InvalidInput, match="at least 64 runs for each pair"):
        audit(replace(few, neighbours=few.neighbours * pairs), runs=1_000)


def test_a_worker_calls_with_what_it_was_told_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "_here", {})
    workers._prepare(40)
    assert workers._call(operator.sub, 2) == 38


@pytest.mark.slow  # every day other tests start workers, and audit in one process
def test_several_processes_see_the_same_law() -> None:
    subject: Any = FAMILIES["suppressed table"].subject(hard_sizes)
    few = replace(subject, sizes=(("just a crowd", 10),))
    verdict = audit(few, runs=2_000, error=1e-6, workers=2)
    assert not verdict.finding
    assert 1_900 < verdict.runs <= 2_000


def test_what_other_processes_cannot_import_is_refused_in_a_sentence() -> None:
    subject = replace(claims(1.0), mechanism=lambda probability: 1 - coin(probability))
    with pytest.raises(InvalidInput, match="instead of lambdas"):
        audit(subject, runs=1_000, workers=2)
    with pytest.raises(InvalidInput, match="instead of lambdas"):
        repeat(subject, 2, runs=1_000, error=1e-6, workers=2)


@pytest.mark.parametrize(("runs", "error", "says"), [(10, 0.1, "runs must be"), (5_000, 0.0, "error must be")])
def test_bad_parameters_are_refused(runs: int, error: float, says: str) -> None:
    with pytest.raises(InvalidInput, match=says):
        audit(claims(1.0), runs=runs, error=error)


def test_views() -> None:
    assert views_of({"a": 1})["cell a"] == "1"
    assert views_of(0.75)["grid"] == "3, 2^-2"
    assert "grid" not in views_of(math.inf)
    assert len(views_of("x" * 1000)["all of it"]) == 24
    many = views_of(tuple(at * at for at in range(1_000)))
    entries = [name for name in many if name.startswith("entry")]
    assert many["steps"].split(", ") == [str(2 * at + 1) for at in range(len(entries))]


def test_workers_import_nothing_from_the_working_folder_and_leave_interruptions_to_us(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each worker would print where it was interrupted."""
    before = signal.getsignal(signal.SIGINT)
    (tmp_path / "pickle.py").write_text("open('imported', 'w')\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    with processes(claims(1.0), 1) as pool:
        assert [one.result() for one in submit_calls(pool, max, [(1, 2)])] == [2]
        assert [one.result() for one in submit_calls(pool, signal.getsignal, [(signal.SIGINT,)])] == [signal.SIG_IGN]
    assert signal.getsignal(signal.SIGINT) is before
    assert not (tmp_path / "imported").exists()
    assert not os.environ.get("PYTHONSAFEPATH")


def test_the_spread_of_an_excess_is_that_of_rare_events() -> None:
    """In one run of each side: one with probability 0.3, less e with probability 0.01."""
    exact = math.sqrt(0.3 * 0.7 + math.e**2 * 0.01 * 0.99)
    assert spread((3_000, 10_000), (100, 10_000), 1.0) == pytest.approx(exact, rel=0.005)
    # What was seen always or never is counted as half a time less, or more: 0.9 and 1/2002.
    assert spread((4, 4), (0, 1_000), 0.0) == pytest.approx(math.sqrt(0.9 * 0.1 + 0.5 / 1_001))
