"""Errors of crowdblend, as one tree.

    CrowdblendError
    ├── InvalidInput      wrong use: a parameter, a file, an option        exit code 2
    │   └── NotApplicable     a theorem's own condition is not met
    ├── Unavailable       the machine lacks room, memory or a permission   exit code 2
    └── Refused           it was understood and the answer is no           exit code 1
        ├── Infeasible        no value reaches the target
        ├── DoesNotCompose    guarantees that may not be given together
        ├── NotProved         a bound could not be computed rigorously
        └── DoesNotVerify     a certificate that does not re-derive

Every error has a stable code, the place it is about, what is wrong, and what to do. Parameters may be shown;
records, counts and suppressed numbers never.
"""

from __future__ import annotations

import re
from typing import ClassVar


class CrowdblendError(Exception):
    """The root: catching it catches everything crowdblend raises on purpose.

    Parameters:
        message: What is wrong. A text without a remedy ends with it: its last sentence becomes the remedy.
        remedy: What to do.
        where: The section and key, the argument, the column or the option that it is about.
        code: Which error it is; a code never changes its meaning.
    """

    exit_code: ClassVar[int] = 2
    usual_code: ClassVar[str] = "error"

    def __init__(
        self, message: str = "", *, remedy: str | None = None, where: str | None = None, code: str | None = None
    ) -> None:
        if remedy is None:
            message, remedy = _split(message)
        super().__init__(message)
        self.message = message
        self.remedy = remedy
        self.where = where
        self.code = code or self.usual_code

    def __str__(self) -> str:
        return f"{self.message} {self.remedy}".strip()

    def to_dict(self) -> dict[str, str | None]:
        """Return the error as `--json` prints it."""
        return {"code": self.code, "where": self.where, "message": self.message, "remedy": self.remedy or None}


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
    """The machine lacks something: room on a disk, memory, a permission, a package."""

    usual_code = "unavailable"


class Refused(CrowdblendError):
    """The request was understood, and the answer is no."""

    exit_code = 1
    usual_code = "refused"


class Infeasible(Refused):
    """No value of the free parameter reaches the target."""

    usual_code = "infeasible"


class DoesNotCompose(Refused):
    """These guarantees may not be given about the same people together."""

    usual_code = "does-not-compose"


class NotProved(Refused):
    """The number could not be bounded rigorously, so it is not stated."""

    usual_code = "not-proved"


class DoesNotVerify(Refused):
    """The certificate does not follow from its leaves."""

    usual_code = "does-not-verify"
