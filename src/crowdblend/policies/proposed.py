"""Domains that were proposed from the data: what the proposals spent is part of what a policy may lose.

A proposal is itself a release about everybody, with a certificate and an entry in the ledger. Anyone who takes a domain
from it names its folder.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from crowdblend.errors import CrowdblendError
from crowdblend.policies.refusals import refusal
from crowdblend.policies.terms import Terms
from crowdblend.trusted.calculus import Certificate, verify_file
from crowdblend.trusted.numerics.balls import total

_PROPOSED = "`privacy.proposed`"
# The designs whose releases are about everybody in the data, or draw a sample of them here.
_OF_EVERYBODY = ("everybody", "poisson")
# Of what is left, so much is lost to rounding.
_ROUNDING = 1e-12


def read_proposals(folders: Sequence[str]) -> tuple[Certificate, ...]:
    """Return the certificates of the releases in these folders; refuse what is no release."""
    found = []
    for folder in folders:
        try:
            found.append(verify_file(Path(folder)))
        except (CrowdblendError, OSError) as problem:
            message = f"{Path(folder).name!r} in proposed is no release that can be verified."
            raise refusal("proposed", message, "Name the folder of the proposal, unchanged.", _PROPOSED) from problem
    return tuple(found)


def check_proposed_design(design: str | None) -> None:
    """Refuse designs whose data are themselves a sample: its randomness cannot hide people twice."""
    if design not in _OF_EVERYBODY:
        message = "Domains are proposed from everybody's data, and these are a sample."
        remedy = "Take domains of a sample from a code book, a list or an earlier policy, and remove proposed."
        raise refusal("proposed", message, remedy, _PROPOSED)


def left_by_proposals(terms: Terms) -> Terms:
    """Return the terms with the epsilon and the delta that are left for what is published."""
    design = terms.sampling.design if terms.gives("sampling") else None
    if terms.proposes and design != "everybody":
        message = "A proposal is about everybody in the data."
        raise refusal("proposed", message, 'Write `sampling.design = "everybody"`.', "`release.proposes`")
    if not terms.proposed:
        return terms
    check_proposed_design(design)
    missing = next((name for name in ("epsilon", "delta") if getattr(terms, name) is None), None)
    if missing == "epsilon" or (missing is not None and design != "everybody"):
        message = (
            f"Domains were proposed from the data, and {missing} is left to the plan: losses add up to stated ones."
        )
        raise refusal("proposed", message, f"Add `privacy.{missing}`.", f"`privacy.{missing}`")
    spent = [one.differential() for one in read_proposals(terms.proposed)]
    if len(set(terms.proposed)) < len(terms.proposed) or any(one is None for one in spent):
        message = "`privacy.proposed` names a release that proposes nothing, or one of them twice."
        raise refusal("proposed", message, "Name each proposal once.", _PROPOSED)
    changes: dict[str, float] = {}
    for name in ("epsilon", "delta"):
        given = getattr(terms, name)
        if given is None:  # noise on every cell of a register needs no delta, and has that of the proposal
            continue
        lost = total(getattr(one, name) for one in spent)
        changes[name] = (given - lost) * (1 - _ROUNDING)
        if changes[name] <= 0 < lost:
            message = f"What proposed the domains has spent {lost:g} of {name} = {given:g}."
            raise refusal("proposed", message, f"Raise {name}.", f"`privacy.{name}`")
    return terms.replace(**changes)
