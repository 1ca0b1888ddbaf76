"""The files that explain a release: datapackage.json, README.md and the report, under a certificate that covers them.

The certificate holds the hashes of all other files, so it is written last. The report shows the certificate, so it is
made from one that covers everything but the report; it shows no digest of the certificate and not its own hash, and
comes out the same when it is made again from the finished folder.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from crowdblend.kinds.shared.outputs import Output
from crowdblend.trusted.calculus import Certificate, sha256_of
from crowdblend.trusted.calculus.folder_files import CERTIFICATE
from crowdblend.trusted.machine.lazy import lazy_imports

with lazy_imports():
    from crowdblend.reading import datapackage, readme
    from crowdblend.reading import release as published
    from crowdblend.reading.reports import write


def describe(
    folder: Path, certificate: Certificate, date: str, outputs: Sequence[Output] = (), *, figures: bool = True
) -> Certificate:
    """Write them into a folder that has its data files, and return the certificate that covers every file.

    What is in the files of `outputs` is known and need not be read again.
    """
    certificate = replace(certificate, facts={**certificate.facts, "date": date})
    written = published.PublishedRelease(folder, certificate, outputs=outputs)
    for name, text in ((datapackage.NAME, datapackage.data_package(written)), (readme.NAME, readme.readme(written))):
        (folder / name).write_text(text, encoding="utf-8", newline="\n")
    unreported = replace(written, certificate=_covering(written))
    write.write_report(folder, figures=figures, release=unreported)
    certificate = _covering(unreported)
    (folder / CERTIFICATE).write_text(certificate.to_json(), encoding="utf-8", newline="\n")
    return certificate


def _covering(written: published.PublishedRelease) -> Certificate:
    """Return the certificate of every file that is there; those that it covers already are hashed no more."""
    folder, known = written.folder, written.facts.files
    names = sorted(file.name for file in folder.iterdir() if file.name != CERTIFICATE)
    files = {name: known.get(name) or sha256_of(folder / name) for name in names}
    return replace(written.certificate, facts={**written.certificate.facts, "files": files})
