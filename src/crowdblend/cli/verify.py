"""`crowdblend verify`."""

from __future__ import annotations

import sys
from dataclasses import asdict
from pathlib import Path

import click

from crowdblend.cli.output import answer, answers
from crowdblend.errors import InvalidInput
from crowdblend.kinds.shared.facts import planned_releases
from crowdblend.trusted.calculus import Certificate, verify, verify_file
from crowdblend.trusted.calculus.encoding import MOST_BYTES, encode
from crowdblend.trusted.guarantees.guessing import lead
from crowdblend.trusted.machine.lazy import lazy_imports

with lazy_imports():
    from crowdblend.publishing import signing
    from crowdblend.reading.verification import consistency, coq_steps
    from crowdblend.trusted.signatures import sshsig


@click.command("verify", epilog="Example: crowdblend verify published")
@click.argument("target")
@click.option("--signer", metavar="PUB", help="Whose signature it must have: a public SSH key, or a file of them.")
@click.option(
    "--proved", "proof_folder", metavar="FOLDER", help="Compiled theorems of make proofs: say what Coq has checked."
)
@answers
def command(target: str, *, signer: str | None, proof_folder: str | None) -> None:
    """Recompute every number of a certificate from its leaves, and refuse what does not follow.

    TARGET is a release folder, a certificate alone, or '-' for stdin. Only with a folder are the data checked too.
    """
    signed = None
    if signer is not None:
        if target == "-":
            message, remedy = "A certificate from stdin has no signature.", "Name the folder or the certificate."
            raise InvalidInput(message, remedy=remedy, where="--signer", code="signature.missing")
        found = signing.check_release_signature(Path(target), signer)
        signed = {"name": found.name, "key": sshsig.fingerprint(found.key)}
    folder = Path(target) if target != "-" and Path(target).is_dir() else None
    if folder is not None:
        checked = consistency.verify_release(folder)
        certificate, uncovered, not_compared = checked.certificate, checked.uncovered, checked.not_compared
    else:
        certificate = verify(sys.stdin.read(MOST_BYTES + 1)) if target == "-" else verify_file(Path(target))
        uncovered = not_compared = ()
    guarantees = [encode(guarantee) for guarantee in certificate.guarantees]
    said = {"data_checked": folder is not None, "not_covered": list(uncovered), "not_compared": list(not_compared)}
    lines = _lines(certificate, uncovered, with_data=folder is not None)
    if not_compared:
        lines.append(f"  written by another version, and not compared  {', '.join(not_compared)}")
    if signed is not None:
        lines.append(f"  signed by  {signed['name'] or 'the given key'} ({signed['key']})")
    steps = [] if proof_folder is None else coq_steps.proved_steps(certificate, Path(proof_folder))
    lines += [f"  rests on   {step.rule}: {step.proof}" for step in steps]
    said["steps"] = [asdict(step) for step in steps]
    answer({"verified": True, **said, "guarantees": guarantees, "signed_by": signed}, *lines)


def _lines(certificate: Certificate, uncovered_files: tuple[str, ...], *, with_data: bool) -> list[str]:
    said = "The derivation is sound."
    if with_data:
        said = "The derivation is sound, and the data are those that were certified and keep to what it says of them."
    elif certificate.facts.get("files"):
        said = "The derivation is sound. The data were not checked; run crowdblend verify FOLDER."
    covered = [f"  not covered  {', '.join(uncovered_files)}"] if uncovered_files else []
    sentence = lead(certificate.guarantees, planned_releases(certificate))
    return [
        *(said, *covered, *([sentence] if sentence else [])),
        *(f"  guarantee  {guarantee.words()}" for guarantee in certificate.guarantees),
        *(f"  assuming   {assumed.sentence()}" for assumed in certificate.assumptions()),
    ]
