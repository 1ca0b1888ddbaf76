"""Whether the keys and identities in a ledger are the ones that its chain of records committed to."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from crowdblend.errors import DoesNotVerify, InvalidInput
from crowdblend.ledger.entry import Entry
from crowdblend.ledger.identity import Identity, fingerprint, identity_of
from crowdblend.ledger.secrets import matches, sample_name


def check_keys(entries: Mapping[int, Entry], keys: Mapping[int, bytes]) -> None:
    """Raise DoesNotVerify when a key was changed, swapped, deleted, or kept though it had to be destroyed."""
    for number in sorted(entries.keys() | keys.keys()):
        entry, key = entries.get(number), keys.get(number)
        if entry is None:
            raise DoesNotVerify(
                f"the ledger keeps a key for release {number}, which does not exist: the ledger was edited. "
                "Restore a backup.",
                where=f"release {number}",
                code="does-not-verify",
            )
        problem = _problem(entry, key)
        if problem:
            raise DoesNotVerify(
                f"the key of release {number} {problem}: the ledger was edited. Restore a backup.",
                where=f"release {number}",
                code="does-not-verify",
            )


def _problem(entry: Entry, key: bytes | None) -> str | None:
    if key is None:
        promised = entry.key == "sealed" or entry.key_commitment is not None
        return "was deleted" if promised and entry.keeps_key else None
    if not entry.keeps_key and not _left_by_the_first_format(entry):
        return "is still there, though it was to be destroyed"
    if entry.key_commitment is not None and not matches(key, entry.key_commitment):
        return "was changed"
    # Also what the first format sealed without a commitment: there the sample's name is one.
    if entry.spending.sample.startswith("drawn:") and entry.spending.sample != sample_name(key):
        return "was changed"
    return None


def _left_by_the_first_format(entry: Entry) -> bool:
    """The first format kept the sealed key of an abandoned release."""
    return entry.status == "abandoned" and entry.key == "sealed"


def identities_of(entries: Mapping[int, Entry], texts: Mapping[int, str]) -> dict[int, Identity]:
    """By what the source of every entry is known again; raises DoesNotVerify when one was changed or deleted."""
    return dict(_sound_identities(entries, texts.items()))


def check_identities(entries: Mapping[int, Entry], texts: Iterable[tuple[int, str]]) -> None:
    """Raise DoesNotVerify when by what a source is known again was changed or deleted; one is held at a time."""
    for _ in _sound_identities(entries, texts):
        pass


def _sound_identities(entries: Mapping[int, Entry], texts: Iterable[tuple[int, str]]) -> Iterator[tuple[int, Identity]]:
    missing = {number for number, entry in entries.items() if entry.identity is not None}
    for number, text in texts:
        stated = entries[number].identity if number in entries else None
        if stated is None or not isinstance(text, str) or fingerprint(text) != stated:
            raise _changed(number)
        missing.discard(number)
        try:
            yield number, identity_of(text)
        except InvalidInput as problem:
            raise DoesNotVerify(
                problem.message, remedy=problem.remedy, where=f"release {number}", code=problem.code
            ) from None
    if missing:
        raise _changed(min(missing))


def _changed(number: int) -> DoesNotVerify:
    return DoesNotVerify(
        f"by what the source of release {number} is known again was changed or deleted: the ledger was edited. "
        "Restore a backup.",
        where=f"release {number}",
        code="does-not-verify",
    )
