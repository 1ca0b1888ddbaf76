"""Stratified samples and design weights: which rates the people of a class can have.

A stratum is a label of a declared column. Where that column is published, every class lies within one stratum, which
has a k of its own. Where it is not, a class may hold people of all strata, and its sampling is biased between the
smallest and the largest rate. A design weight is one over the rate, so the classes of a published weight are strata
whose rates lie between two ends.
"""

from __future__ import annotations

import csv
import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

from crowdblend.policies.key import refusal

if TYPE_CHECKING:
    from crowdblend.policies.columns import Column
    from crowdblend.policies.sampling import ExactSample, Sampling

_MOST_STRATA = 1_000
# Every rate takes nine steps of a proof, and a certificate has at most 500.
_MOST_RATES = 50
_LARGEST_FILE = 10_000_000


@dataclass(frozen=True)
class Stratum:
    """People who are sampled with a probability between low and high; `rate` is the one that estimates divide by."""

    label: str
    low: float
    high: float
    rate: float

    @property
    def exact(self) -> bool:
        """Whether everybody has the same rate."""
        return self.low == self.high


@dataclass(frozen=True)
class Strata:
    """The strata of a column, in the order of its labels."""

    column: str
    strata: tuple[Stratum, ...]

    @property
    def low(self) -> float:
        """The smallest rate of anybody."""
        return min(stratum.low for stratum in self.strata)

    @property
    def high(self) -> float:
        """The largest rate of anybody."""
        return max(stratum.high for stratum in self.strata)

    @property
    def rates(self) -> tuple[float, ...]:
        """The rate of every label, in the order of the labels."""
        return tuple(stratum.rate for stratum in self.strata)


@dataclass(frozen=True)
class Design:
    """How people come into a sample that has no single rate.

    `column` holds the strata or weights. It is published, or counted and checked without being published; then classes
    span the strata.
    """

    column: Column
    strata: Strata
    published: bool
    weighted: bool = False

    @property
    def unpublished(self) -> tuple[Column, ...]:
        """The column that is read beside the published ones, if it is not one of them."""
        return () if self.published else (self.column,)


def design_of(policy: Any) -> Design | None:
    """The design of a policy that publishes crowds; None where people have one rate, or rates between low and high."""
    sampling: Sampling = policy.sampling
    if not getattr(sampling, "designed", False):
        return None
    name = sampling.stratum or sampling.weight
    column = next((one for one in policy.columns if one.name == name), None)
    if sampling.weight is not None and column is None and policy.kind == "statistics":
        raise refusal(
            "weight",
            f"Statistics count everybody by the class of their weight, and column {name!r} is not declared.",
            "Declare it in [columns] with breaks; it is read, and not published.",
            "[sampling] weight",
        )
    if sampling.weight is not None:
        return _weighted(sampling, column)
    return _stratified(sampling, column)


def _stratified(sampling: Sampling, column: Column | None) -> Design:
    from crowdblend.policies.columns import Column  # noqa: PLC0415  columns import sampling's sections
    from crowdblend.recoding import Values  # noqa: PLC0415

    name, rates = str(sampling.stratum), sampling.stratum_rates
    published = column is not None
    if column is None:
        column = Column(name, (Values(tuple(rates)),))
    labels = column.recoding.labels if column.recodings else None
    if column.chooses or labels is None or hasattr(column.domain, "resolution"):
        raise refusal(
            "stratum",
            f"Column {name!r} has no fixed list of labels, and its labels are the strata.",
            "Declare it with values, breaks, or from, to and width, or name another column.",
            "[sampling] stratum",
        )
    without, unknown = [one for one in labels if one not in rates], [one for one in rates if one not in labels]
    if without or unknown:
        what = f"no rate for {without[0]!r}" if without else f"a rate for {unknown[0]!r}, which is no label"
        raise refusal(
            "stratum",
            f"rates in [sampling] has {what} of column {name!r}.",
            "Give every label of the column a rate, and no other.",
            "[sampling] rates",
        )
    strata = tuple(Stratum(label, rates[label], rates[label], rates[label]) for label in labels)
    return Design(column, Strata(name, strata), published)


