"""What may be released next to what was released before."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from crowdblend.calculus.rules.composition import why_not_from_one_sample
from crowdblend.errors import DoesNotCompose
from crowdblend.ledger.entry import Entry, Spending
from crowdblend.ledger.identity import UNKNOWN, UNNAMED, Identity
from crowdblend.ledger.overlap import comparable, have_in_common, nearly_equal, tells_apart, too_much_in_common
from crowdblend.ledger.sketch import Sketch
from crowdblend.ledger.stated import Stated

_OWN_IDS = 'if the ids only number the rows of this table, add ids = "table" to [data].'


@dataclass(frozen=True)
class Known:
    """What is known of a release: what it spends, and by what its source is known again."""

    spending: Spending
    identity: Identity | None = None

    @property
    def rate(self) -> float | None:
        """The largest probability with which the table holds a person: 1 where we draw from it ourselves."""
        return 1.0 if self.spending.fresh else self.spending.rate


@dataclass(frozen=True)
class Outlook:
    """What the ledger says of a release before it begins: under which name it adds up, and what it cannot know."""

    population: str
    not_compared: tuple[int, ...]
    """Earlier releases of which the ledger cannot know whether they used this sample."""
    shares_people_with: tuple[str, ...] = ()
    """Other populations that have people of this source, and were not declared to overlap."""
    high: tuple[str, ...] = ()
    """Sentences about an ε, of this release or of all, that is so large that it guarantees little."""


def look(new: Known, earlier: Sequence[tuple[Entry, Identity | None]], stated: Stated | None = None) -> Outlook:
    """The outlook of a new release; raises DoesNotCompose when it may not stand beside an earlier one."""
    spent = [(entry, Known(entry.spending, identity)) for entry, identity in earlier if entry.counts]
    for entry, known in spent:
        if same_sample(new, known):
            reason = why_not_from_one_sample(entry.spending.guarantees, new.spending.guarantees)
            resume = f" Or resume release {entry.id}, which is unfinished." if entry.status == "unfinished" else ""
            hint = f" I{_OWN_IDS[1:]}" if _only_by_numbers(new, known, same_sample) else ""
            raise DoesNotCompose(
                f"release {entry.id} has already used this sample. {reason.source}: {reason.reason}.",
                remedy=f"{reason.remedy[:1].upper()}{reason.remedy[1:]}.{resume}{hint}",
                code="same-sample",
                where=f"release {entry.id}",
            )
    overlapping = () if stated is None else stated.overlapping(new.spending.population)
    added_up = {new.spending.population, *overlapping}
    _refuse_another_name(new, spent, added_up)
    for entry, known in spent:
        if known.spending.population in added_up:
            _refuse_what_does_not_add_up(entry, new.spending)
    blind = [entry.id for entry, known in spent if _matters(new, known) and not _compared(new, known)]
    shared = (known.spending.population for _, known in spent if _has_people_in_common(new, known))
    others = tuple(name for name in dict.fromkeys(shared) if name not in added_up)
    return Outlook(new.spending.population, tuple(blind), others)


def population_of(new: Known, earlier: Iterable[tuple[Entry, Identity | None]]) -> str:
    """The name of an unnamed population: that of an earlier release from nearly the same source, else a new one."""
    for entry, identity in earlier:
        if entry.counts and nearly_the_same_source(new, Known(entry.spending, identity)):
            return entry.spending.population
    return new.spending.source if new.spending.source != UNKNOWN else new.spending.sample


def same_sample(one: Known, other: Known) -> bool:
    """Whether two releases see the same sample, under whichever policy or name of the population.

    A table that was released as an already drawn sample is also seen by a release that draws from it.
    """
    first, second = one.spending, other.spending
    if first.sample == second.sample:
        return True
    if first.fresh and second.fresh:
        return False
    if _same_name(one, other) or first.sample == second.population or second.sample == first.population:
        return True
    rates = one.rate, other.rate
    return any(
        nearly_equal(*pair) if rates[0] is None or rates[1] is None else too_much_in_common(*pair, (rates[0], rates[1]))
        for pair in _pairs(one.identity, other.identity)
    )


def nearly_the_same_source(one: Known, other: Known) -> bool:
    """Whether two releases read nearly the same people."""
    return _same_name(one, other) or any(nearly_equal(*pair) for pair in _pairs(one.identity, other.identity))


def _same_name(one: Known, other: Known) -> bool:
    """Whether two sources have the same name, or the one that the first format gave them."""
    names = [{known.spending.source} for known in (one, other)]
    for known, own in zip((one, other), names, strict=True):
        if known.identity is not None and known.identity.old_name is not None:
            own.add(known.identity.old_name)
    return bool((names[0] & names[1]) - {UNKNOWN})


def _pairs(one: Identity | None, other: Identity | None) -> list[tuple[Sketch, Sketch]]:
    """The sketches by which two sources are compared.

    Ids that number the rows of one table are compared only with an entry of an older version, which has nothing else:
    every other entry has its rows. Rows decide beside people only where most of them are unlike all others.
    """
    if one is None or other is None or one.hashing != other.hashing:
        return []
    pairs = [(first, second) for first in one.sketches for second in other.sketches if comparable(first, second)]
    if one.of("rows") and other.of("rows"):
        pairs = [pair for pair in pairs if "numbering" not in (pair[0].kind, pair[1].kind)]
    if one.of("person") and other.of("person"):
        pairs = [pair for pair in pairs if pair[0].kind != "rows" or tells_apart(*pair)]
    return pairs


def _only_by_numbers(new: Known, known: Known, same: Callable[[Known, Known], bool]) -> bool:
    """Whether nothing but ids that look like a table's own numbering makes two sources the same."""
    identity = new.identity
    if identity is None or not identity.numbered:
        return False
    spending = new.spending
    if spending.population.startswith(UNNAMED):  # it may have its name from this entry
        spending = replace(spending, population=spending.source)
    return not same(Known(spending, replace(identity, sketches=identity.of("rows"))), known)


