"""The memory that the arrays of one source may take together, beside the database."""

from __future__ import annotations

from crowdblend.sources.engines.refusals import out_of_memory


class ArrayMemory:
    """A limit in bytes, and what is held of it; without a limit, everything fits."""

    def __init__(self, limit: int | None = None) -> None:
        self.limit, self.held = limit, 0

    def check(self, size: int) -> None:
        """Refuse what does not fit beside what is held."""
        if self.limit is not None and self.held + size > self.limit:
            raise out_of_memory()

    def at_most(self, size: int, share: int) -> int:
        """Return a size in bytes, or the limit divided by `share` where that is less."""
        return size if self.limit is None else min(size, self.limit // share)


class HeldMemory:
    """The bytes that one array holds, given back when the array is gone."""

    def __init__(self, memory: ArrayMemory) -> None:
        self._memory, self._size = memory, 0

    def resize(self, size: int) -> None:
        """Hold this many bytes from now on; refuse more than there are."""
        self._memory.check(size - self._size)
        self._memory.held += size - self._size
        self._size = size

    def __del__(self) -> None:
        self._memory.held -= self._size
