"""Conflicts with earlier releases: the same sample, or the same people under another name."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Sequence
from dataclasses import dataclass, replace

from crowdblend.errors import RefusedByLedger
from crowdblend.ledger.declarations import Declarations
from crowdblend.ledger.entry import Entry, Spending
from crowdblend.ledger.identity import UNKNOWN, UNNAMED, Identity, Sketch
from crowdblend.ledger.overlap import (
    agree_by_chance,
    comparable,
    have_in_common,
    nearly_equal,
    tells_apart,
    too_much_in_common,
)
from crowdblend.trusted.calculus.rules.composition import why_not_from_one_sample

_FEW = 0.001
_OWN_IDS = 'Add `data.ids = "table"` if the ids only number the rows of this table. '


@dataclass(frozen=True)
class KnownRelease:
    """The spending of a release, and the identity of its source."""

    spending: Spending
    identity: Identity | None = None

    @property
    def rate(self) -> float | None:
        """The largest probability with which the table holds a person: 1 where we draw from it ourselves."""
        return 1.0 if self.spending.fresh else self.spending.rate


@dataclass(frozen=True)
class Outlook:
    """The ledger's view of a release before it begins: the population, and what is unknown."""

    population: str
    not_compared: tuple[int, ...]
    """Earlier releases of which the ledger cannot know whether they used this table."""
    shares_people_with: tuple[str, ...] = ()
    """Other populations that have people of this source, and were not declared to overlap."""
    shares_numbers_with: tuple[str, ...] = ()
    """Other populations of which nothing but ids that are small numbers is in this source."""
    other_people: tuple[int, ...] = ()
    """Earlier releases whose ids agree by chance, about populations that were declared to be other people."""
    unsaid: tuple[int, ...] = ()
    """Those releases that were not compared and of which no other sentence speaks."""
    elsewhere: tuple[int, ...] = ()
    """Those that other tools made: whether these read this table, only the steward knows."""
    adopted: tuple[int, ...] = ()
    """Those that were entered again from their folders, which do not tell what they read."""
    numbered: bool = False
    """True if the ids look like the table's own numbering."""
    high: tuple[str, ...] = ()
    """Sentences about an ε, of this release or of all, that is so large that it guarantees little."""

    @property
    def recognition(self) -> tuple[str, ...]:
        """Sentences, each for all releases that it is about: whose people are in this table, and what is not known."""
        found = []
        if self.unsaid:
            which = ", ".join(map(str, self.unsaid))
            found.append(
                f"No id and no row of this table is in that of release {which}: these are other people, or the same "
                "under new ids, which the ledger cannot tell. Make sure that they are others; the certificate says "
                "that this is assumed."
            )
        if self.elsewhere:
            which = ", ".join(map(str, self.elsewhere))
            found.append(
                f"Release {which} was made by another tool. Make sure that it did not read this table, whose people "
                "are a sample; the certificate says that this is assumed."
            )
        if self.adopted:
            which = ", ".join(map(str, self.adopted))
            found.append(
                f"Release {which} was entered again from a folder, which does not tell what was read. Make sure that "
                "this is another sample; the certificate says that this is assumed."
            )
        not_added = "the ledger does not add up what was released about both"
        own_ids = _OWN_IDS if self.numbered else ""
        if self.shares_people_with:
            where = _enumerate(self.shares_people_with)
            declare = _declare("overlap", self.population, self.shares_people_with)
            found.append(
                f"Some of these people are also in {where}, and {not_added}. {own_ids}Declare it, which cannot be "
                f"taken back: {declare}"
            )
        if self.shares_numbers_with:
            others = self.shares_numbers_with
            found.append(
                f"Some ids of this table are also in {_enumerate(others)}, as small numbers are by chance. {own_ids}If "
                f"these are other people, say so: {_declare('distinct', self.population, others)}. If some are the "
                f"same, declare it, which cannot be taken back: {_declare('overlap', self.population, others)}. Until "
                f"then {not_added}."
            )
        return tuple(found)


def _enumerate(populations: Sequence[str]) -> str:
    return f"the population{'s' * (len(populations) > 1)} {' and '.join(map(repr, populations))}"


def _declare(command: str, population: str, others: Iterable[str]) -> str:
    return "; ".join(f"crowdblend ledger {command} {population!r} {other!r}" for other in others)


