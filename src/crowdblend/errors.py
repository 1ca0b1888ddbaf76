"""Errors of crowdblend, as one tree, and the exit code of a command that one of them ends.

    CrowdblendError
    ├── InvalidInput        wrong use: a parameter, a file, an option, data        exit code 2
    │   └── NotApplicable       a theorem's own condition is not met
    ├── Unavailable         the machine lacks a package, a tool or a permission    exit code 2
    │   ├── NotReachable        a server does not answer, or others are at work    exit code 4
    │   └── NoRoom              a disk is full, memory is used up                  exit code 5
    ├── Refused             it was understood and the answer is no                 exit code 1
    │   ├── Infeasible          no value reaches the target
    │   ├── DoesNotCompose      guarantees that may not be given together
    │   │   └── RefusedByLedger     beside what the ledger holds                   exit code 3
    │   ├── NotProved           a bound could not be computed rigorously
    │   └── DoesNotVerify       a certificate that does not re-derive
    └── Interruption        a signal ended the command                             exit code 128 + its number

An error about a release that the ledger has recorded, and that did not appear yet, has exit code 6 whichever it is: the
release is paid for, and is resumed. 4, 5 and 6 are worth another try, without a change of policy or data.

Every error has a stable code, the place it is about, what is wrong, and what to do. Parameters may be shown;
records, counts and suppressed numbers never.
"""

from __future__ import annotations

import errno
import re
from typing import ClassVar, NamedTuple, Self

from crowdblend.notation import PYTHON, Notation, spell

RECORDED = 6
"""The exit code where a release is recorded and not published yet."""
INTERNAL = 70
"""The exit code of an internal error that spent nothing: a defect, which another try meets again."""
_WORTH_ANOTHER_TRY = (4, 5, RECORDED)
_NO_ROOM = (errno.ENOSPC, errno.ENOMEM, *(getattr(errno, name) for name in ("EDQUOT",) if hasattr(errno, name)))


class Refusal(NamedTuple):
    """The texts of an error, with the keys that it is about in backticks: `notation` has them."""

    message: str
    remedy: str
    where: str | None


class CrowdblendError(Exception):
    """The root: catching it catches everything crowdblend raises on purpose.

    Keys of policies, settings and commands stand in backticks in what is given, and are spelled when the error is
    shown: as Python has them, unless it is about a policy file, on a terminal or on a page.

    Parameters:
        message: What is wrong. A text without a remedy ends with it: its last sentence becomes the remedy.
        remedy: What to do.
        where: The section and key, the argument, the column or the option that it is about.
        code: Which error it is; a code never changes its meaning.
    """

    usual_exit: ClassVar[int] = 2
    usual_code: ClassVar[str] = "error"
    entry: int | None = None
    """The ledger's entry of the release that the error stopped."""
    recorded: bool | None = False
    """Whether the ledger has recorded that release; None where that is not known."""
    notation: Notation | None = PYTHON
    """The notation of what it is about; None where another process is to spell it."""

    def __init__(
        self, message: str = "", *, remedy: str | None = None, where: str | None = None, code: str | None = None
    ) -> None:
        if remedy is None:
            message, remedy = _split(message)
        super().__init__(message)
        self.refusal = Refusal(message, remedy, where)
        self.code = code or self.usual_code

    def __str__(self) -> str:
        return f"{self.message} {self.remedy}".strip()

    @property
    def message(self) -> str:
        """Return the sentence that says what is wrong."""
        return spell(self.refusal.message, self.notation)

    @property
    def remedy(self) -> str:
        """Return the sentence that says what to do."""
        return spell(self.refusal.remedy, self.notation)

    @property
    def where(self) -> str | None:
        """The section and key, the argument, the column or the option that it is about."""
        return self.refusal.where and spell(self.refusal.where, self.notation)

    @property
    def exit_code(self) -> int:
        """The exit code of the command."""
        return RECORDED if self.recorded else self.usual_exit

    @property
    def retry(self) -> bool:
        """True if the same command may succeed later, without a change of policy or data."""
        return self.exit_code in _WORTH_ANOTHER_TRY

    def in_notation(self, notation: Notation | None) -> Self:
        """Return the same error, which spells what it is about in another `notation` from now on."""
        self.notation = notation
        return self

    def to_dict(self) -> dict[str, str | int | bool | None]:
        """Return the error as `--json` prints it."""
        about = {"code": self.code, "where": self.where, "message": self.message, "remedy": self.remedy or None}
        spent = {"recorded": self.recorded, "entry": self.entry}
        return {**about, "exit_code": self.exit_code, "retry": self.retry, **spent}


