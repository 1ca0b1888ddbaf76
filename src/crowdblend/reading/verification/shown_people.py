"""The number of people whom published counts show, held against the number of people whom a survey asked.

A smaller survey would guarantee more, so a certificate must not state fewer people than its data show. But noise shows
more people than there are, and a class may be shown because noise raised it. So counts are compared with a bound that
an honest release exceeds with a probability of at most `LEVEL`, whatever its people are:

**Theorem.** Let n people be kept by independent coins of probability p each; everybody kept adds at most m to the
numbers x of people in K cells together. A cell of x people shows y = x + Z, with independent noise Z of a loss ℓ(x)
that does not fall in x; without noise it is infinite. For a threshold h let V be y where y ≥ h, and 0 elsewhere. Let λ
and g be such that E[e^(sV); Z ≤ R(x)] ≤ e^(g + λx) for every x, where R(x) = ln(2K/level)/ℓ(x). Then for every s > 0

    P[ΣV > B] ≤ level    for    B = (n·ln(1 − p + p·e^(λm)) + K·g + ln(2/level))/s.

Proof. P[Z > R] ≤ e^(−ℓR), so that the noise of some cell is beyond R(x) with probability level/2 at most. Elsewhere
E[e^(sΣV)] ≤ e^(Kg)·E[e^(λΣx)]; Σx is at most m for every kept person, and Markov's inequality gives the rest. ∎

**λ and g.** Cells with x + R(x) < h show nothing. Let a be the first of the others, q = ℓ(a), M = E[e^(sZ)] at that
loss, and C = c·e^((s−q)h)/(1 − e^(s−q)), where c ≤ 1 is the largest P[Z = 0]. Below h, E[e^(sV)] ≤ 1 + C·e^(qx), a
geometric sum; from h on, E[e^(sV)] ≤ 1 + M·e^(sx). So g = ln(1 + C) if empty cells are among them and show noise, else
0. The logarithm of the first bound is convex in x: its quotient by x is largest at an end, max(a, 1) or h. That of the
second is s + ln(M + e^(−sx))/x, which falls. Discrete Gaussian noise has E[e^(tZ)] ≤ e^(t²σ²/2) (Canonne, Kamath and
Steinke 2020, Lemma 22), so R = σ·√(2·ln(2K/level)), M = e^(s²σ²/2), and C = e^(q²σ²/2 − (q−s)h) for every q > s. Where
every cell is shown, and without a threshold, E[e^(sV)] = M·e^(sx). Cells without noise have λ = s and g = 0.

Every s gives a bound, so the best one is taken. The level is divided among all thresholds.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from crowdblend.kinds.shared.facts import contradiction
from crowdblend.methods.designs import Design
from crowdblend.methods.estimates.laws import ExactCounts, GaussianOnEveryCell, Law, NoiseBelowK, OutlierNoise
from crowdblend.methods.recoding.domain import Domain

Floats = NDArray[np.float64]
LEVEL = 1e-9
"""The probability with which an honest release is refused, at most."""
# Thresholds: none, powers of two, and one that the noise of small cells does not reach.
_THRESHOLDS = 44
# More than the cells of any table: what holds for as many holds for fewer.
_MOST_CELLS = 2**63
# Losses that grow with the size of a cell are taken in this many steps, each with its smallest.
_STEPS = 4096
_LARGEST_EXPONENT = 50.0
_EXPONENTS = 0.98 * 0.87 ** np.arange(180)
_SLACK = 1 + 1e-9


@dataclass(frozen=True)
class ShownPeople:
    """Counts of sampled people in cells, and how they came about.

    `cells` is how many there are, those that are not shown among them; None where nobody listed them. One person adds
    at most `each` to all of them together, and at most `in_one` to one. Of `clamped` ones 0 stands for what is below.
    """

    law: Law
    sample: Design
    counts: NDArray[np.int64]
    exact: NDArray[np.bool_] | None = None
    cells: int | None = None
    each: int = 1
    in_one: int = 1
    clamped: bool = False

    @property
    def exact_cells(self) -> ShownPeople | None:
        """The cells that are said to be exact."""
        if self.exact is None:
            return None
        counts = self.counts[self.exact]
        return ShownPeople(ExactCounts(0), self.sample, counts, None, self.cells, self.each, self.in_one)

    @property
    def shows_all(self) -> bool:
        """True if every cell shows its noisy number, so that noise in one direction makes up for the other."""
        return not (self.clamped or self.law.noiseless or self.law.shown_from is not None)

    @property
    def shows_empty_cells(self) -> bool:
        """True if a cell can be shown that nobody is in."""
        return not self.law.noiseless and self.law.least_people == 0

    def possible_cells(self, respondents: int) -> int:
        """Return how many cells can be shown."""
        cells = _MOST_CELLS if self.cells is None else self.cells
        return max(1, cells if self.shows_empty_cells else min(cells, respondents * self.each))


def number_of_cells(columns: Iterable[Domain]) -> int | None:
    """Return the number of combinations of labels; None where some are not listed."""
    sizes = [domain.number_of_labels for domain in columns]
    return None if None in sizes else math.prod(size for size in sizes if size is not None)


def check_people(publications: Sequence[Sequence[ShownPeople]], *, apart: bool = False) -> None:
    """Refuse counts of more people than a survey asked, in one publication or in several.

    `apart` says that nobody is in two of them, so that their people add up: of each the first counts.
    """
    shown = [one for counted in publications for one in counted]
    if not shown or (respondents := shown[0].sample.people) is None:
        return
    alone = [one for whole in shown for one in (whole, whole.exact_cells) if one is not None]
    firsts = [counted[0] for counted in publications if counted]
    groups = [[one] for one in alone] + ([firsts] if apart and len(firsts) > 1 else [])
    level = LEVEL / (len(groups) + len(alone))
    many = any(_sum_is_larger(group, respondents, level) for group in groups)
    if many or any(one.counts.max(initial=0) > _largest_count(one, respondents, level) for one in alone):
        raise contradiction("it shows more people than its survey has")


def _sum_is_larger(parts: Sequence[ShownPeople], respondents: int, level: float) -> bool:
    """Return whether the counts from some threshold on add up to more than their bound."""
    level /= _THRESHOLDS
    for threshold in range(_THRESHOLDS):
        curves = [_Curve(one, threshold, respondents, level / len(parts)) for one in parts]
        shown = sum(curve.shown for curve in curves)
        if shown > 0 and shown > _bound(curves, respondents, level) * _SLACK:
            return True
    return False


def _bound(curves: Sequence[_Curve], respondents: int, level: float) -> float:
    """Return what the counts from the threshold on exceed with probability `level` at most."""
    s = np.multiply(_EXPONENTS, min([_LARGEST_EXPONENT, *(curve.loss for curve in curves)]), dtype=np.float64)
    kept = sum(curve.kept for curve in curves)
    exponent = np.full(len(s), math.log(2 / level))
    person = np.full(len(s), math.log1p(-kept) if kept < 1 else -math.inf)
    for curve in curves:
        slope, empty = curve.slopes(s)
        person = np.logaddexp(person, math.log(curve.kept) + slope * curve.each)
        exponent += empty
    return float(np.min((respondents * person + exponent) / s))


def _largest_count(part: ShownPeople, respondents: int, level: float) -> float:
    """Return what no cell exceeds but with probability `level`: its people, and the noise on them."""
    far = math.log(4 * part.possible_cells(respondents) / level)
    s, kept = _EXPONENTS * _LARGEST_EXPONENT, part.sample.share_kept
    stay = math.log1p(-kept) if kept < 1 else -math.inf
    bounds = (respondents * np.logaddexp(stay, math.log(kept) + s) + far) / s
    people = min(respondents, float(np.min(bounds))) * part.in_one
    noise = _Noise(part.law, far)
    settled = min(people, part.law.settled_from)
    return max(settled + noise.reach(0), people + noise.reach(people)) * _SLACK


class _Noise:
    """The losses of noise by the number of people in a cell, in steps, and how far it reaches."""

    def __init__(self, law: Law, far: float) -> None:
        self.sigma = law.sigma if isinstance(law, GaussianOnEveryCell) else None
        self.starts, self.losses = _losses(law)
        with np.errstate(divide="ignore"):
            self._reach = far / self.losses if self.sigma is None else np.array([self.sigma * math.sqrt(2 * far)])

    def reach(self, people: float) -> float:
        """Return the largest noise on a cell with this number of people, unless something unlikely happens."""
        return float(self._reach[np.searchsorted(self.starts, people, side="right") - 1])

    def first(self, threshold: float) -> tuple[float, float]:
        """Return the smallest number of people of whom as much can be shown, and the loss of their noise."""
        lasts = np.append(self.starts[1:] - 1, np.inf)
        place = int(np.argmax(lasts + self._reach >= threshold))
        least = max(0.0, float(self.starts[place]), math.ceil(threshold - float(self._reach[place])))
        return least, float(self.losses[place])


class _Curve:
    """A publication from a threshold on: what it shows, and the λ and K·g of its cells."""

    def __init__(self, part: ShownPeople, threshold: int, respondents: int, level: float) -> None:
        self.each, self.kept = part.each, part.sample.share_kept
        self._cells, self._shows_empty = part.possible_cells(respondents), part.shows_empty_cells
        noise = _Noise(part.law, math.log(2 * self._cells / level))
        beyond = part.law.settled_from + math.ceil(noise.reach(0)) + 1
        self._from = float(beyond if threshold == _THRESHOLDS - 1 else 2 ** max(0, threshold - 1))
        self._whole = threshold == 0 and part.shows_all
        self._sigma = noise.sigma
        self._least, self.loss = (0.0, float(noise.losses[0])) if self._whole else noise.first(self._from)
        losses = noise.losses[np.isfinite(noise.losses)]
        self._peak = math.tanh(float(losses.max(initial=0)) / 2)
        counts = part.counts if self._whole else part.counts[part.counts >= self._from]
        self.shown = int(counts.sum())

    def slopes(self, s: Floats) -> tuple[Floats, Floats]:
        """Return λ and K·g for every s."""
        nothing = np.zeros(len(s))
        if math.isinf(self.loss) and self._sigma is None:
            return s, nothing
        moment, h = self._log_moment(s), self._from
        if self._whole:
            return s, self._cells * moment
        above = max(self._least, h)
        beyond = s + np.logaddexp(moment, -s * above) / above
        if self._least >= h:
            return beyond, nothing
        found = [self._below(s, log_c, q) for log_c, q in self._tails(s)]
        # Each is a bound: of several, the one that costs least for as many people as make one cell.
        best = np.argmin([slope * h + empty for slope, empty in found], axis=0)
        slope, empty = (np.choose(best, each) for each in zip(*found, strict=True))
        return np.maximum(slope, beyond), empty

    def _below(self, s: Floats, log_c: Floats, q: Floats) -> tuple[Floats, Floats]:
        """Return λ and K·g of cells below the threshold."""
        ends = [np.logaddexp(0.0, log_c + q * x) / x for x in (max(self._least, 1.0), self._from)]
        shows = self._shows_empty and self._least == 0
        return np.maximum(*ends), self._cells * np.logaddexp(0.0, log_c) if shows else np.zeros(len(s))

    def _tails(self, s: Floats) -> list[tuple[Floats, Floats]]:
        """Return ln C and q for every s; of Gaussian noise several."""
        h = self._from
        if self._sigma is None:
            return [(math.log(self._peak) + (s - self.loss) * h - np.log(-np.expm1(s - self.loss)), self.loss + 0 * s)]
        variance = self._sigma**2
        each = [np.maximum(s * 1.001, (h - self._least) / variance * share) for share in (1.0, 0.5, 0.25)]
        return [(q**2 * variance / 2 - (q - s) * h, q) for q in each]

    def _log_moment(self, s: Floats) -> Floats:
        """Return ln E[e^(sZ)] of the widest noise."""
        if self._sigma is not None:
            return s**2 * self._sigma**2 / 2
        a = math.exp(-self.loss)
        return -np.log1p(-4 * a * np.sinh(s / 2) ** 2 / math.expm1(-self.loss) ** 2)


def _losses(law: Law) -> tuple[Floats, Floats]:
    """Return the first sizes of cells of each loss, and the losses, which rise; infinite where there is no noise."""
    if isinstance(law, NoiseBelowK):
        return np.array([0.0, law.k]), np.array([law.noise_epsilon, math.inf])
    if isinstance(law, OutlierNoise):
        starts = np.unique(np.linspace(0, law.settled_from, _STEPS).astype(np.int64))
        return starts.astype(np.float64), law.losses(starts)
    noiseless = isinstance(law, GaussianOnEveryCell)  # its reach says it all
    return np.zeros(1), np.array([math.inf if noiseless else law.widest_loss])
