"""The ledger as Python users open it: by its name alone, made by the first release that needs it."""

from __future__ import annotations

import os
import warnings
from typing import TYPE_CHECKING, Final

from crowdblend import ledger as books
from crowdblend.errors import InvalidInput
from crowdblend.ledger.location import locate

if TYPE_CHECKING:
    from crowdblend.ledger.store import Store


class UsersOwn:
    """The default of `ledger`: the user's own, or the one that CROWDBLEND_LEDGER names."""

    def __repr__(self) -> str:
        return "the user's own"


USERS_OWN: Final = UsersOwn()


class Ledger(books.Ledger):
    """The ledger at a path or URL; without one, that of CROWDBLEND_LEDGER, else the user's own.

    `limit`, `describe` and `overlap` state what holds for a population; `budget` and `total` say what was spent.

    The first release makes it, with a warning, since a mistyped name would be a second ledger. Looking into a
    missing one is refused; only the user's own is taken to be empty.
    """

    def __init__(self, where: str | os.PathLike[str] | None = None) -> None:
        super().__init__(locate(where), None)
        if self._is_there:
            self._store = books.Ledger.open(where, make=False)._store

    @property
    def _is_there(self) -> bool:
        return self.location.path is None or os.path.lexists(self.location.path)

    def _opened(self) -> Store:
        if self._store is None:
            new = not self._is_there
            if new:
                warnings.warn(f"No ledger at {self.location.words()}; creating a new one.", stacklevel=2)
            where = self.location.path if self.location.named else None
            self._store = (books.Ledger.create(where) if new and where else books.Ledger.open(where))._store
        return super()._opened()

    def check_limit(self, spending: books.Spending) -> None:
        """Refuse a release that would exceed a limit; a ledger that the release will make has none."""
        if self._store is not None or self._is_there:
            super().check_limit(spending)

    def _look(self) -> None:
        """Open the ledger to look into it; refuse one that was named and is missing."""
        if self._store is None and self.location.named and not self._is_there:
            raise InvalidInput(
                f"there is no ledger at {self.location.words()}.",
                remedy="Correct its name; the first release makes a new one.",
                where="ledger",
                code="ledger.missing",
            )
        if self._store is None and self._is_there:
            self._opened()


def opened(ledger: books.Ledger | str | os.PathLike[str] | UsersOwn | None) -> books.Ledger | None:
    """The ledger that a release is recorded in; None only where None was written out."""
    if ledger is None or isinstance(ledger, books.Ledger):
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
