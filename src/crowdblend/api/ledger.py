"""The ledger that a release of a Python user is recorded in."""

from __future__ import annotations

import os
from typing import Final

from crowdblend.errors import InvalidInput
from crowdblend.ledger import Ledger


class UsersOwn:
    """The default of `ledger`: the user's own, or the one that CROWDBLEND_LEDGER names."""

    def __repr__(self) -> str:
        return "the user's own"


USERS_OWN: Final = UsersOwn()


def opened(ledger: Ledger | str | os.PathLike[str] | UsersOwn | None) -> Ledger | None:
    """Return the ledger that a release is recorded in; None only where None was written out."""
    if ledger is None or isinstance(ledger, Ledger):
        return ledger
    if isinstance(ledger, UsersOwn):
        return Ledger()
    if isinstance(ledger, str | os.PathLike):
        return Ledger(ledger)
    raise InvalidInput(
        f"ledger takes a Ledger, a path or a URL, got {type(ledger).__name__}.",
        remedy="Leave it out for your own ledger; None records nothing.",
        where="ledger",
        code="ledger.type",
    )