def _weighted(sampling: Sampling, column: Column | None) -> Design:
    from crowdblend.policies.columns import Column  # noqa: PLC0415  columns import sampling's sections
    from crowdblend.recoding import Breaks  # noqa: PLC0415

    name = str(sampling.weight)
    if column is None:
        if sampling.low is None or sampling.high is None:
            raise refusal(
                "weight",
                f"Nothing bounds the weights of column {name!r}.",
                "Add low and high, the smallest and the largest sampling probability, to [sampling]; or publish the "
                "column with breaks.",
                "[sampling] weight",
            )
        least, most = float(1 / Fraction(sampling.high)), float(1 / Fraction(sampling.low))
        recoding = Breaks((least, math.nextafter(most, math.inf)))
        low, high = _below(1 / Fraction(most)), _above(1 / Fraction(least))
        rate = sampling.rate or low
        strata = Strata(name, (Stratum("", low, high, rate),))
        return Design(Column(name, (recoding,)), strata, published=False, weighted=True)
    recoded = column.recoding if column.recodings else None
    if not isinstance(recoded, Breaks) or recoded.bottom or recoded.top or recoded.other or recoded.missing:
        raise refusal(
            "weight",
            f"The classes of column {name!r} do not bound the weights from both sides.",
            "Declare it with breaks alone, without top, bottom, other and missing.",
            f"column {name!r}",
        )
    if getattr(sampling, "low", None) is not None:
        raise refusal(
            "weight",
            f"The breaks of column {name!r} bound the rates already.",
            "Remove low and high from [sampling].",
            "[sampling] low",
        )
    ends = [float(end) for end in recoded.breaks]
    if ends[0] <= 1:
        raise refusal(
            "weight",
            f"The first break of column {name!r} is {ends[0]:g}: people with a weight of 1 are sampled for certain.",
            "Begin above 1, and treat people who are sampled for certain in a register of their own.",
            f"column {name!r}",
        )
    bands = tuple(
        Stratum(label, _below(1 / Fraction(end)), _above(1 / Fraction(start)), _middle(start, end))
        for label, (start, end) in zip(recoded.labels, pairwise(ends), strict=True)
    )
    return Design(column, Strata(name, bands), published=True, weighted=True)


def check_strata_of_statistics(policy: Any) -> None:
    """Refuse what statistics of strata and weights are not certified together with."""
    if not policy.sampling.designed:
        return
    what = "stratum" if policy.sampling.stratum is not None else "weight"
    if policy.group is not None:
        raise refusal(
            what,
            f"group in [release] is not certified together with {what} in [sampling].",
            "Remove group: with one person more or less, c people together lose at most c times epsilon.",
            "[release] group",
        )
    wanted = next((made for made in policy.statistics if made.error is not None), None)
    if wanted is not None:
        raise refusal(
            what,
            f"statistic {wanted.name[:60]!r} has error, from which a sample is planned, and {what} in [sampling] says "
            "already how people are drawn.",
            "Remove error; `crowdblend release --dry-run` says what to expect.",
            f"statistic {wanted.name[:60]!r}",
        )
    _few_rates(policy.design, what)


def _few_rates(design: Design, what: str) -> None:
    if len({(stratum.low, stratum.high) for stratum in design.strata.strata}) > _MOST_RATES:
        raise refusal(
            what,
            f"A certificate states at most {_MOST_RATES} different rates, and there are more.",
            "Merge strata of similar rates, or give them one rate.",
            "[sampling] rates",
        )


def check_strata(policy: Any) -> None:
    """Refuse what strata and weights are not certified together with."""
    if not policy.sampling.designed:
        return
    from crowdblend.recoding.classes import MOST_CELLS_LISTED  # noqa: PLC0415  loads NumPy

    what = "stratum" if policy.sampling.stratum is not None else "weight"
    clashes = {
        "[recoding]": getattr(policy, "recoding", None),
        "shares in [[tables]]": getattr(policy, "shares", ()),
        "flag": getattr(policy, "flag", False),
        "show_from": getattr(policy, "show_from", None),
        "releases": policy.releases > 1,
    }
    for name, given in clashes.items():
        if given:
            raise refusal(
                what,
                f"{what} in [sampling] is not certified together with {name}.",
                f"Remove {name}, or sample everybody at one rate.",
                f"[sampling] {what}",
            )
    design = policy.design
    if design.published:
        _few_rates(design, what)
    for table in getattr(policy, "tables", ()) if design.published else ():
        if design.column.name not in table.columns:
            raise refusal(
                what,
                f"Table {table.name!r} leaves {design.column.name!r} out, so that its counts would add people of "
                "different rates.",
                f"Add {design.column.name!r} to its columns; readers add estimates up with `crowdblend read --margin`.",
                "[[tables]] columns",
            )
    noisy = getattr(policy, "below_k", "suppress") == "noise"
    if noisy and not design.published:
        raise refusal(
            what,
            f"Classes hold people of different rates, because column {design.column.name!r} is not published, and "
            'below_k = "noise" is certified where a class has one rate.',
            f'Publish {design.column.name!r}, or write below_k = "suppress".',
            f"[sampling] {what}",
        )
    if noisy and policy.epsilon is None:
        raise refusal(
            what,
            "The noise of every stratum follows from epsilon, which is missing.",
            "Add epsilon to [release].",
            "[release] epsilon",
        )
    if noisy and (policy.cells or 0) > MOST_CELLS_LISTED:
        raise refusal(
            what,
            f"Noise in strata is certified where every cell is shown, and there are {policy.cells:,} cells.",
            f'Name at most {MOST_CELLS_LISTED:,} cells, or write below_k = "suppress".',
            "[columns]",
        )


