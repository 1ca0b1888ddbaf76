"""Stratified tables and microdata as the audit sees them: in each stratum, crowds of sizes that are hard for its k."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from crowdblend.errors import InvalidInput
from crowdblend.kinds import plan
from crowdblend.policies.columns import Column
from crowdblend.rehearsal.crowd_classes import CLASSES, ReleaseSubject, released
from crowdblend.rehearsal.made_up_people import Values, drawn_here
from crowdblend.rehearsal.registry import AuditRequest
from crowdblend.rehearsal.values import examples

# So many strata are audited: of the largest rate, of the smallest, and of the first and last labels.
_STRATA = 4


def subject(policy: Any, request: AuditRequest) -> ReleaseSubject:
    """The policy with a person in one stratum after the other; nobody else's stratum matters to that person."""
    request.leave_epsilon("a stratified policy", "every stratum has a k of its own")
    release: Any = plan(drawn_here(policy))
    planned = release.parameters
    audited = ReleaseSubject(policy, (), request.name, request.people, request.understated, request.stacked)
    pairs = []
    for stratum in _some(planned.strata):
        mine, other = (_person(policy, stratum.label, place) for place in (0, -1))
        hard = request.hard(stratum.k, stratum.rate, planned.epsilon / request.understated)
        # Who mixes strata up shows crowds of another one's k.
        others = {f"just a crowd of {one.label}": one.k for one in _some(planned.strata) if one.k != stratum.k}
        for why, size in {**hard, **others}.items():
            pairs.append(audited.pair(f"stratum {stratum.label}, {why}", mine, other, size))
    return replace(audited, further=tuple(released(pairs)))


def _some(strata: Any) -> list[Any]:
    by_rate = sorted(strata, key=lambda stratum: (stratum.rate, stratum.label))
    chosen = [by_rate[-1], by_rate[0], strata[0], strata[-1]]
    return list({stratum.label: stratum for stratum in chosen}.values())[:_STRATA]


def _person(policy: Any, label: str, place: int) -> Values:
    """Somebody of a stratum, in the first or the last class of every other column."""
    return tuple(
        _value(column, label)
        if column.name == policy.design.strata.column
        else examples(column.recoding, CLASSES)[place]
        for column in policy.columns
    )


def _value(column: Column, label: str) -> str | None:
    found = [value for value in examples(column.recoding, 1 << 20) if column.recoding.label(value) == label]
    if not found:
        raise InvalidInput(
            f"No raw value is known for the stratum {label!r}.",
            remedy="Write its labels as values.",
            where=f"column {column.name!r}",
            code="rehearsal.no-value",
        )
    return found[0]
