"""A release as the ledger sees it before it begins: what it will spend, about whom, and what cannot be known."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace

from crowdblend import ledger as books
from crowdblend.errors import InvalidInput, RefusedByLedger
from crowdblend.kinds import AnyPlan, AnyPolicy
from crowdblend.ledger.chain import commitment
from crowdblend.ledger.identity import UNNAMED
from crowdblend.notation import Caution
from crowdblend.policies.proposed import read_proposals
from crowdblend.publishing.policy_digest import policy_digest
from crowdblend.publishing.target import IN_MEMORY
from crowdblend.sources.engines.choice import identify
from crowdblend.sources.engines.engine import Engine
from crowdblend.sources.engines.identity import largest_rate, sample_of
from crowdblend.trusted.calculus import Certificate
from crowdblend.trusted.calculus.profiles import profile_of
from crowdblend.trusted.guarantees.privacy import Guarantee, Relation

# What the ledger calls releases that propose domains of later policies.
PROPOSAL = "proposal"


@dataclass(frozen=True)
class PendingRelease:
    """The spending of a release, the fingerprint of its source, and the ledger's view of it."""

    spending: books.Spending
    identity: books.Identity
    outlook: books.Outlook | None = None
    not_named: tuple[books.Entry, ...] = ()
    """Releases that proposed domains from the data of these people, and that the policy does not name."""
    unfinished: tuple[books.Entry, ...] = ()
    """Unfinished releases of this policy about these data, which this one does not resume."""
    resumes: books.Entry | None = None
    """The unfinished release that is resumed, so that nothing more is spent."""

    @property
    def warnings(self) -> tuple[str, ...]:
        """Warnings to the steward before anything is spent, in sentences."""
        if self.resumes is not None:
            return (_resumed_sentence(self.resumes),)
        if self.outlook is None:
            return ()
        found = [_unfinished_sentence(entry) for entry in self.unfinished]
        found += self.outlook.recognition
        found += [
            f"Release {entry.id} proposed labels or bounds from these people's data, and the policy does not name "
            "it: the certificate is true only if no domain of the policy comes from there. If one does, write "
            f'`privacy.proposed = "{entry.spending.folder}"`.'
            for entry in self.not_named
        ]
        return (*found, *self.outlook.high)


def _resumed_sentence(entry: books.Entry) -> str:
    return (
        f"Release {entry.id} of this policy, these data and this target was begun and stopped. It is resumed, with the "
        "output that it would have had, and nothing more is spent."
    )


def _unfinished_sentence(entry: books.Entry) -> str:
    how = f"crowdblend ledger resume {entry.id} POLICY --out DIR"
    if entry.spending.folder == IN_MEMORY:
        how = f"crowdblend.resume({entry.id}, data, policy)"
    return (
        f"Release {entry.id} of this policy and these data was begun and stopped, and counts as spent. "
        f"Resume it: {how}."
    )


ConfirmHook = Callable[[PendingRelease], None]
"""Called before a release begins or is resumed, for example to ask the steward."""


def check_beforehand(
    plan: AnyPlan, ledger: books.Ledger | None, engine: Engine, last_digest: str | None, *, new: bool
) -> str:
    """Return the digest of a policy; refuse what `check_spending` refuses before rows of a database are copied.

    Nothing is refused yet where a release may be resumed, which spends nothing more: see `stopped_release`.
    """
    digest = written_digest(plan, engine)
    resumable = not new and ledger is not None and (last_digest is not None or ledger.unfinished_of(digest))
    if not resumable:
        check_spending(plan, ledger, digest)
    return digest


def written_digest(plan: AnyPlan, engine: Engine) -> str:
    """Return the digest of the policy of a plan, as this engine publishes it."""
    return policy_digest(plan.policy, engine.assumptions)


def check_spending(plan: AnyPlan, ledger: books.Ledger | None, digest: str) -> None:
    """Refuse what exceeds a limit, or waits for an approval, before the source is looked at.

    Of a population without a name only what holds for all of them is known yet. `digest` is that of the policy.
    """
    if ledger is not None:
        ledger.check_spending(replace(planned_spending(plan), policy=digest))


def pending_release(
    plan: AnyPlan, place: str, ledger: books.Ledger, key: bytes, engine: Engine, digest: str | None = None
) -> PendingRelease:
    """Return the spending; raise DoesNotCompose if the ledger refuses it. A source that was read is compared faster.

    `digest` is that of the policy as it was written, where the plan reads a copy of its rows.
    """
    digest = digest or written_digest(plan, engine)
    pending = _describe_pending(plan, place, ledger, key, engine, digest)
    outlook = ledger.preview(pending.spending, pending.identity, key)
    begun = ledger.unfinished_of(str(pending.spending.policy))
    unfinished = tuple(one for one in begun if one.spending.source == pending.spending.source)
    return replace(pending, outlook=outlook, unfinished=unfinished)