def _split(text: str) -> tuple[str, str]:
    """Return a text as its message and its last sentence; one sentence alone has no remedy."""
    parts = re.split(r"(?<=[.?!]) (?=[A-Z])", text)
    return (" ".join(parts[:-1]), parts[-1]) if len(parts) > 1 else (text, "")


_QUOTED = re.compile(r"""'[^']*'|"[^"]*"|`[^`]*`|\S+://\S+""")
# What DuckDB puts before its words: "IO Error: ", "Invalid Input Error: ".
_SORT_OF_ERROR = re.compile(r"^(\w+ ){1,3}Error: ")
_LONGEST_REASON = 200


def reason_of(problem: BaseException) -> str:
    """Return the first line of what another program says of why it does not start.

    What stands in quotes and addresses are left out: they may hold a name or a password. Use it only where no row has
    been read yet; afterwards such words may quote one.

    >>> reason_of(OSError('host "db.example", port 5432: refused\\n(details)'))
    'host …, port 5432: refused'
    >>> reason_of(OSError("IO Error: not a database!"))
    'not a database'
    """
    first = next((line for line in str(problem).splitlines() if line.strip()), type(problem).__name__)
    words = "".join(sign if sign.isprintable() else " " for sign in _QUOTED.sub("…", first))
    return _SORT_OF_ERROR.sub("", " ".join(words.split()))[:_LONGEST_REASON].rstrip(" .:!")


class InvalidInput(CrowdblendError):
    """The call, the file or the option is wrong."""

    usual_code = "invalid-input"


class NotApplicable(InvalidInput):
    """A theorem was asked about a case that its own conditions exclude."""

    usual_code = "not-applicable"


class Unavailable(CrowdblendError):
    """The machine lacks something: a package, a tool, a permission."""

    usual_code = "unavailable"


class NotReachable(Unavailable):
    """A server does not answer, or others are at work: the same command may succeed a little later."""

    usual_exit = 4
    usual_code = "not-reachable"


class NoRoom(Unavailable):
    """A disk is full, or memory is used up: the same command succeeds once there is room."""

    usual_exit = 5
    usual_code = "no-room"


def of_system(problem: OSError) -> type[Unavailable]:
    """Return the class of what the operating system refused: no room, or something else that is missing."""
    return NoRoom if problem.errno in _NO_ROOM else Unavailable


class Refused(CrowdblendError):
    """The request was understood, and the answer is no."""

    usual_exit = 1
    usual_code = "refused"


class Infeasible(Refused):
    """No value of the free parameter reaches the target."""

    usual_code = "infeasible"


class DoesNotCompose(Refused):
    """These guarantees may not be given about the same people together."""

    usual_code = "does-not-compose"


class RefusedByLedger(DoesNotCompose):
    """The ledger does not allow it: for an earlier release, a limit, a missing approval, or the rights of a role."""

    usual_exit = 3
    usual_code = "refused-by-ledger"


class NotProved(Refused):
    """The number could not be bounded rigorously, so it is not stated."""

    usual_code = "not-proved"


class DoesNotVerify(Refused):
    """The certificate does not follow from its leaves."""

    usual_code = "does-not-verify"


class Interruption(CrowdblendError):
    """A signal ended the command."""

    usual_code = "stopped"
    signal: int = 2

    @property
    def exit_code(self) -> int:
        """The exit code of the command, as shells count."""
        return 128 + self.signal

    @property
    def retry(self) -> bool:
        """True: a command that was stopped may be started again."""
        return True