def check_exact_design(sampling: ExactSample) -> None:
    """The same where exactly so many people are drawn, or everybody: strata have rates instead."""
    _both(sampling)
    if sampling.already_drawn and not sampling.designed:
        raise refusal(
            "already-drawn",
            "already_drawn = true needs to know how people were drawn.",
            "Add stratum and rates, or weight, to [sampling]; or remove already_drawn.",
            "[sampling] already_drawn",
        )
    if not sampling.designed:
        return
    what = "stratum" if sampling.stratum is not None else "weight"
    given = [name for name in ("sample", "everybody", "weight") if getattr(sampling, name) and name != what]
    if given:
        raise refusal(
            what,
            f"{what} in [sampling] says how people are drawn, and {given[0]} does too.",
            f"Remove {given[0]}, or {what}.",
            f"[sampling] {given[0]}",
        )
    if sampling.stratum is not None:
        _ = sampling.stratum_rates
    _weight_is_drawn(sampling)


def check_design(sampling: Sampling) -> None:
    """Refuse keys of strata and weights that contradict each other or the rest of [sampling]."""
    _both(sampling)
    if sampling.stratum is not None:
        given = [name for name in ("rate", "low", "high", "max_rate", "weight") if getattr(sampling, name) is not None]
        given += [name for name in ("exceptions", "everybody") if getattr(sampling, name)]
        if given:
            raise refusal(
                "stratum",
                f"[sampling] has strata with rates of their own, and {given[0]} beside them.",
                f"Remove {given[0]}, or stratum and rates.",
                f"[sampling] {given[0]}",
            )
        _ = sampling.stratum_rates
    _weight_is_drawn(sampling)


def _both(sampling: Sampling | ExactSample) -> None:
    if (sampling.stratum is None) != (sampling.rates is None):
        raise refusal(
            "stratum",
            "Stratified sampling needs both stratum and rates in [sampling].",
            "Name the column in stratum, and give every label of it a rate.",
            "[sampling] stratum",
        )


def _weight_is_drawn(sampling: Sampling | ExactSample) -> None:
    if sampling.weight is not None and (not sampling.already_drawn or sampling.everybody):
        raise refusal(
            "weight",
            "weight in [sampling] is the design weight of a survey that was already drawn.",
            "Add already_drawn = true, or remove weight.",
            "[sampling] weight",
        )


def rates_of(given: Mapping[str, float] | str) -> Mapping[str, float]:
    """The rates by label, from the policy or from a file; every one above 0 and below 1."""
    rates = _read(Path(given)) if isinstance(given, str) else dict(given)
    if len(rates) > _MOST_STRATA:
        raise _refusal(f"rates in [sampling] lists more than {_MOST_STRATA:,} strata.", "Merge some of them.")
    for label, rate in rates.items():
        if not 0 < rate < 1:
            raise _refusal(
                f"The rate of {label!r} in [sampling] is {rate:g}; rates lie above 0 and below 1.",
                "Give the share of people kept. People who are kept for certain belong into a register of their own.",
            )
    return rates


def _read(path: Path) -> dict[str, float]:
    """A file of rates: a label and a rate in each line, after a line that names the two."""
    try:
        if path.stat().st_size > _LARGEST_FILE:
            raise _refusal(f"{path.name!r} is larger than 10 MB.", "Name a file of rates.")
        with path.open(encoding="utf-8-sig", newline="") as file:
            lines = [line for line in csv.reader(file) if line]
    except (OSError, UnicodeDecodeError, csv.Error):
        raise _refusal(f"The file of rates {path.name!r} cannot be read.", "Check the path; use UTF-8.") from None
    rates: dict[str, float] = {}
    for number, line in enumerate(lines[1:], 2):
        try:
            label, rate = line[0], float(line[1])
        except (IndexError, ValueError):
            raise _refusal(
                f"Line {number} of {path.name!r} does not hold a label and a rate.",
                "Write two columns after a line that names them, such as region,rate.",
            ) from None
        if len(line) != 2 or label in rates or not math.isfinite(rate):
            raise _refusal(
                f"Line {number} of {path.name!r} repeats a label, or does not hold a label and a rate alone.",
                "Write every label once, with its rate.",
            )
        rates[label] = rate
    if not rates:
        raise _refusal(f"{path.name!r} lists no rates.", "Write a label and a rate in each line after the first.")
    return rates


def _refusal(message: str, remedy: str) -> Exception:
    return refusal("rates", message, remedy, "[sampling] rates")


def _middle(start: float, end: float) -> float:
    """One over the logarithmic mean of two weights: the mean weight where logarithms of weights are spread evenly."""
    return math.log(end / start) / (end - start)


def _below(value: Fraction) -> float:
    """The largest double that is not above a value."""
    near = float(value)
    return near if Fraction(near) <= value else math.nextafter(near, 0.0)


def _above(value: Fraction) -> float:
    """The smallest double that is not below a value."""
    near = float(value)
    return near if Fraction(near) >= value else math.nextafter(near, math.inf)