def _matters(one: Known, other: Known) -> bool:
    """Whether the two could be about one sample: not if each drew its own."""
    return not (one.spending.fresh and other.spending.fresh)


def _compared(one: Known, other: Known) -> bool:
    return bool(_pairs(one.identity, other.identity))


def _has_people_in_common(one: Known, other: Known) -> bool:
    """Whether some ids are in both sources; ids that number the rows of one table say nothing about another."""
    pairs = _pairs(one.identity, other.identity)
    return any(have_in_common(*pair) for pair in pairs if {pair[0].kind, pair[1].kind} == {"person"})


def _refuse_another_name(new: Known, spent: Sequence[tuple[Entry, Known]], added_up: set[str]) -> None:
    """One population has one name, or its losses would not be added up."""
    same = [(entry, known) for entry, known in spent if nearly_the_same_source(new, known)]
    names = [known.spending.population for _, known in same]
    if not names or added_up & set(names):
        return
    entry, name = same[0][0], names[0]
    remedy = (
        "Leave population out of [data]" if name.startswith(UNNAMED) else f'Write population = "{name}" into [data]'
    )
    others = "if these are other people, give them other identifiers."
    if all(_only_by_numbers(new, known, nearly_the_same_source) for _, known in same):
        others = _OWN_IDS
    raise DoesNotCompose(
        f"release {entry.id} is about nearly the same people, under another name of the population, so that the two "
        "would not be added up.",
        remedy=f"{remedy}; {others}",
        where="[data] population",
        code="another-population",
    )


def _refuse_what_does_not_add_up(entry: Entry, new: Spending) -> None:
    if not (entry.spending.replaced and new.replaced):
        raise DoesNotCompose(
            f"release {entry.id} and this one are about the same people, and only differential privacy for one "
            "person adds up (composition.differential): one of them has none. Sample before releasing.",
            code="does-not-add-up",
            where=f"release {entry.id}",
        )
