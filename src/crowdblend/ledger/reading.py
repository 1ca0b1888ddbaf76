"""What a ledger says: entries, totals, limits, and whether it is whole."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, closing, contextmanager, nullcontext
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from crowdblend.errors import DoesNotVerify, InvalidInput
from crowdblend.ledger import chain, steps, store
from crowdblend.ledger.beside import Known, Outlook, look, population_of
from crowdblend.ledger.budget import Budget, add_up
from crowdblend.ledger.connection import Connection
from crowdblend.ledger.entry import Entry, Spending, normal_name
from crowdblend.ledger.head import Head, behind
from crowdblend.ledger.history import SEALED_SINCE, History
from crowdblend.ledger.identity import Identity
from crowdblend.ledger.limits import Accounts
from crowdblend.ledger.listing import in_order
from crowdblend.ledger.location import Location
from crowdblend.ledger.look_alikes import refuse_look_alike
from crowdblend.ledger.migrations import version
from crowdblend.ledger.populations import Population, populations_of
from crowdblend.ledger.profile_total import ProfileTotal, releases_that_fit
from crowdblend.ledger.running_total import read_total
from crowdblend.ledger.secrets import commitment, matches
from crowdblend.ledger.sound import check_identities, check_keys
from crowdblend.ledger.statements import Limit
from crowdblend.ledger.summary import NAME as SUMMARY
from crowdblend.ledger.summary import Summary, edited_steps, edited_total, read_summary
from crowdblend.ledger.view import View, kept_totals, replayed

if TYPE_CHECKING:
    from crowdblend.guarantees import Differential
    from crowdblend.ledger.store import Store


def now() -> str:
    """The time in UTC, to the second."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def today() -> str:
    """The day in UTC, as YYYY-MM-DD."""
    return now()[:10]


