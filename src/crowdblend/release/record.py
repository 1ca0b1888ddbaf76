"""A release as the ledger sees it: begun before anything is read, spent before anything is computed."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from crowdblend import ledger as books
from crowdblend.calculus import Certificate
from crowdblend.calculus.certificate import digest
from crowdblend.release.identity import identify
from crowdblend.release.promise import Promise


@dataclass
class Record:
    """The entry of a release under way; without a ledger nothing is recorded."""

    ledger: books.Ledger | None
    entry: int = 0
    spent: bool = False

    @classmethod
    def begin(cls, ledger: books.Ledger | None, promised: Promise, folder: Path, key: bytes) -> Record:
        """Record the promise before anything is read, or refuse it."""
        if ledger is None:
            return cls(None)
        sampling = promised.policy.sampling
        population, sample = identify(promised.policy)
        recorded = books.Promise(
            population=population,
            sample=sample,
            fresh=not sampling.already_drawn,
            kind=promised.policy.release.kind,
            guarantees=promised.certificate().guarantees,
            folder=folder.name,
        )
        sealed = key if sampling.key == "seal" and not sampling.already_drawn else None
        return cls(ledger, ledger.begin(recorded, sealed_key=sealed))

    def output_begins(self) -> None:
        """From here on the promise is spent, whatever happens."""
        if self.ledger is not None:
            self.ledger.output_begins(self.entry)
        self.spent = True

    def finish(self, certificate: Certificate, files: dict[str, str]) -> None:
        """The folder has appeared."""
        if self.ledger is not None:
            stated = certificate.to_dict()["digest"]
            self.ledger.finish(self.entry, certificate_digest=stated, data_sha256=digest(files))

    def abandon(self) -> None:
        """It ended before anything was computed from the sample: the promise is given back."""
        if self.ledger is not None and not self.spent:
            self.ledger.abandon(self.entry)