def check_conflicts(
    new: KnownRelease, earlier: Sequence[tuple[Entry, KnownRelease]], declarations: Declarations
) -> Outlook:
    """Return the outlook of a new release; raises RefusedByLedger when it conflicts with an earlier one."""
    others = declarations.others(new.spending.population)
    pairs = [
        _Pair(entry, _without_ids(new) if declared else new, known, declared)
        for entry, known in earlier
        for declared in [known.spending.population in others and _agree_by_chance(new, known)]
    ]
    for pair in pairs:
        _refuse_same_sample(pair)
    added_up = {new.spending.population, *declarations.overlapping(new.spending.population)}
    _refuse_another_name(pairs, added_up)
    for pair in pairs:
        losses = pair.known.spending.replacement_loss and new.spending.replacement_loss
        if pair.population in added_up and not losses:
            raise RefusedByLedger(
                f"Release {pair.entry.id} and this one are about the same people, and only differential privacy for "
                "one person adds up (composition.differential): one of them has none. Sample before releasing.",
                code="does-not-add-up",
                where=f"release {pair.entry.id}",
            )
    # Releases that each drew their own sample cannot be about one.
    apart = [pair for pair in pairs if not (new.spending.fresh and pair.known.spending.fresh)]
    not_compared = tuple(pair.entry.id for pair in apart if not _are_compared(pair.new, pair.known))
    people = _names((pair for pair in pairs if _has_people_in_common(pair.new, pair.known)), added_up)
    numbers = _names((pair for pair in pairs if _agree_by_chance(pair.new, pair.known)), {*added_up, *people})
    numbered = new.identity is not None and new.identity.numbered
    _refuse_beside_limit(new.spending.population, people, numbers, declarations, numbered=numbered)
    elsewhere = tuple(pair.entry.id for pair in apart if pair.entry.spending.stated)
    adopted = tuple(pair.entry.id for pair in apart if pair.entry.status == "adopted")
    spoken_of = {pair.entry.id for pair in pairs if pair.declared or pair.population in numbers} | {
        *elsewhere,
        *adopted,
    }
    return Outlook(
        new.spending.population,
        not_compared,
        people,
        numbers,
        other_people=tuple(pair.entry.id for pair in pairs if pair.declared),
        unsaid=tuple(number for number in not_compared if number not in spoken_of),
        elsewhere=elsewhere,
        adopted=adopted,
        numbered=numbered,
    )


@dataclass(frozen=True)
class _Pair:
    """A new release beside an earlier one; `new` is without its ids where they were declared to be other people's."""

    entry: Entry
    new: KnownRelease
    known: KnownRelease
    declared: bool

    @property
    def population(self) -> str:
        """The population of the earlier release."""
        return self.known.spending.population


def _without_ids(release: KnownRelease) -> KnownRelease:
    """Return a release that is compared by its rows alone."""
    assert release.identity is not None, "its ids agree"
    return replace(release, identity=replace(release.identity, sketches=release.identity.of("rows")))


def _refuse_same_sample(pair: _Pair) -> None:
    """Refuse a second release of one sample."""
    entry, new, known = pair.entry, pair.new, pair.known
    if not same_sample(new, known):
        return
    reason = why_not_from_one_sample(entry.spending.guarantees, new.spending.guarantees)
    resume = f" Or resume release {entry.id}, which is unfinished." if entry.status == "unfinished" else ""
    message = f"Release {entry.id} has already used this sample. {reason.source}: {reason.reason}."
    remedy = f"{reason.remedy[:1].upper()}{reason.remedy[1:]}.{resume}"
    if _only_by_numbers(new, known, same_sample):
        message = f"Release {entry.id} has the same ids, and may have used the same sample."
        remedy = f"{_OWN_IDS}Else: {reason.reason}. {remedy}"
    raise RefusedByLedger(message, remedy=remedy, code="same-sample", where=f"release {entry.id}")


def _names(pairs: Iterable[_Pair], without: Container[str]) -> tuple[str, ...]:
    """Return the names of populations of earlier releases, each once, in order."""
    return tuple(dict.fromkeys(pair.population for pair in pairs if pair.population not in without))


def distinct_entries(entries: Iterable[Entry], new: Spending) -> list[Entry]:
    """Return the first of all entries that agree in everything by which a new release is compared with them."""
    found: dict[tuple[object, ...], Entry] = {}
    for entry in entries:
        made = entry.spending
        drawn = made.fresh and made.sample not in (new.sample, new.population)
        # Equal guarantees of the ledger are one object, which is compared in less time than its content.
        agreeing = (made.population, id(made.guarantees), made.fresh, made.source, made.rate, entry.identity)
        found.setdefault((*agreeing, None if drawn else made.sample), entry)
    return list(found.values())


def population_of(new: KnownRelease, earlier: Iterable[tuple[Entry, KnownRelease]]) -> str:
    """Return the name of an unnamed population: that of an earlier release from nearly the same source, or its own."""
    own = new.spending.source if new.spending.source != UNKNOWN else new.spending.sample
    return next((known.spending.population for _, known in earlier if nearly_the_same_source(new, known)), own)


