"""Conflicts with earlier releases: the same sample, or the same people under another name."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from crowdblend.calculus.rules.composition import why_not_from_one_sample
from crowdblend.errors import DoesNotCompose
from crowdblend.frozen import dataclass
from crowdblend.ledger.declarations import Declarations
from crowdblend.ledger.entry import Entry, Spending
from crowdblend.ledger.identity import UNKNOWN, UNNAMED, Identity, Sketch
from crowdblend.ledger.overlap import comparable, have_in_common, nearly_equal, tells_apart, too_much_in_common

_FEW = 0.001
_OWN_IDS = 'Add ids = "table" to [data] if the ids only number the rows of this table. '


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
    share_numbers: tuple[str, ...] = ()
    """Those of them of which nothing but ids that look like a table's own numbering is in this source."""
    high: tuple[str, ...] = ()
    """Sentences about an ε, of this release or of all, that is so large that it guarantees little."""

    @property
    def overlaps(self) -> tuple[str, ...]:
        """Sentences about each other population that may have the same people."""
        return tuple(map(self._overlap, self.shares_people_with))

    def _overlap(self, other: str) -> str:
        not_added = "the ledger does not add up what was released about both"
        declare = f"which cannot be taken back: crowdblend ledger overlap {self.population!r} {other!r}"
        if other in self.share_numbers:
            says = f"Ids of this table are also in the population {other!r}, and may number the rows of both tables."
            return f"{says} {_OWN_IDS}Else {not_added} until you declare that they are the same people, {declare}"
        return f"Some of these people are also in the population {other!r}, and {not_added}. Declare it, {declare}"


def check_conflicts(
    new: KnownRelease, earlier: Sequence[tuple[Entry, KnownRelease]], declarations: Declarations
) -> Outlook:
    """Return the outlook of a new release; raises DoesNotCompose when it conflicts with an earlier one."""
    for entry, known in earlier:
        if same_sample(new, known):
            reason = why_not_from_one_sample(entry.spending.guarantees, new.spending.guarantees)
            resume = f" Or resume release {entry.id}, which is unfinished." if entry.status == "unfinished" else ""
            message = f"Release {entry.id} has already used this sample. {reason.source}: {reason.reason}."
            remedy = f"{reason.remedy[:1].upper()}{reason.remedy[1:]}.{resume}"
            if _only_by_numbers(new, known, same_sample):
                message = f"Release {entry.id} has the same ids, and may have used the same sample."
                remedy = f"{_OWN_IDS}Else: {reason.reason}. {remedy}"
            raise DoesNotCompose(message, remedy=remedy, code="same-sample", where=f"release {entry.id}")
    added_up = {new.spending.population, *declarations.overlapping(new.spending.population)}
    _refuse_another_name(new, earlier, added_up)
    for entry, known in earlier:
        losses = known.spending.replacement_loss and new.spending.replacement_loss
        if known.spending.population in added_up and not losses:
            raise DoesNotCompose(
                f"Release {entry.id} and this one are about the same people, and only differential privacy for one "
                "person adds up (composition.differential): one of them has none. Sample before releasing.",
                code="does-not-add-up",
                where=f"release {entry.id}",
            )
    # Releases that each drew their own sample cannot be about one.
    apart = [(entry, known) for entry, known in earlier if not (new.spending.fresh and known.spending.fresh)]
    not_compared = tuple(entry.id for entry, known in apart if not _are_compared(new, known))
    shared = [known for _, known in earlier if _has_people_in_common(new, known)]
    others = tuple(name for name in _populations(shared) if name not in added_up)
    sure = _populations(known for known in shared if not _only_by_numbers(new, known, _has_people_in_common))
    numbers = tuple(name for name in others if name not in sure)
    _refuse_beside_limit(new.spending.population, others, declarations, numbers)
    return Outlook(new.spending.population, not_compared, others, numbers)


def _populations(releases: Iterable[KnownRelease]) -> dict[str, None]:
    """Return the names of populations, each once, in order."""
    return dict.fromkeys(known.spending.population for known in releases)


def distinct_entries(entries: Iterable[Entry], new: Spending) -> list[Entry]:
    """Return the first of all entries that agree in everything by which a new release is compared with them."""
    found: dict[tuple[object, ...], Entry] = {}
    for entry in entries:
        made = entry.spending
        drawn = made.fresh and made.sample not in (new.sample, new.population)
        agreeing = (made.population, made.guarantees, made.fresh, made.source, made.rate, entry.identity)
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

    Where none is, these may be other people, or the same under new ids and with other columns or other words.
    """
    return any(have_in_common(*pair) for pair in _pairs(one.identity, other.identity))


def _has_people_in_common(one: KnownRelease, other: KnownRelease) -> bool:
    """Return whether some ids are in both sources, or more rows than those of one person in a thousand.

    Ids that number the rows of one table say nothing about another.
    """
    return any(
        too_much_in_common(first, second, (_FEW, _FEW)) if first.kind == "rows" else have_in_common(first, second)
        for first, second in _pairs(one.identity, other.identity)
        if {first.kind, second.kind} in ({"person"}, {"rows"})
    )


def _refuse_beside_limit(
    population: str, others: Sequence[str], declarations: Declarations, share_numbers: Sequence[str] = ()
) -> None:
    """Refuse people of another population where one of both has a limit, which would not see the other's releases."""
    for other in others:
        if declarations.limit(population) or declarations.limit(other):
            unnamed = population.startswith(UNNAMED)
            own_ids = _OWN_IDS if other in share_numbers else ""
            own_name = f'Write population = "{other}" into [data], or a name of its own, and then: ' if unnamed else ""
            raise DoesNotCompose(
                f"Some of these people are also in the population {other!r}, and a limit holds that would not count "
                "what is released about both.",
                remedy=f"{own_ids}{own_name}crowdblend ledger overlap {'NAME' if unnamed else population!r} {other!r}.",
                where="[data] population",
                code="limit.overlap",
            )


def _refuse_another_name(new: KnownRelease, entries: Sequence[tuple[Entry, KnownRelease]], added_up: set[str]) -> None:
    """One population has one name, or its losses would not be added up."""
    same = [(entry, known) for entry, known in entries if nearly_the_same_source(new, known)]
    names = [known.spending.population for _, known in same]
    if not names or added_up & set(names):
        return
    entry, name = same[0][0], names[0]
    remedy = (
        "Leave population out of [data]" if name.startswith(UNNAMED) else f'Write population = "{name}" into [data]'
    )
    if all(_only_by_numbers(new, known, nearly_the_same_source) for _, known in same):
        says, remedy = "has nearly the same ids", f"{_OWN_IDS}{remedy} if they are the same people."
    else:
        says = "is about nearly the same people"
        remedy += "; if these are other people, give them other identifiers."
    raise DoesNotCompose(
        f"Release {entry.id} {says}, under another name of the population, so that the two would not be added up.",
        remedy=remedy,
        where="[data] population",
        code="another-population",
    )
