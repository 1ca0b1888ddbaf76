"""`propose`: domains from the data, at a loss that is stated first: labels that many people share, bounds of numbers.

A proposal is a release about everybody: noise on the labels that occur, shown from a threshold on, and noise on every
class of a public grid of numbers. So it has a certificate and an entry in the ledger, and a policy that takes a domain
from it names its folder (`proposed`).
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

from crowdblend.api.release import DEFAULT_LEDGER, DefaultLedger, release
from crowdblend.errors import InvalidInput
from crowdblend.kinds.table.policy import Table
from crowdblend.policies.code_book import Entry
from crowdblend.policies.columns import Column
from crowdblend.policies.domains import BreakDomain, Domain, PrefixDomain, ValueDomain
from crowdblend.policies.policy import Policy
from crowdblend.policies.publication import PUBLICATION_NAME
from crowdblend.policies.sampling import Everybody
from crowdblend.policies.write import domain_text
from crowdblend.trusted.guarantees.privacy import Differential
from crowdblend.trusted.guarantees.wording import at_most
from crowdblend.trusted.machine.lazy import lazy_imports

with lazy_imports():
    from crowdblend.ledger import Ledger
    from crowdblend.reading import release as reading
    from crowdblend.sources.engines.engine import Progress

# What is usual: a tenth of what a release usually loses.
EPSILON, DELTA = 0.1, 1e-7
_LONGEST_LABEL = 200
_MISSING = "(missing)"
# A class of numbers counts as one that many people share where no empty one would look so but with this probability.
_CHANCE = 1e-6
# The shares of people below and above the bounds.
_TAIL = 0.005
_STEPS = (1, 2, 5)
_LARGEST, _SMALLEST = 9, -3
_YEARS = range(1900, 2051, 10)


def _grid() -> tuple[int | Decimal, ...]:
    """Rising numbers of both signs that nobody's data decide: 1, 2 and 5 of every size, tens up to 100, decades."""
    sizes = [Decimal(step) * Decimal(10) ** size for size in range(_SMALLEST, _LARGEST + 1) for step in _STEPS]
    above = {*sizes, *map(Decimal, range(10, 101, 10)), *map(Decimal, _YEARS)}
    every = sorted({-one for one in sizes if one >= 1} | {Decimal(0)} | above)
    return tuple(int(one) if one == one.to_integral_value() else one.normalize() for one in every)


@dataclass(frozen=True)
class Proposal:
    """Domains that were proposed, the folder of the release that did, and what it lost.

    `columns` are the proposed domains, for `Policy(columns=…)`, and `folder` goes to `Policy(proposed=…)`. `loss` is
    what the proposal spent. `nothing` names the columns of which too few people share a label or a class of numbers.
    """

    folder: Path
    loss: Differential
    columns: Mapping[str, Domain]
    nothing: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, str]:
        """Return the proposed domains as a policy writes them, by column."""
        return {name: domain_text(Column.of(name, domain)) for name, domain in self.columns.items()}

    def entries(self) -> dict[str, Entry]:
        """Return the proposed domains as those of a code book."""
        ends = {name: one.breaks for name, one in self.columns.items() if isinstance(one, BreakDomain)}
        return {
            name: Entry(
                low=str(ends[name][0]) if name in ends else None,
                high=str(ends[name][-1]) if name in ends else None,
                declared=declared,
                origin="proposed from the data: check it",
            )
            for name, declared in self.to_dict().items()
        }

    def describe(self) -> list[str]:
        """Return what was proposed, a sentence for each column."""
        lines = [f"{name}: {_words(domain)}" for name, domain in self.columns.items()]
        lines += [f"{name}: nothing; too few people share a label or a range at this epsilon." for name in self.nothing]
        spent = f"epsilon {at_most(self.loss.epsilon)}, delta {at_most(self.loss.delta)}"
        return [*lines, f"It cost {spent}, which are part of every policy that takes a domain from it."]


def propose(
    data: object,
    *,
    out: str | os.PathLike[str],
    epsilon: float,
    delta: float | None = None,
    labels: Sequence[str] = (),
    bounds: Sequence[str] = (),
    ledger: Ledger | str | os.PathLike[str] | DefaultLedger | None = DEFAULT_LEDGER,
    force: bool = False,
    progress: Progress | None = None,
    **source: Any,
) -> Proposal:
    """Propose domains from the `data`, at the loss `epsilon` and, for labels, `delta`: recorded, and spent for ever.

    `labels` are columns of which labels are proposed that many people share, and `bounds` columns of numbers of which
    breaks are proposed from the first to the last range that many people share. `source` says who the people are, by
    the arguments of `Policy`: person or rows_are_people, population, delimiter and so on. The data hold everybody;
    domains of a sample come from a code book. The release that proposes them appears in the folder `out`, which later
    policies name: `Policy(columns=proposal.columns, proposed=str(proposal.folder), …)`.

    The `ledger` records what is spent: the user's own unless another is named, none with None. With `force` an existing
    folder is replaced. `progress` is called with the name of a phase and the rows read so far.
    """
    policy = proposal_policy(labels=labels, bounds=bounds, epsilon=epsilon, delta=delta, **source)
    release(data, policy, out=out, ledger=ledger, force=force, progress=progress, figures=False)
    return read_proposal(out)


