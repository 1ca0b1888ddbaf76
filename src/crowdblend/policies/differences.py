"""The keys that a policy says, and the first key of which two policies say different things."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from crowdblend.notation import within
from crowdblend.policies.key import Key, Section, keys_of, parts_of, sections_of
from crowdblend.policies.policy import Policy
from crowdblend.policies.publication import Publication
from crowdblend.policies.terms import Terms

Place = Callable[[str], str]


def first_difference(policy: Policy, other: Policy, place: Place = str) -> str | None:
    """Return the first key of which two policies say different things, as errors name it; None where they are equal.

    `place` is what a path is compared as, such as the file that it leads to.
    """
    ours, others = (dict(_statements(one, place)) for one in (policy, other))
    return next((where for where in {**ours, **others} if ours.get(where) != others.get(where)), None)


def _statements(policy: Policy, place: Place) -> Iterator[tuple[str, object]]:
    """Yield every key that is given, with its value."""
    for section, keys in sections_of(Terms).items():
        yield from _key_values(policy, keys, f"`{section}`", place)
    yield "`privacy.split`", policy.split
    for name in ("sampling", "recoding", "about"):
        holder: Section | None = getattr(policy, name) if policy.gives(name) else None
        yield f"`{name}`", None if holder is None else type(holder).__name__
        if holder is not None:
            yield from _key_values(holder, keys_of(type(holder)), f"`{name}`", place)
    yield "`columns`", tuple(column.name for column in policy.columns)
    for column in policy.columns:
        where = f"column {column.name!r}"
        if column.domain is None:
            yield where, column.recodings
        else:
            yield where, type(column.domain).__name__
            yield from _key_values(column.domain, keys_of(type(column.domain)), where, place)
    yield "`publish`", tuple(one.kind for one in policy.publish)
    for number, publication in enumerate(policy.publish, 1):
        yield from _publication(publication, f"`publish` {number}", place)


def _publication(publication: Publication, where: str, place: Place) -> Iterator[tuple[str, object]]:
    yield from _key_values(publication, keys_of(type(publication)), where, place)
    for field, part in parts_of(type(publication)).items():
        value = getattr(publication, field)
        if part.inline:
            yield from _key_values(value, keys_of(type(value)), where, place)
            continue
        yield f"{where} {field}", len(value)
        for at, item in enumerate(value, 1):
            yield from _key_values(item, keys_of(type(item)), f"{where} {field} {at}", place)


def _key_values(holder: Section, keys: Mapping[str, Key], where: str, place: Place) -> Iterator[tuple[str, object]]:
    for field, key in keys.items():
        value = getattr(holder, field)
        if key.is_given(value):
            yield within(where, key.name), key.with_paths(value, place)
