"""Stratified samples and design weights: which rates the people of a class can have.

A stratum is a label of a declared column. Where that column is published, every class lies within one stratum, which
has a k of its own. Where it is not, a class may hold people of all strata, and its sampling is biased between the
smallest and the largest rate. A design weight is one over the rate, so the classes of a published weight are strata
whose rates lie between two ends.
"""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from pathlib import Path

from crowdblend.errors import InvalidInput
from crowdblend.policies.columns import Column
from crowdblend.policies.domains import AxisDomain, NumberDomain
from crowdblend.policies.refusals import refusal
from crowdblend.trusted.machine.lazy import lazy_imports
from crowdblend.trusted.machine.regular_files import read_regular

with lazy_imports():
    from crowdblend.methods import designs
    from crowdblend.methods.recoding import intervals, values

# Every rate takes nine steps of a proof, and a certificate has at most 500.
_MOST_RATES = 50
_MOST_STRATA = 1_000


@dataclass(frozen=True)
class DeclaredStrata:
    """A way in which people come into a sample that has no single rate: strata by label, in the order of a column.

    `column` holds the strata or weights. It is published, or counted and checked without being published; then classes
    span the strata. A plain sample is one stratum, which needs no column.
    """

    column: Column | None
    by_label: dict[str, designs.Stratum]
    published: bool
    weighted: bool = False

    @property
    def column_name(self) -> str:
        """The name of the column; empty where there is none."""
        return "" if self.column is None else self.column.name

    @property
    def low(self) -> float:
        """The smallest rate of anyone."""
        return min(stratum.low for stratum in self.by_label.values())

    @property
    def high(self) -> float:
        """The largest rate of anyone."""
        return max(stratum.high for stratum in self.by_label.values())

    @property
    def unpublished_columns(self) -> tuple[Column, ...]:
        """The column that is read beside the published ones, if it is not one of them."""
        return () if self.published or self.column is None else (self.column,)

    @property
    def key(self) -> str:
        """The key of [sampling] that declares it."""
        return "weight" if self.weighted else "stratum"

    @property
    def breaks(self) -> tuple[float, ...]:
        """The breaks between classes of weights."""
        return () if self.column is None else tuple(map(float, getattr(self.column.recoding, "breaks", ())))

    def as_biased(self) -> designs.Biased:
        """Return the sample of classes that span the strata."""
        return designs.Biased(self.low, self.high, max_rate=self.high)

    def check_rates(self) -> None:
        """Refuse more different rates than a certificate can state."""
        if len({(stratum.low, stratum.high) for stratum in self.by_label.values()}) > _MOST_RATES:
            message = f"A certificate states at most {_MOST_RATES} different rates, and there are more."
            remedy = "Merge strata of similar rates, or give them one rate."
            raise refusal(self.key, message, remedy, "`sampling.rates`")


def one_stratum(rate: float, ends: tuple[float, float] | None = None) -> DeclaredStrata:
    """Return a sample without strata as the one stratum that it is."""
    low, high = ends or (rate, rate)
    return DeclaredStrata(None, {"": designs.Stratum(rate, low, high)}, published=True)


def find_column(name: str, columns: Sequence[Column], beside: Sequence[Column]) -> tuple[Column | None, bool]:
    """Return the column of strata or weights, and whether it is published; it may stand `beside`, or be undeclared."""
    found = next((one for one in (*columns, *beside) if one.name == name), None)
    return found, any(one.name == name for one in columns)


def strata_by_label(
    name: str, rates: Mapping[str, float], columns: Sequence[Column], beside: Sequence[Column]
) -> DeclaredStrata:
    """Return the labels of a column as strata, each with its rate."""
    column, published = find_column(name, columns, beside)
    if column is None:
        column = Column(name, (values.Values(tuple(rates)),))
    labels = column.recoding.labels if column.recodings else None
    if column.chooses or labels is None or isinstance(column.domain, NumberDomain | AxisDomain):
        message = f"Column {name!r} has no fixed list of labels, and its labels are the strata."
        remedy = "Declare it with values, breaks, or from, to and width, or name another column."
        raise refusal("stratum", message, remedy, "`sampling.column`")
    without, unknown = [one for one in labels if one not in rates], [one for one in rates if one not in labels]
    if without or unknown:
        what = f"no rate for {without[0]!r}" if without else f"a rate for {unknown[0]!r}, which is no label"
        message = f"`sampling.rates` has {what} of column {name!r}."
        raise refusal("stratum", message, "Give every label of the column a rate, and no other.", "`sampling.rates`")
    strata = {label: designs.Stratum.at_rate(rates[label]) for label in labels}
    return DeclaredStrata(column, strata, published)


