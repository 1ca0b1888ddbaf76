"""How far a release is, for whoever watches."""

from collections.abc import Callable

# Called with the name of a phase and the rows seen so far.
Progress = Callable[[str, int], None]


def no_progress(_phase: str, _rows: int) -> None:
    """Progress callback that does nothing."""