def same_sample(one: KnownRelease, other: KnownRelease) -> bool:
    """Return whether two releases see the same sample, under whichever policy or name of the population.

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


def nearly_the_same_source(one: KnownRelease, other: KnownRelease) -> bool:
    """Return whether two releases read nearly the same people."""
    return _same_name(one, other) or any(nearly_equal(*pair) for pair in _pairs(one.identity, other.identity))


def _same_name(one: KnownRelease, other: KnownRelease) -> bool:
    return one.spending.source == other.spending.source != UNKNOWN


def _pairs(one: Identity | None, other: Identity | None) -> list[tuple[Sketch, Sketch]]:
    """Return the sketches by which two sources are compared.

    Ids that number the rows of one table are compared only where one of both has nothing else. Beside people, and
    beside other rows that do, rows decide only where most of them are unlike all others.
    """
    if one is None or other is None or one.hashing != other.hashing:
        return []
    pairs = [(first, second) for first in one.sketches for second in other.sketches if comparable(first, second)]
    if one.of("rows") and other.of("rows"):
        pairs = [pair for pair in pairs if "numbering" not in (pair[0].kind, pair[1].kind)]
    telling = [pair for pair in pairs if pair[0].kind != "rows" or tells_apart(*pair)]
    people = one.of("person") and other.of("person")
    return telling if people or any(first.kind == "rows" for first, _ in telling) else pairs


def _only_by_numbers(
    new: KnownRelease, release: KnownRelease, same: Callable[[KnownRelease, KnownRelease], bool]
) -> bool:
    """Return whether nothing but ids that look like a table's own numbering makes two sources the same."""
    identity = new.identity
    if identity is None or not identity.numbered:
        return False
    spending = new.spending
    if spending.population.startswith(UNNAMED):  # it may have its name from this entry
        spending = replace(spending, population=spending.source)
    return not same(KnownRelease(spending, replace(identity, sketches=identity.of("rows"))), release)


def _are_compared(one: KnownRelease, other: KnownRelease) -> bool:
    """Return whether a copy of one source would be found in the other: an id or a row is in both.

    Where none is, these may be other people, or the same under new ids and with other columns or other words. Ids that
    agree by chance may be either.
    """
    return any(
        have_in_common(*pair) and not (pair[0].kind != "rows" and agree_by_chance(*pair))
        for pair in _pairs(one.identity, other.identity)
    )


def _has_people_in_common(one: KnownRelease, other: KnownRelease) -> bool:
    """Return whether more ids are in both sources than by chance, or more rows than those of one person in a thousand.

    Ids that number the rows of one table say nothing about another.
    """
    return any(
        too_much_in_common(first, second, (_FEW, _FEW))
        if first.kind == "rows"
        else have_in_common(first, second) and not agree_by_chance(first, second)
        for first, second in _pairs(one.identity, other.identity)
        if {first.kind, second.kind} in ({"person"}, {"rows"})
    )


def _agree_by_chance(one: KnownRelease, other: KnownRelease) -> bool:
    """Return whether ids are in both sources, and nothing beyond chance says that they are the same people."""
    return not _has_people_in_common(one, other) and any(
        first.kind == second.kind == "person" and agree_by_chance(first, second)
        for first, second in _pairs(one.identity, other.identity)
    )


def _refuse_beside_limit(
    population: str,
    people: Sequence[str],
    numbers: Sequence[str],
    declarations: Declarations,
    *,
    numbered: bool = False,
) -> None:
    """Refuse people of another population where one of both has a limit or a threshold, which would not see both."""
    for other in (*people, *numbers):
        if not (declarations.is_watched(population) or declarations.is_watched(other)):
            continue
        rule = "limit" if declarations.limit(population) or declarations.limit(other) else "threshold"
        unnamed = population.startswith(UNNAMED)
        names = f"{'NAME' if unnamed else repr(population)} {other!r}"
        own_ids = _OWN_IDS if numbered else ""
        own_name = f'Write `data.population = "{other}"`, or a name of its own, and then: ' if unnamed else ""
        remedy = f"{own_ids}{own_name}`crowdblend ledger overlap {names}`."
        says = f"Some of these people are also in the population {other!r}"
        if other in numbers:
            says = f"Some ids of this table are also in the population {other!r}, as small numbers are by chance"
            remedy += f" For other people: `crowdblend ledger distinct {names}`."
        raise RefusedByLedger(
            f"{says}, and a {rule} holds that would not count what is released about both.",
            remedy=remedy,
            where="`data.population`",
            code="limit.overlap",
        )


def _refuse_another_name(pairs: Sequence[_Pair], added_up: set[str]) -> None:
    """One population has one name, or its losses would not be added up."""
    same = [pair for pair in pairs if nearly_the_same_source(pair.new, pair.known)]
    names = [pair.population for pair in same]
    if not names or added_up & set(names):
        return
    entry, name, own = same[0].entry, names[0], same[0].new.spending.population
    remedy = "Leave out `data.population`" if name.startswith(UNNAMED) else f'Write `data.population = "{name}"`'
    if all(_agree_by_chance(pair.new, pair.known) for pair in same):
        own_ids = (
            _OWN_IDS if all(_only_by_numbers(pair.new, pair.known, nearly_the_same_source) for pair in same) else ""
        )
        says, remedy = "has nearly the same ids", f"{own_ids}{remedy} if they are the same people."
        if not name.startswith(UNNAMED):
            remedy += f" For other people: {_declare('distinct', own, names[:1])}."
    else:
        says = "is about nearly the same people"
        remedy += "; if these are other people, give them other identifiers."
    raise RefusedByLedger(
        f"Release {entry.id} {says}, under another name of the population, so that the two would not be added up.",
        remedy=remedy,
        where="`data.population`",
        code="another-population",
    )