def strata_by_weight(
    name: str, smallest: float | None, largest: float | None, columns: Sequence[Column], beside: Sequence[Column]
) -> DeclaredStrata:
    """Return the classes of weights of a column as strata, or all weights that low and high bound as one."""
    column, published = find_column(name, columns, beside)
    if column is None:
        if smallest is None or largest is None:
            raise refusal(
                "weight",
                f"Nothing bounds the weights of column {name!r}.",
                "Declare the column with breaks; or, where classes are published, add `sampling.low` and "
                "`sampling.high`, the smallest and the largest sampling probability.",
                "`sampling.column`",
            )
        least, most = float(1 / Fraction(largest)), float(1 / Fraction(smallest))
        weights = intervals.Breaks((least, math.nextafter(most, math.inf)))
        low, high = _below(1 / Fraction(most)), _above(1 / Fraction(least))
        return DeclaredStrata(
            Column(name, (weights,)), {"": designs.Stratum(low, low, high)}, published=False, weighted=True
        )
    recoded = column.recoding if column.recodings else None
    if not isinstance(recoded, intervals.Breaks) or recoded.bottom or recoded.top or recoded.other or recoded.missing:
        message = f"The classes of column {name!r} do not bound the weights from both sides."
        remedy = "Declare it with breaks alone, without top, bottom, other and missing."
        raise refusal("weight", message, remedy, f"column {name!r}")
    if smallest is not None:
        message = f"The breaks of column {name!r} bound the rates already."
        raise refusal("weight", message, "Remove `sampling.low` and `sampling.high`.", "`sampling.low`")
    ends = [float(end) for end in recoded.breaks]
    if ends[0] <= 1:
        message = (
            f"The first break of column {name!r} is {ends[0]:g}: people with a weight of 1 are sampled for certain."
        )
        remedy = "Begin above 1, and treat people who are sampled for certain in a register of their own."
        raise refusal("weight", message, remedy, f"column {name!r}")
    bands = {
        # One over the logarithmic mean: the mean weight where logarithms of weights are spread evenly.
        label: designs.Stratum(
            math.log(end / start) / (end - start), _below(1 / Fraction(end)), _above(1 / Fraction(start))
        )
        for label, (start, end) in zip(recoded.labels, pairwise(ends), strict=True)
    }
    return DeclaredStrata(column, bands, published, weighted=True)


def _below(value: Fraction) -> float:
    """Return the largest double that is not above a value."""
    near = float(value)
    return near if Fraction(near) <= value else math.nextafter(near, 0.0)


def _above(value: Fraction) -> float:
    """Return the smallest double that is not below a value."""
    near = float(value)
    return near if Fraction(near) >= value else math.nextafter(near, math.inf)


def rates_of(rates_or_path: Mapping[str, float] | str) -> Mapping[str, float]:
    """Return the rates by label, from the policy or from a file; every one above 0 and below 1."""
    rates = _read_rates(Path(rates_or_path)) if isinstance(rates_or_path, str) else dict(rates_or_path)
    if len(rates) > _MOST_STRATA:
        raise _wrong_rates(f"`sampling.rates` lists more than {_MOST_STRATA:,} strata.", "Merge some of them.")
    for label, rate in rates.items():
        if not 0 < rate < 1:
            raise _wrong_rates(
                f"The rate of {label!r} in `sampling.rates` is {rate:g}; rates lie above 0 and below 1.",
                "Give the share of people kept. People who are kept for certain belong into a register of their own.",
            )
    return rates


def _read_rates(path: Path) -> dict[str, float]:
    """Return a file of rates: a label and a rate in each line, after a line that names the two."""
    try:
        text = read_regular(path).decode("utf-8-sig")
        lines = [line for line in csv.reader(io.StringIO(text, newline="")) if line]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        why = getattr(error, "strerror", None) or "it is no CSV file in UTF-8"
        raise _wrong_rates(f"The file of rates {path.name!r} cannot be read: {why}.", "Name a file of rates.") from None
    rates: dict[str, float] = {}
    for number, line in enumerate(lines[1:], 2):
        try:
            label, rate = line[0], float(line[1])
        except (IndexError, ValueError):
            label, rate = "", math.nan
        if len(line) != 2 or label in rates or not math.isfinite(rate):
            message = f"Line {number} of {path.name!r} repeats a label, or does not hold a label and a rate alone."
            remedy = "Write every label once, with its rate, after a line that names the two, such as region,rate."
            raise _wrong_rates(message, remedy)
        rates[label] = rate
    if not rates:
        raise _wrong_rates(f"{path.name!r} lists no rates.", "Write a label and a rate in each line after the first.")
    return rates


def _wrong_rates(message: str, remedy: str) -> InvalidInput:
    return refusal("rates", message, remedy, "`sampling.rates`")
