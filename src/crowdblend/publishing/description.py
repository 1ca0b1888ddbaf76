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
from crowdblend.publishing.target import CERTIFICATE
from crowdblend.trusted.calculus import Certificate, sha256_of
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
    package = datapackage.data_package(folder, certificate)
    (folder / datapackage.NAME).write_text(package, encoding="utf-8", newline="\n")
    (folder / readme.NAME).write_text(readme.readme(folder, certificate), encoding="utf-8", newline="\n")
    unreported = published.PublishedRelease(folder, _covering(folder, certificate), outputs=outputs)
    write.write_report(folder, figures=figures, release=unreported)
    certificate = _covering(folder, certificate)
    (folder / CERTIFICATE).write_text(certificate.to_json(), encoding="utf-8", newline="\n")
    return certificate


def _covering(folder: Path, certificate: Certificate) -> Certificate:
    """Return the certificate of every file that is there."""
    files = {file.name: sha256_of(file) for file in sorted(folder.iterdir()) if file.name != CERTIFICATE}
    return replace(certificate, facts={**certificate.facts, "files": files})