class ReadableLedger:
    """The side of a ledger that changes nothing."""

    def __init__(self, location: Location, store: Store | None) -> None:
        self.location = location
        self._store = store

    def entries(self) -> tuple[Entry, ...]:
        """Every entry, oldest first; raises DoesNotVerify when the ledger was edited."""
        return tuple(self._replayed().entries.values())

    def entry(self, entry_id: int) -> Entry:
        """One entry."""
        with self._viewing() as view:
            return view.entry(entry_id)

    def unfinished(self) -> tuple[Entry, ...]:
        """The entries of releases that were begun and neither finished nor abandoned, oldest first."""
        with self._viewing() as view:
            return tuple(view.entries(view.summary.unfinished).values())

    def stream(self) -> Iterator[Entry]:
        """Every entry, oldest first, without holding them all; raises DoesNotVerify where the ledger was edited."""
        self._look()
        if self._store is None:
            return
        waiting = self.summary().unfinished
        with self._store.reading() as connection, closing(store.stream(connection)) as records:
            yield from in_order((content for _, content in chain.contents(records)), waiting)

    def summary(self) -> Summary:
        """What the records come to; read from the summary that the last record seals, else from all records."""
        with self._viewing() as view:
            return view.summary

    def accounts(self) -> Accounts:
        """What was spent and stated, as the last record seals it."""
        with self._viewing() as view:
            return view.accounts()

    def budget(self, population: str) -> Budget:
        """What all spent entries about these people come to, with those about populations that overlap."""
        with self._viewing() as view:
            return _budget(view, normal_name(population))

    def total(self, population: str, delta: float | None = None, *, more: Spending | None = None) -> ProfileTotal:
        """What all spent entries about these people come to by their profiles, with one more release or without.

        It is the ε at a δ, by default at the sum of all δ, where it compares with `budget`.
        """
        return self.accounts().total(normal_name(population), delta, more)

    def room(self, release: Spending, limit: Differential) -> int | None:
        """How many more releases like this one keep the total of its population within a limit, by profiles."""
        accounts = self.accounts()
        name = release.population
        overlapping = accounts.stated.overlapping(name)
        return releases_that_fit(name, accounts.groups, release, limit, accounts.kept(name), overlapping)

    def budgets(self) -> tuple[Budget, ...]:
        """The budget of every population, in the order of their first release."""
        with self._viewing() as view:
            return tuple(_budget(view, name) for name in view.summary.populations())

    def limits(self, population: str) -> tuple[Limit, ...]:
        """Every limit that a population has had, the one in force last."""
        return tuple(self.summary().stated.limits.get(normal_name(population), ()))

    def limit_or(self, population: str, epsilon: float | None, delta: float | None) -> tuple[float, float]:
        """This ε and δ, each from the population's limit where it is left out."""
        limit = self.summary().stated.limit(normal_name(population))
        if limit is not None:
            return limit.epsilon if epsilon is None else epsilon, limit.delta if delta is None else delta
        if epsilon is None or delta is None:
            raise InvalidInput(
                f"{population!r} has no limit. Pass --epsilon and --delta.", where="--epsilon", code="limit.missing"
            )
        return epsilon, delta

    def populations(self) -> tuple[Population, ...]:
        """Every population that something was released about or stated of: who answers for it, and what was read."""
        return populations_of(self._replayed())

    def population(self, spending: Spending, identity: Identity | None = None) -> str:
        """The name under which a release with an unnamed population adds up."""
        with self._viewing() as view:
            return population_of(Known(spending, identity), view.earlier(spending))

    def look(self, spending: Spending, identity: Identity | None = None) -> Outlook:
        """What the ledger says of a release that may begin; raises DoesNotCompose when it may not."""
        with self._viewing() as view:
            outlook = look(Known(spending, identity), view.earlier(spending), view.summary.stated)
            accounts = self._within_limits(view, spending)
        return replace(outlook, high=tuple(accounts.high_totals(spending)))

    def check_limit(self, spending: Spending) -> None:
        """Refuse a release that would exceed a limit; nothing has to be known of its source."""
        with self._viewing() as view:
            self._within_limits(view, spending)

    def _within_limits(self, view: View, spending: Spending) -> Accounts:
        """The accounts that a release concerns; raises Refused when it would exceed a limit."""
        refuse_look_alike(spending.population, view.summary)
        accounts = view.accounts_for(spending)
        accounts.check(spending, day_of(view))
        return accounts

    def sealed_key(self, entry_id: int) -> bytes:
        """The key that was sealed with an entry: whoever has it knows the sample."""
        entry = self.entry(entry_id)
        if entry.key != "sealed":
            raise InvalidInput(
                f"the key of release {entry_id} was not sealed but destroyed.",
                where=f"release {entry_id}",
                code="ledger.key-destroyed",
            )
        return self._key(entry)

    def held_key(self, entry_id: int) -> bytes:
        """The key of an unfinished release, to run it again and get the same output."""
        entry = self.entry(entry_id)
        if entry.status != "unfinished":
            raise InvalidInput(
                f"release {entry_id} is {entry.status}. There is nothing to resume.",
                where=f"release {entry_id}",
                code="ledger.ended",
            )
        if entry.key_commitment is None:
            raise InvalidInput(
                f"release {entry_id} was begun without a key, so it cannot be resumed.",
                where=f"release {entry_id}",
                code="ledger.no-key",
            )
        return self._key(entry)

    def head(self) -> Head:
        """The head of the chain, after a check of everything; whoever keeps it finds a later cut or replacement."""
        return self._checked(None)

    def check(self, seen: str | Head | None = None) -> str:
        """The hash that seals everything recorded so far; raises DoesNotVerify when anything was edited.

        Records, summary, kept totals, keys, identities and the ledger's secret are compared with what the chain says
        of them. Whoever kept an earlier hash or head passes it as `seen`: then a ledger whose end was cut off, or an
        older copy of it, is found too.
        """
        return self._checked(seen).hash

    def _checked(self, seen: str | Head | None) -> Head:
        self._look()
        if self._store is None:
            return Head(0, chain.GENESIS, now())
        known = {seen} if isinstance(seen, str) else set()
        with self._reading() as connection:
            sealed = version(connection) >= SEALED_SINCE
            where = steps.Comparison(connection) if sealed else None

            def follow(record: chain.Record, content: dict[str, Any]) -> None:
                known.discard(record.hash)
                if where is not None:
                    where.follow(record.number, content)

            with nullcontext() if where is None else closing(where):
                last, history = replayed(connection, follow)
                if where is not None:
                    where.end()
            if last is not None and sealed:
                read_summary(store.derived(connection, SUMMARY), chain.last_content(last).get("summary"))
            _check_totals(kept_totals(connection, history.summary.totals))
            if store.may_read_secrets(connection):
                check_keys(history.entries, store.keys(connection))
                with closing(store.stream_identities(connection)) as identities:
                    check_identities(history.entries, identities)
                if history.summary.secret is not None:
                    store.secret(connection, history.summary.secret)
            if isinstance(seen, Head) and seen.records and store.hash_of(connection, seen.records) != seen.hash:
                raise behind(seen.records)
        if known - {chain.GENESIS}:
            raise DoesNotVerify(
                "no record of the ledger has the given hash: its end was cut off, or another ledger was put in its "
                "place. Restore it from a backup.",
                where="ledger",
                code="does-not-verify",
            )
        return Head(0, chain.GENESIS, now()) if last is None else Head(last.number, last.hash, now())

    def _key(self, entry: Entry) -> bytes:
        with self._reading() as connection:
            kept = store.keys(connection).get(entry.id)
        if kept is None or not matches(kept, entry.key_commitment or commitment(kept)):
            raise DoesNotVerify(
                f"the key of release {entry.id} was changed or deleted. Restore it from a backup.",
                where=f"release {entry.id}",
                code="does-not-verify",
            )
        return kept

    def _look(self) -> None:
        """Whatever is to be done before the ledger is read."""

    @contextmanager
    def _viewing(self) -> Iterator[View]:
        self._look()
        if self._store is None:
            yield View(None, None, Summary(), History())
            return
        with self._store.reading() as connection:
            yield View.of(connection)

    def _replayed(self) -> History:
        self._look()
        if self._store is None:
            return History()
        with self._store.reading() as connection:
            return replayed(connection)[1]

    def _reading(self) -> AbstractContextManager[Connection]:
        return self._opened().reading()

    def _opened(self) -> Store:
        if self._store is None:
            raise InvalidInput(
                "the ledger was opened to look into it. Open it without make = False.",
                where="ledger",
                code="ledger.read-only",
            )
        return self._store


def day_of(view: View) -> str:
    """The day, as YYYY-MM-DD: the latest of this machine's, the server's and the one that the ledger was written on.

    So a clock that is put back prolongs no limit.
    """
    server = store.server_day(view.connection)
    return max(today(), server, view.summary.latest[:10])


def _budget(view: View, population: str) -> Budget:
    overlapping = view.summary.stated.overlapping(population)
    names = {population, *overlapping}
    releases = view.releases(names)
    if len(releases) != sum(group.count for group in view.summary.groups if group.population in names):
        raise edited_steps()
    return add_up(population, view.summary.groups, overlapping, releases)


def _check_totals(totals: Mapping[str, str]) -> None:
    """Refuse a kept total that is below what its own releases come to."""
    for population, text in totals.items():
        total = read_total(text)
        if total is not None and not total.is_enough():
            raise edited_total(population)
