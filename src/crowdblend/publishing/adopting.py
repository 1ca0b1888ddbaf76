"""Releases that a restored ledger has forgotten are entered again from their folders, each verified first.

A certificate says what was guaranteed and when, and neither what the population is called nor what was read: the
steward who enters a release names its population, and no later release is compared with its table.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from crowdblend.errors import InvalidInput
from crowdblend.kinds.shared.facts import ReleaseFacts, read_facts
from crowdblend.ledger.adoption import FolderRelease
from crowdblend.publishing.pending import with_profile
from crowdblend.reading.verification.consistency import verify_release
from crowdblend.trusted.calculus import Certificate

NOT_KNOWN = (
    "A folder tells neither its key nor what was read: these releases count in totals and limits, and no later one is "
    "compared with their tables."
)


def releases_in(folders: Sequence[Path]) -> list[FolderRelease]:
    """Return the releases in some folders by their days, those that proposed domains first; refuse what is none.

    Where all proposals of a release are among the folders, each counts once; else the release counts with theirs.
    """
    certificates = [verify_release(folder).certificate for folder in folders]
    each = [read_facts(one.facts) for one in certificates]
    known = [dict(one.facts) for one in certificates]
    found = [
        (bool(facts.proposed), _release_in(folder, certificate, facts, known))
        for folder, certificate, facts in zip(folders, certificates, each, strict=True)
    ]
    return [one for _, one in sorted(found, key=lambda pair: (pair[0], pair[1].date))]


def _release_in(
    folder: Path, certificate: Certificate, facts: ReleaseFacts, documents: Sequence[dict[str, Any]]
) -> FolderRelease:
    if facts.is_computed_from_releases:
        message = f"{folder} has synthetic rows, which lose nothing beyond the releases that they were made from."
        raise InvalidInput(message, remedy="Enter those.", where=str(folder), code="ledger.nothing-lost")
    if facts.date is None:
        message = f"The certificate in {folder} has no date."
        raise InvalidInput(message, remedy="State it with ledger record.", where=str(folder), code="ledger.no-date")
    once = bool(facts.proposed) and all(dict(one) in documents for one in facts.proposed)
    return FolderRelease(
        kind=facts.kind,
        guarantees=with_profile(Certificate(facts.derivations()) if once else certificate),
        fresh=not facts.already_drawn and facts.assumption is None,
        series=facts.planned_releases,
        folder=str(folder.absolute()),
        certificate_digest=str(certificate.to_dict()["digest"]),
        date=facts.date,
        software=f"crowdblend {facts.software['crowdblend']}",
    )
