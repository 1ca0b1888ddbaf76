"""Everything crowdblend can refuse, as one tree.

    CrowdblendError
    ├── InvalidInput      wrong use: a parameter, a file, an option        exit code 2
    │   └── NotApplicable     a theorem's own condition is not met
    └── Refused           it was understood and the answer is no           exit code 1
        ├── Infeasible        no value reaches the target
        ├── DoesNotCompose    promises that may not be made together
        ├── NotProved         a bound could not be computed rigorously
        └── DoesNotVerify     a certificate that does not re-derive

Every message is one sentence that says what must hold, what was given and what to do. Parameters may be
shown; records, counts and suppressed numbers never.
"""


class CrowdblendError(Exception):
    """The root: catching it catches everything crowdblend raises on purpose."""

    exit_code = 2


class InvalidInput(CrowdblendError):
    """The call, the file or the option is wrong."""


class NotApplicable(InvalidInput):
    """A theorem was asked about a case that its own conditions exclude."""


class Refused(CrowdblendError):
    """The request was understood, and the answer is no."""

    exit_code = 1


class Infeasible(Refused):
    """No value of the free parameter reaches the target."""


class DoesNotCompose(Refused):
    """These promises may not be made about the same people together."""


class NotProved(Refused):
    """The number could not be bounded rigorously, so it is not stated."""


class DoesNotVerify(Refused):
    """The certificate does not follow from its leaves."""
