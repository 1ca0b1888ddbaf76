"""A release as the ledger sees it: recorded, and spent, before anything is computed from the sample."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from crowdblend import ledger as books
from crowdblend.calculus import Certificate
from crowdblend.calculus.certificate import digest
from crowdblend.engines.identity import population_of, source_of
from crowdblend.kinds.kind import Promised


@dataclass
class Record:
    """The entry of a release under way; without a ledger nothing is recorded."""

    ledger: books.Ledger | None
    entry: int = 0

    @classmethod
    def begin(cls, ledger: books.Ledger | None, promised: Promised, folder: Path, sample: str, key: bytes) -> Record:
        """Record the promise before anything is computed from the sample, or refuse it."""
        if ledger is None:
            return cls(None)
        sampling = promised.policy.sampling
        recorded = books.Spending(
            population=population_of(promised.policy.data),
            sample=sample,
            fresh=not sampling.already_drawn,
            kind=promised.policy.kind,
            guarantees=promised.certificate().guarantees,
            folder=folder.name,
            source=source_of(promised.policy.data),
        )
        kept = "sealed_key" if sampling.key == "seal" and not sampling.already_drawn else "held_key"
        record = cls(ledger, ledger.begin(recorded, **{kept: key}))
        ledger.output_begins(record.entry)
        return record

    def finish(self, certificate: Certificate, files: dict[str, str]) -> None:
        """The folder has appeared."""
        if self.ledger is not None:
            stated = certificate.to_dict()["digest"]
            self.ledger.finish(self.entry, certificate_digest=stated, data_sha256=digest(files))
