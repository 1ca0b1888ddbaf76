"""Whether keys and identities in a ledger are those that its chain of records committed to."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from crowdblend.errors import DoesNotCompose, DoesNotVerify, InvalidInput
from crowdblend.ledger.chain import commitment, matches, sample_name
from crowdblend.ledger.entry import Entry
from crowdblend.ledger.identity import Identity, fingerprint, identity_of


def check_keys(entries: Mapping[int, Entry], keys: Mapping[int, bytes]) -> None:
    """Raise DoesNotVerify when a key was changed, swapped, deleted, or kept though it had to be destroyed."""
    for number in sorted(entries.keys() | keys.keys()):
        problem = _key_problem(entries.get(number), keys.get(number))
        if problem:
            raise _edited(number, f"The key of release {number} {problem}")


def check_key(entry: Entry, key: bytes | None) -> bytes:
    """Return the key of an entry that keeps one; raises DoesNotVerify when it was changed or deleted."""
    problem = _key_problem(entry, key)
    if key is None or problem:
        raise _edited(entry.id, f"The key of release {entry.id} {problem or 'was deleted'}")
    return key


def _key_problem(entry: Entry | None, key: bytes | None) -> str | None:
    if entry is None:
        return "is there, and the release is not"
    if key is None:
        return "was deleted" if entry.keeps_key else None
    if not entry.keeps_key:
        return "is still there, though it was to be destroyed"
    drawn = entry.spending.sample.startswith("drawn:")
    if not matches(key, entry.key_commitment) or (drawn and entry.spending.sample != sample_name(key)):
        return "was changed"
    return None


def refuse_known_key(key: bytes | None, entries: Iterable[Entry]) -> None:
    """Refuse a key that an earlier release was begun with, whichever people both are about.

    The key draws the noise too: where cells of two tables carry the same noise, it cancels out.
    """
    known = None if key is None else commitment(key)
    for entry in entries:
        if known is not None and entry.key_commitment == known:
            resume = f"Resume release {entry.id}, or pass" if entry.status == "unfinished" else "Pass"
            raise DoesNotCompose(
                f"Release {entry.id} was begun with this key, and a key is for one release: its noise would be drawn "
                "twice.",
                remedy=f"{resume} a new key: crowdblend.randomness.new_key().",
                where="key",
                code="key.used",
            )


def read_identities(entries: Iterable[Entry], rows: Iterable[tuple[str, str]]) -> Iterator[tuple[str, Identity]]:
    """Yield identities by digest, one at a time; raises DoesNotVerify unless they are those that entries commit to."""
    missing: dict[str, int] = {}
    for entry in entries:
        if entry.identity is not None:
            missing.setdefault(entry.identity, entry.id)
    for digest, text in rows:
        number = missing.pop(digest, 0)
        if not number or not isinstance(text, str) or fingerprint(text) != digest:
            raise _changed_identity(number)
        try:
            yield digest, identity_of(text)
        except InvalidInput as problem:
            raise DoesNotVerify(
                problem.message, remedy=problem.remedy, where=f"release {number}", code=problem.code
            ) from None
    for number in missing.values():
        raise _changed_identity(number)


def _changed_identity(number: int) -> DoesNotVerify:
    if not number:
        return _edited(number, "A source fingerprint belongs to no release")
    return _edited(number, f"The source fingerprint of release {number} was modified or deleted")


def _edited(number: int, problem: str) -> DoesNotVerify:
    says = f"{problem}: the ledger was edited. Restore it from a backup."
    return DoesNotVerify(says, where=f"release {number}", code="does-not-verify")


def edited_ledger(problem: str) -> DoesNotVerify:
    """Return the error for a ledger that somebody changed as a whole."""
    return DoesNotVerify(problem, remedy="Restore it from a backup.", where="ledger", code="does-not-verify")


def ledger_behind(records: int) -> DoesNotVerify:
    """Return the error for a ledger that lacks records which its head seals."""
    return edited_ledger(
        f"The ledger is not the one whose {records} records the head seals: its end was cut off, an older file was "
        "put in its place, or it is another ledger."
    )


def checked_secret(secret: bytes, committed: str | None) -> bytes:
    """Return the ledger's secret; raises DoesNotVerify unless it is the one that the chain committed to."""
    if not matches(secret, committed):
        raise edited_ledger("The secret of the ledger was changed or deleted.")
    return secret