def stopped_release(
    plan: AnyPlan,
    place: str,
    ledger: books.Ledger,
    engine: Engine,
    key: bytes | None,
    digest: str,
    last_digest: str | None = None,
) -> PendingRelease | None:
    """Return the first unfinished release of this policy, these data and this target; None where there is none.

    The same job twice is one release: what the first began, the second resumes. The release whose certificate has
    `last_digest` counts too: it was finished, and got its name only when the second began. A `key` must be the one that
    it was begun with. `digest` is that of the policy as it was written.
    """
    policy = plan.policy
    finished = (
        [one for one in ledger.entries() if one.certificate_digest == last_digest] if last_digest is not None else []
    )
    stopped = [one for one in (*finished, *ledger.unfinished_of(digest)) if one.spending.policy == digest]
    here = [one for one in stopped if one.spending.folder == place]
    if not here:
        return None
    identity = identify(policy.data, policy.resources, ledger.fingerprint_request(), engine)
    begun = [one for one in here if one.spending.source == identity.source]
    if not begun:
        return None
    entry = next((one for one in begun if key is None or one.key_commitment == commitment(key)), None)
    if entry is None:
        message = f"Release {begun[0].id} of this policy and these data is unfinished, and was begun with another key."
        remedy = "Leave the key out to resume it, or begin another release: `--new`."
        raise InvalidInput(message, remedy=remedy, where="key", code="key.another")
    return PendingRelease(entry.spending, identity, resumes=entry)


def resumed_spending(
    plan: AnyPlan, ledger: books.Ledger, key: bytes, entry: books.Entry, engine: Engine, digest: str
) -> books.Spending:
    """Return the spending of a resumed release; an unnamed population keeps the name it got.

    `digest` is that of the policy as it was written.
    """
    spending = _describe_pending(plan, entry.spending.folder, ledger, key, engine, digest).spending
    unnamed = plan.policy.data.population is None
    return replace(spending, population=entry.spending.population) if unnamed else spending


def warn(pending: PendingRelease) -> None:
    """Say what cannot be known, as Python warns."""
    for sentence in pending.warnings:
        warnings.warn(Caution(sentence), stacklevel=3)


def planned_spending(plan: AnyPlan) -> books.Spending:
    """Return the spending of a policy, before anything is known of its source."""
    return books.Spending(
        population=plan.policy.data.population or UNNAMED,
        sample="planned",
        fresh=not plan.policy.sampling.already_drawn,
        kind=PROPOSAL if plan.policy.proposes else plan.policy.kind,
        # What proposed the domains has an entry of its own.
        guarantees=with_profile(plan.own_certificate()),
        folder="planned",
        series=plan.facts().planned_releases,
    )


def with_profile(certificate: Certificate) -> tuple[Guarantee, ...]:
    """Return the guarantees of a release, and the profile by which it composes with others, where it has one."""
    for relation in (Relation.ADD_REMOVE, Relation.REPLACE):
        stated = certificate.differential(relation)
        for made in certificate.derivations:
            if stated is not None and made.conclusion == stated:
                return (*certificate.guarantees, profile_of(made).conclusion)
    return certificate.guarantees


def _describe_pending(
    plan: AnyPlan, place: str, ledger: books.Ledger, key: bytes, engine: Engine, digest: str
) -> PendingRelease:
    policy = plan.policy
    identity = identify(policy.data, policy.resources, ledger.fingerprint_request(), engine)
    spending = replace(
        planned_spending(plan),
        sample=sample_of(policy.sampling, identity.source, key),
        folder=place,
        source=identity.source,
        rate=largest_rate(policy.sampling, policy.strata) if policy.sampling.already_drawn else None,
        policy=digest,
    )
    if policy.data.population is None:
        spending = replace(spending, population=ledger.population(spending, identity))
    return PendingRelease(spending, identity, not_named=_not_named(policy, spending.population, ledger))


def _not_named(policy: AnyPolicy, population: str, ledger: books.Ledger) -> tuple[books.Entry, ...]:
    """The proposals about these people that a policy does not name; refuse one that it names and no entry counts."""
    about = {population, *ledger.budget(population).overlapping}
    earlier = [entry for entry in ledger.entries() if entry.spending.population in about]
    named = [one.to_dict()["digest"] for one in read_proposals(policy.proposed)]
    counted = {entry.certificate_digest for entry in earlier}
    if not counted.issuperset(named):
        message = f"The ledger has no release about {population!r} that is the proposal which the policy names."
        remedy = "Use the ledger that recorded it, and the same `data.population`."
        raise RefusedByLedger(message, remedy=remedy, where="`privacy.proposed`", code="proposal-not-recorded")
    proposals = () if policy.proposes else [entry for entry in earlier if entry.spending.kind == PROPOSAL]
    return tuple(entry for entry in proposals if entry.certificate_digest not in named)