def proposal_policy(
    *, labels: Sequence[str], bounds: Sequence[str], epsilon: float, delta: float | None, **source: Any
) -> Policy:
    """Return the policy of a proposal: a table for each column, under one budget."""
    named = [*labels, *bounds]
    if not named or isinstance(labels, str) or isinstance(bounds, str) or len(set(named)) < len(named):
        message = "A proposal names columns, in lists, each once."
        remedy = "Write `--labels area`, for example."
        raise InvalidInput(message, remedy=remedy, where="labels", code="propose.columns")
    if labels and delta is None:
        message = "Labels that many people share are shown with a delta."
        raise InvalidInput(message, remedy=f"Add delta={DELTA:g}, for example.", where="delta", code="propose.delta")
    grid = _grid()
    columns: dict[str, Domain] = {name: PrefixDomain(prefix=_LONGEST_LABEL, missing=_MISSING) for name in labels}
    columns |= {name: BreakDomain(breaks=grid, bottom=True, top=True, missing=_MISSING) for name in bounds}
    tables = [
        Table(name, name=called, below_k="threshold" if name in labels else "suppress")
        for name, called in zip(named, _names(named), strict=True)
    ]
    return Policy(
        sampling=Everybody(),
        epsilon=epsilon,
        delta=delta if labels else None,
        columns=columns,
        publish=tables,
        proposes=True,
        **source,
    )


def _names(columns: Sequence[str]) -> Iterable[str | None]:
    """Return the names of the publications: those of the columns where files can be called so; none of the only one."""
    if len(columns) == 1:
        return [None]
    apart = len({name.lower() for name in columns}) == len(columns)
    return [
        name if apart and PUBLICATION_NAME.fullmatch(name) else f"column-{place}"
        for place, name in enumerate(columns, start=1)
    ]


def read_proposal(folder: str | os.PathLike[str]) -> Proposal:
    """Return what the release in a folder proposes."""
    published = reading.read(Path(folder))
    loss = published.certificate.differential()
    if loss is None:
        message = f"{Path(folder).name!r} is no proposal."
        raise InvalidInput(message, remedy="Name the folder of a proposal.", where="folder", code="propose.folder")
    found: dict[str, Domain] = {}
    nothing = []
    for one in published.publications.values():
        ((name, declared),) = one.facts.domains.items()
        table = one.table(next(iter(one.files)))
        counts = dict(zip(table[name].to_pylist(), table["count"].to_pylist(), strict=True))
        if declared.breaks is None:
            domain = _labels(counts)
        else:
            noise = float(one.facts.mechanisms[0].noise_epsilon)  # type: ignore[attr-defined]  # noise on every cell
            domain = _breaks(list(declared.breaks), counts, declared.labels or (), noise)
        if domain is None:
            nothing.append(name)
        else:
            found[name] = domain
    return Proposal(Path(folder), loss, found, tuple(nothing))


def _labels(counts: Mapping[str, int]) -> Domain | None:
    """Listed values, and a class of all others; what was cut off is no label."""
    shown = [label for label in counts if label != _MISSING and len(label) < _LONGEST_LABEL]
    if not shown:
        return None
    missing = _unlike("missing", shown) if _MISSING in counts else None
    return ValueDomain(values=tuple(shown), other=_unlike("other", [*shown, missing]), missing=missing)


def _breaks(breaks: list[int | float], counts: Mapping[str, int], labels: Sequence[str], noise: float) -> Domain | None:
    """Breaks from the first to the last class that is surely of many people, but for small shares at both ends."""
    enough = math.log(len(labels) / _CHANCE) / noise
    # The classes from the first break on; the one below it and the one above the last have no bound.
    inside = [counts.get(label, 0) for label in labels[1 : len(breaks)]]
    sure = [count if count >= enough else 0 for count in inside]
    least = _TAIL * sum(sure)
    places = [place for place in range(len(sure)) if sum(sure[: place + 1]) > least and sum(sure[place:]) > least]
    if not places:
        return None
    low, high = breaks[places[0]], breaks[places[-1] + 1]
    # Classes of hardly anyone are part of the one below them, and decades are for years alone.
    starts = [breaks[place] for place in places if sure[place]]
    if not _YEARS[0] <= low < high <= _YEARS[-1]:
        starts = [one for one in starts if one not in _YEARS]
        starts = [2000 if low >= 2000 else 1000, *starts] if low in _YEARS else starts
    missing = "missing" if counts.get(_MISSING, 0) >= enough else None
    return BreakDomain(breaks=tuple(map(_exact, [*starts, high])), bottom=True, top=True, missing=missing)


def _unlike(label: str, others: Sequence[str | None]) -> str:
    """Return a label in as many brackets as it takes to be like no other."""
    while label in others:
        label = f"({label})"
    return label


def _exact(number: float) -> int | Decimal:
    return int(number) if number == int(number) else Decimal(repr(number))


def _words(domain: Domain) -> str:
    if isinstance(domain, ValueDomain):
        return f"{len(domain.values):,} labels that many people share, and {domain.other!r} for all others."
    assert isinstance(domain, BreakDomain), "numbers have breaks"
    first, *_, last = domain.breaks
    return f"from {first} to {last}, in {len(domain.breaks) - 1} classes, and one each below and above."
