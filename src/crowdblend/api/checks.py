"""`verify`, `compose` and `audit` for whatever holds a certificate or a policy."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar, cast, overload

from crowdblend.api.sources import loaded_policy, publication_of
from crowdblend.errors import InvalidInput
from crowdblend.publishing.finished_release import Release
from crowdblend.trusted.calculus.certificate import Certificate
from crowdblend.trusted.calculus.checker import verify as verify_text
from crowdblend.trusted.calculus.checker import verify_file
from crowdblend.trusted.calculus.rules.composition import compose as compose_derivations
from crowdblend.trusted.calculus.theorem import Derivation
from crowdblend.trusted.guarantees.parameters import check_progress, check_type
from crowdblend.trusted.guarantees.privacy import Differential
from crowdblend.trusted.machine.lazy import lazy_imports

with lazy_imports():
    from crowdblend.lab.auditing.statistical import outlook, subject
    from crowdblend.lab.auditing.statistical.outlook import Outlook
    from crowdblend.lab.auditing.statistical.run import Verdict
    from crowdblend.lab.auditing.statistical.subject import BlackBox
    from crowdblend.lab.rehearsal import subject as subjects
    from crowdblend.policies.policy import Policy
    from crowdblend.publishing import signing
    from crowdblend.reading import release as reading
    from crowdblend.reading.verification import consistency


def sign(
    folder: str | os.PathLike[str], key: str | os.PathLike[str], *, passphrase: str | None = None, force: bool = False
) -> Path:
    """Sign a release `folder` with a private SSH `key`, after verifying it, and return the file of the signature.

    The signature is over the certificate, which has the hash of every other file, in OpenSSH's format:
    `ssh-keygen -Y verify -n crowdblend-certificate` checks it too. `passphrase` opens the key where it has one; with
    `force` an earlier signature is replaced.
    """
    ask = None if passphrase is None else lambda: passphrase
    return signing.sign_release(Path(folder), key, passphrase=ask, force=force)


def verify(target: object, *, signer: str | os.PathLike[str] | None = None) -> Certificate:
    """Return the certificate, re-derived from its leaves; raises DoesNotVerify when anything does not follow.

    `target` is the folder of a release, whose files are checked too; a certificate's file or its JSON text; a
    Certificate; or what `release` or `read` returned. `signer` is a public key, or a file with one in each line: the
    certificate must then be signed by one of them.
    """
    if signer is not None:
        _check_signature(target, signer)
    if isinstance(target, Certificate):
        return verify_text(target.to_json())
    if isinstance(target, str) and _is_json(target):
        return verify_text(target)
    if isinstance(target, str | os.PathLike):
        return _verify_path(Path(target))
    if isinstance(target, reading.PublishedRelease):
        return _verify_path(target.folder)
    if isinstance(target, Release):
        with target.open() as published:
            return consistency.verify_release(published.folder).certificate
    message = f"verify reads no {type(target).__name__}."
    remedy = "Pass the folder of a release, a certificate's file, its JSON text, or a Certificate."
    raise InvalidInput(message, remedy=remedy, where="verify", code="argument.type")


def _check_signature(target: object, signer: str | os.PathLike[str]) -> None:
    check_type("signer", signer, (str, os.PathLike), "a public key, or the path of a file of them")
    if isinstance(target, reading.PublishedRelease):
        signing.check_release_signature(target.folder, signer)
    elif isinstance(target, Release):
        with target.open() as published:
            signing.check_release_signature(published.folder, signer)
    elif isinstance(target, os.PathLike) or (isinstance(target, str) and not _is_json(target)):
        signing.check_release_signature(Path(target), signer)
    else:
        message = "A certificate without its file has no signature."
        remedy = "Pass the folder of the release, or the certificate's file."
        raise InvalidInput(message, remedy=remedy, where="signer", code="signature.missing")


def _is_json(text: str) -> bool:
    """Return whether a text is meant as JSON and not as the name of a file."""
    return text.lstrip()[:1] in ("{", "[", "") or text == "null"


def _verify_path(path: Path) -> Certificate:
    try:
        is_folder = path.is_dir()
    except (OSError, ValueError):  # no file has such a name
        is_folder = False
    return consistency.verify_release(path).certificate if is_folder else verify_file(path)


def compose(*releases: object) -> Derivation:
    """Return what publishing all of these `releases` guarantees together, or a refusal with the reason and the theorem.

    Each is a derivation, a certificate, a plan with one, what `release` returned, or a folder, which is verified first.
    Of a certificate its differential guarantee for one person counts, the one that adds up, else its strongest.
    Releases of one sample do not add up, and no certificate says whose sample it is: the ledger does.
    """
    return compose_derivations(*(_derivation(one) for one in releases))


def _derivation(release: object) -> Derivation:
    if isinstance(release, Derivation):
        return release
    made = getattr(release, "certificate", None)
    if isinstance(made, Certificate):
        certificate = made
    elif callable(made):
        certificate = cast(Certificate, made())
    elif isinstance(release, Certificate | str | os.PathLike):
        certificate = verify(release)
    else:
        message = f"compose takes releases, got {type(release).__name__}."
        remedy = "Pass releases, certificates, plans or folders one after another: compose(one, other)."
        raise InvalidInput(message, remedy=remedy, where="compose", code="argument.type")
    wanted = certificate.differential()
    found = [one for one in certificate.derivations if one.conclusion == wanted]
    return found[0] if found else certificate.derivations[0]


Population = TypeVar("Population")
Pairs = tuple[Population, Population] | Mapping[str, tuple[Population, Population]]


@overload
def audit(
    policy: Policy | str | os.PathLike[str],
    *,
    publication: str | None = None,
    runs: int | None = None,
    seconds: float | None = None,
    error: float = 1e-3,
    people: int | None = None,
    epsilon: float | None = None,
    understate: float = 1.0,
    batch: bool = False,
    workers: int = 1,
    progress: Callable[[str, int, int], None] | None = None,
    announce: Callable[[Outlook], None] | None = None,
) -> Verdict: ...


@overload
def audit(
    policy: Callable[[Population], object],
    claim: Differential,
    neighbours: Pairs[Population],
    *,
    runs: int | None = None,
    seconds: float | None = None,
    error: float = 1e-3,
    workers: int = 1,
    progress: Callable[[str, int, int], None] | None = None,
    announce: Callable[[Outlook], None] | None = None,
) -> Verdict: ...


def audit(
    policy: Any,
    claim: Differential | None = None,
    neighbours: Any = None,
    *,
    publication: str | None = None,
    runs: int | None = None,
    seconds: float | None = None,
    error: float = 1e-3,
    people: int | None = None,
    epsilon: float | None = None,
    understate: float = 1.0,
    batch: bool = False,
    workers: int = 1,
    progress: Callable[[str, int, int], None] | None = None,
    announce: Callable[[Outlook], None] | None = None,
) -> Verdict:
    """Try to break what a `policy` guarantees by running it on made-up people, never on data.

    Of a policy with several publications, `publication` names the one to audit, by itself. The verdict has a `finding`
    with probability at most `error` where the guarantee holds. Without one nothing is proved: the proof is in the
    certificate. It takes this many `runs`, or as many as fit into `seconds`, a minute unless stated; `announce` is told
    beforehand what these can find. `epsilon` audits the same release at another ε, `understate` claims ε divided by it,
    to test the audit; `batch` runs many releases as one, which is far faster and takes for granted what docs/audit.md
    says. Several `workers` are processes of their own, for which a script needs `if __name__ == "__main__":`. There are
    1,000 made-up `people` unless stated; `progress` is called with the phase, the runs so far and the runs in all.

    A mechanism of your own, a function from a population to an output, takes the place of `policy`; `claim` is the
    Differential guarantee to break, and `neighbours` a pair of populations that it is about, or several by name.
    """
    check_progress(progress)
    if runs is not None:
        check_type("runs", runs, int, "a whole number, such as 100000")
    how: dict[str, Any] = {"runs": runs, "seconds": seconds, "error": error, "workers": workers, "progress": progress}
    how["announce"] = announce or (lambda _: None)
    if claim is not None or neighbours is not None or callable(policy):
        used = {"publication": publication, "people": people, "epsilon": epsilon, "batch": batch or None}
        used["understate"] = None if understate == 1.0 else understate
        return outlook.audit_foreseen(_own_mechanism(policy, claim, neighbours, used), **how)
    loaded = loaded_policy(policy)
    name = Path(os.fspath(policy)).name if isinstance(policy, str | os.PathLike) else loaded.kind
    audited = subjects.subject_of(
        publication_of(loaded, publication),
        subject.hard_sizes,
        name=name,
        people=people or 1_000,
        understated=understate,
        epsilon=epsilon,
        stacked=batch,
    )
    return outlook.audit_foreseen(audited, **how)


def _own_mechanism(function: object, claim: object, neighbours: Any, of_policies: Mapping[str, object]) -> BlackBox:
    """Return a user's own mechanism as the subject of an audit; refuse what is none."""
    if not callable(function):
        message = f"An audit with a claim and neighbours takes a function, got {type(function).__name__}."
        raise InvalidInput(message, remedy="Leave both out for a policy.", where="audit", code="argument.type")
    for name, value in of_policies.items():
        if value is not None:
            message = f"{name} is for the audit of a policy, and plays no part in that of a function."
            raise InvalidInput(message, remedy="Leave it out.", where=name, code="argument.unused")
    check_type("claim", claim, Differential, "a Differential guarantee, such as certificate.differential() returns")
    pairs = neighbours if isinstance(neighbours, Mapping) else {"neighbours": neighbours}
    if not pairs or not all(isinstance(pair, tuple) and len(pair) == 2 for pair in pairs.values()):
        message = "neighbours is a pair of populations, or several pairs by name."
        remedy = 'Pass (one, other) or {"a name": (one, other)}.'
        raise InvalidInput(message, remedy=remedy, where="neighbours", code="argument.type")
    made = tuple(subject.Neighbours(str(name), one, other) for name, (one, other) in pairs.items())
    name = getattr(function, "__name__", type(function).__name__)
    return subject.BlackBox(str(name), cast(Differential, claim), function, made)
