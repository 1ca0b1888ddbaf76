"""A release as the ledger sees it: recorded, with its key, before anything is computed from the sample."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import TypeVar

from crowdblend import ledger as books
from crowdblend.errors import CrowdblendError, InvalidInput, NoRoom, Refused, of_system
from crowdblend.publishing.staging import Completion, Staging
from crowdblend.trusted.calculus import Assumption
from crowdblend.trusted.machine.stopping import Standing, add_standing

Problem = TypeVar("Problem", bound=BaseException)


@dataclass(frozen=True)
class Record:
    """The entry of a release under way; without a ledger nothing is recorded."""

    ledger: books.Ledger | None = None
    entry: int | None = None
    sample: str | None = None
    command: str = ""
    """What resumes the release."""
    since: float = field(default_factory=time.monotonic)
    """When this process began it."""

    @property
    def assumptions(self) -> tuple[Assumption, ...]:
        """The assumptions that the ledger makes about sample and people; without one, nothing was compared."""
        if self.ledger is None or self.entry is None:
            return (Assumption.SAMPLE_NOT_COMPARED,)
        entry = self.ledger.entry(self.entry)
        made = {Assumption.SAMPLE_NOT_COMPARED: entry.not_compared, Assumption.OTHER_PEOPLE: entry.other_people}
        return tuple(assumption for assumption, releases in made.items() if releases)

    @property
    def date(self) -> str:
        """The day on which the release was begun, in UTC; the same when it is resumed."""
        began = None if self.ledger is None or self.entry is None else self.ledger.entry(self.entry).created
        return (began or datetime.now(UTC).isoformat())[:10]

    @property
    def standing(self) -> Standing:
        """Return what the ledger holds of the release."""
        if self.ledger is None:
            return Standing("The release was not recorded.")
        if self.entry is None:
            return Standing("The release may be recorded: see `crowdblend ledger list`.", None)
        sentence = f"Release {self.entry} is recorded: see `crowdblend ledger show {self.entry}`."
        return Standing(sentence, True, self.entry)

    def sign(self, staging: Staging) -> Staging:
        """Return the staging folder, with a journal that says which entry it belongs to."""
        return staging.write_journal(replace(staging.journal, entry=self.entry, sample=self.sample))

    def finish(self, completion: Completion) -> None:
        """Record the release as finished, before it appears; one that is finished stays so."""
        if self.ledger is None or self.entry is None:
            return
        if self.ledger.entry(self.entry).status == "unfinished":
            self.ledger.finish(
                self.entry,
                certificate_digest=completion.certificate_digest,
                data_sha256=completion.data_sha256,
                internal=completion.internal,
            )

    @contextmanager
    def explain_failure(self) -> Iterator[None]:
        """Turn whatever goes wrong into one sentence, and add how to go on."""
        try:
            yield
        except OSError as problem:
            reason = f"Writing the release failed: {problem.strerror or type(problem).__name__}."
            raise self._with_advice(
                of_system(problem)(reason, remedy="Make room.", code="write-failed", where="`--out`")
            ) from None
        except MemoryError:
            reason = "The release needs more memory than there is."
            raise self._with_advice(
                NoRoom(reason, remedy="Make room.", code="out-of-memory", where="`release.memory`")
            ) from None
        except CrowdblendError as problem:
            self._with_advice(problem)
            raise
        except Exception as problem:
            # Its own words may show a record.
            reason = f"Internal error ({type(problem).__name__}). Please report it."
            raise self._with_advice(Refused(reason, remedy="", code="stopped", where="release")) from problem
        except BaseException as problem:  # Ctrl-C, or a signal that ends the process
            self._with_advice(problem)
            raise

    def _with_advice(self, problem: Problem) -> Problem:
        """Say how to go on, in the error's remedy or, for what is no error of ours, in a note."""
        if self.ledger is None:
            return problem
        advice = (
            f"Release {self.entry} is recorded and not published yet; publish it, with the output that it would have "
            f"had: {self.command}"
        )
        if not isinstance(problem, CrowdblendError):
            add_standing(problem, Standing(advice, True, self.entry))
        elif advice not in problem.refusal.remedy:
            remedy = f"{problem.refusal.remedy} {advice}".strip()
            problem.refusal = problem.refusal._replace(remedy=remedy)
            problem.entry, problem.recorded = self.entry, True
        return problem


def resume_command(
    ledger: books.Ledger,
    entry: int,
    policy: str | None = None,
    engine: str = "duckdb",
    *,
    python: bool = False,
    signed: bool = False,
) -> str:
    """Return what resumes a release: `python` where Python holds the data or is to hold the release."""
    named = ledger.location.words() if ledger.location.named else None
    other = engine if engine != "duckdb" else None
    if python:
        options = (f", engine={other!r}" if other else "") + (f", ledger={named!r}" if named else "")
        return f"crowdblend.resume({entry}, data, policy{options})"
    options = (f" --engine {other}" if other else "") + (f" --ledger {named}" if named else "")
    return f"crowdblend ledger resume {entry} {policy or 'POLICY'}{options}{' --sign KEY' if signed else ''}"


def refuse_another(entry: books.Entry, spending: books.Spending) -> None:
    """Refuse to resume a release with another policy or other data: its output would be a second one."""
    begun = entry.spending
    if spending.policy != begun.policy:
        message = f"Release {entry.id} was begun with another policy or engine. Pass that one, unchanged."
        raise InvalidInput(message, code="other-policy", where="POLICY")
    if (spending.source, spending.sample) != (begun.source, begun.sample):
        message = f"The data are not those that release {entry.id} was begun with. Restore them."
        raise InvalidInput(message, code="other-data", where="`data.source`")
    if spending != begun:
        reason = f"Release {entry.id} was begun with other guarantees. Use the crowdblend that began it."
        raise InvalidInput(reason, code="other-version", where=f"release {entry.id}")
